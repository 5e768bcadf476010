import { countsOf, explore, OF_PROJECT } from './peer-questions.ts';

/** What a question is about. */
export interface About {
  readonly project: string;
  /** The time of all lines, ISO 8601; the end is excluded. */
  readonly from: string;
  readonly to: string;
  /** A word of eight hex digits that one line has, in its message and in its metadata. */
  readonly word: string;
  /** A part of such a word of another line. */
  readonly part: string;
}

/** The same question to both, over HTTP, and what their answers must have in common. */
export interface VictoriaQuestion {
  readonly name: string;
  /** Whether tailpond's answers are cached: `path` gives another question each time then. */
  readonly isCached?: boolean;
  readonly path: (about: About) => string;
  readonly victorialogs: (about: About) => string;
  readonly own: (body: string) => Row[];
  readonly theirs: (body: string) => Row[];
}

type Row = readonly (string | number)[];
type Entry = Readonly<Record<string, string | number>>;

const STATUS = 'metadata.response.status_code';
const PATH = 'metadata.request.path';
const DAY_MS = 24 * 3_600_000;

const logsql = (query: string, parameters: Record<string, string>) =>
  `/select/logsql/query?${new URLSearchParams({ query, ...parameters })}`;
/** The newest 100 entries. */
const newest = (query: string, { from, to }: About) =>
  logsql(query, { start: from, end: to, limit: '100' });
const hits = (query: string, { from, to }: About) =>
  `/select/logsql/hits?${new URLSearchParams({ query, start: from, end: to, step: '1h' })}`;
/** As many buckets as make each an hour long. */
const histogram = (q: string, { from, to }: About) =>
  explore('histogram', { q, from, to, buckets: '200' });

const resultOf = (body: string) => (JSON.parse(body) as { result: Entry[] }).result;
const linesOf = (body: string) =>
  body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
/** A moment as ms since the epoch, from tailpond's microseconds or from a text. */
const moment = (value: string | number | undefined) =>
  typeof value === 'number' ? value / 1000 : Date.parse(value ?? '');
const cells = (entries: Entry[], ...names: readonly string[]): Row[] =>
  entries.map((entry) => names.map((name) => String(entry[name])));
const ids = (entries: Entry[]) => cells(entries, 'id').sort();
const ownIds = (body: string) => ids(resultOf(body));
const theirIds = (body: string) => ids(linesOf(body));
const ownHours = (body: string): Row[] =>
  resultOf(body).map(({ timestamp, entries }) => [moment(timestamp), Number(entries)]);
const theirHours = (body: string): Row[] => {
  type Series = { timestamps: string[]; values: number[] };
  const { hits: found } = JSON.parse(body) as { hits: Series[] };
  return found
    .flatMap(({ timestamps, values }) =>
      timestamps.map((timestamp, n): Row => [moment(timestamp), values[n] ?? 0]),
    )
    .filter(([, entries]) => entries !== 0);
};
/** Days that lie in the window as a whole: both ends of it move while it is asked for. */
const wholeDays = (rows: Row[]) =>
  rows.filter(([day]) => {
    const begins = Number(day);
    return begins > Date.now() - 7 * DAY_MS && begins + DAY_MS < Date.now();
  });

const AREAS = ['rest', 'storage', 'auth', 'realtime'];

const CHART: VictoriaQuestion = {
  name: 'chart by hour and status',
  path: OF_PROJECT.chart,
  victorialogs: ({ project, from, to }) =>
    logsql(
      `{project="${project}"} | stats by (_time:1h, ${STATUS}) count() n | sort by (_time desc, ${STATUS}) limit 1000`,
      { start: from, end: to },
    ),
  own: (body) => resultOf(body).map(({ h, s, n }) => [moment(h), String(s), String(n)]),
  theirs: (body) =>
    linesOf(body).map(({ _time, [STATUS]: s, n }) => [moment(_time), String(s), String(n)]),
};
const FAILURES: VictoriaQuestion = {
  name: 'newest 100 with status 5xx',
  path: OF_PROJECT.failures,
  victorialogs: (about) =>
    newest(
      `{project="${about.project}"} ${STATUS}:>=500 | fields _time, id, _msg, metadata.request.method, ${PATH}, metadata.request.search, ${STATUS}`,
      about,
    ),
  own: ownIds,
  theirs: theirIds,
};
const TOP_PATHS: VictoriaQuestion = {
  name: 'top paths with p99',
  path: OF_PROJECT.topPaths,
  victorialogs: ({ project, from, to }) =>
    logsql(
      `{project="${project}"} | stats by (${PATH}) count() n, quantile(0.99, metadata.response.origin_time) q | sort by (n desc, ${PATH}) limit 10`,
      { start: from, end: to },
    ),
  // Both estimate the quantile.
  own: (body) => cells(resultOf(body), 'p', 'n'),
  theirs: (body) => cells(linesOf(body), PATH, 'n'),
};
const NEWEST: VictoriaQuestion = {
  name: 'newest 100',
  path: OF_PROJECT.newest,
  victorialogs: (about) => newest(`{project="${about.project}"}`, about),
  own: ownIds,
  theirs: theirIds,
};

/** Of one project among others, and of all of them. */
export const OF_MANY: readonly VictoriaQuestion[] = [
  CHART,
  FAILURES,
  TOP_PATHS,
  NEWEST,
  {
    name: 'counts of 7 days by area (`usage.api-counts`, not cached)',
    isCached: true,
    // Without its first letters a project is still no other's.
    path: ({ project }) => countsOf((nth) => project.slice(nth)),
    victorialogs: ({ project }) => {
      const counts = AREAS.map((area) => `count() if (${PATH}:"/${area}") ${area}`).join(', ');
      return logsql(
        `_time:7d {project="${project}"} | stats by (_time:1d) ${counts} | sort by (_time)`,
        {},
      );
    },
    own: (body) =>
      wholeDays(
        resultOf(body).map((day) => [
          moment(day.timestamp),
          ...AREAS.map((area) => Number(day[`total_${area}_requests`])),
        ]),
      ),
    theirs: (body) =>
      wholeDays(
        linesOf(body).map((day) => [moment(day._time), ...AREAS.map((area) => Number(day[area]))]),
      ),
  },
  {
    name: 'a part of a word that one line has, all projects',
    path: ({ part }) => explore('entries', { search: part }),
    victorialogs: (about) => newest(`*:*${about.part}*`, about),
    own: ownIds,
    theirs: theirIds,
  },
  {
    name: 'a word that one line has, all projects',
    path: ({ word }) => explore('entries', { q: word }),
    victorialogs: (about) => newest(`*:${about.word}`, about),
    own: ownIds,
    theirs: theirIds,
  },
  {
    name: 'a frequent word by hour, all projects',
    path: (about) => histogram('todos', about),
    victorialogs: (about) => hits('*:todos', about),
    own: ownHours,
    theirs: theirHours,
  },
  {
    name: 'the same, in messages',
    path: (about) => histogram('message:todos', about),
    victorialogs: (about) => hits('todos', about),
    own: ownHours,
    theirs: theirHours,
  },
  {
    name: '`status:500 request.method:POST` by hour, all projects',
    path: (about) => histogram('status:500 request.method:POST', about),
    victorialogs: (about) => hits(`${STATUS}:=500 metadata.request.method:=POST`, about),
    own: ownHours,
    theirs: theirHours,
  },
];

/** Of a project that has all rows. */
export const OF_ONE: readonly VictoriaQuestion[] = [CHART, TOP_PATHS, FAILURES, NEWEST];
