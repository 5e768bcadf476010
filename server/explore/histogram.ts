import type { Deadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { fieldOf } from '../search/condition.ts';
import { SEVERITIES } from '../search/fields.ts';
import { fieldPath } from '../search/query.ts';
import type { Plain, RowColumn } from '../store/index.ts';
import { between, type EntryEngine, type Filter } from './engine.ts';
import { unlessInvalid } from './filter.ts';
import { summed } from './several.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Lengths of a bucket, in seconds, that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 7, 30, 90, 365].map((n) => n * DAY),
];

export interface Bucket {
  readonly timestamp: string;
  readonly entries: number;
  /** Where it was asked for: the severity that all of these have. */
  readonly severity?: string | null;
}

export interface Histogram {
  /** The buckets that have entries: when each begins, ISO 8601 in UTC, and how many it has. */
  readonly buckets: readonly Bucket[];
  readonly stepSeconds: number;
}

const BUCKETS: readonly RowColumn[] = [
  { name: 'bucket', kind: 'plain', type: 'TIMESTAMP' },
  { name: 'entries', kind: 'plain', type: 'BIGINT' },
];
const GRADED_BUCKETS: readonly RowColumn[] = [
  ...BUCKETS,
  { name: 'grade', kind: 'plain', type: 'VARCHAR' },
];
/** The severities, and none. */
const GRADES = SEVERITIES.length + 1;

/**
 * How many entries came when, in at most `most` buckets and one that is cut off at each end; `graded`: those of each severity apart. Throws
 * `PARAMETER_INVALID`.
 */
export async function histogram(
  filters: readonly Filter[],
  { most, graded }: { readonly most: number; readonly graded: boolean },
  engine: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): Promise<Histogram> {
  const { from: begin, to: end } = filters[0]?.values ?? {};
  const seconds = (Date.parse(end ?? '') - Date.parse(begin ?? '')) / 1000;
  if (!(seconds > 0)) {
    const detail = 'Expected "to" to be later than "from".';
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'to', detail }] });
  }
  const stepSeconds =
    STEPS.find((step) => seconds / step <= most) ?? Math.ceil(seconds / most / DAY) * DAY;
  const all: Bucket[] = [];
  for (const filter of filters)
    all.push(...(await bucketsOf(filter, { most, graded, stepSeconds }, engine, deadline)));
  return { buckets: filters.length === 1 ? all : together(all), stepSeconds };
}

async function bucketsOf(
  { relation, where, values }: Filter,
  { most, graded, stepSeconds }: Readonly<{ most: number; graded: boolean; stepSeconds: number }>,
  { words, ask }: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): Promise<Bucket[]> {
  const { rows } = await ask(
    `select ${words.bucket} as bucket, count(*) as entries${graded ? ', severity as grade' : ''}
      from ${relation.from()}
      where ${where} and ${between(words)}
      group by bucket${graded ? ', grade' : ''}
      order by bucket${graded ? ', grade' : ''}`,
    graded ? GRADED_BUCKETS : BUCKETS,
    { ...values, step_us: String(BigInt(stepSeconds) * 1_000_000n) },
    { maxRows: (most + 2) * (graded ? GRADES : 1), deadline },
  );
  return rows.map(([timestamp, entries, severity = null]) => ({
    timestamp: String(timestamp),
    entries: Number(entries),
    ...(graded ? { severity: severity === null ? null : String(severity) } : {}),
  }));
}

/** The buckets of several sources as those of one. */
function together(buckets: readonly Bucket[]): Bucket[] {
  const sums = new Map<string, Bucket>();
  for (const bucket of buckets) {
    const key = `${bucket.timestamp} ${bucket.severity}`;
    sums.set(key, { ...bucket, entries: bucket.entries + (sums.get(key)?.entries ?? 0) });
  }
  // A bucket begins with a whole second, so that the texts are in the order of the times.
  return [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bucket]) => bucket);
}

const MOST = 100;
const COUNTS: readonly RowColumn[] = [
  { name: 'value', kind: 'plain', type: 'VARCHAR' },
  { name: 'entries', kind: 'plain', type: 'BIGINT' },
];

/** The projects that have most entries, and how many they have. */
export async function projects(
  filters: readonly Filter[],
  engine: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): Promise<Plain[]> {
  const counts = await counted(filters, () => 'project', MOST, engine, deadline);
  return counts.slice(0, MOST).map(([project, entries]) => ({ project, entries }));
}

/** So many values of each of several sources are counted: a value that is beyond them in a source may miss its entries there. */
const OF_EACH = 1000;

/** The values of a field that most entries have, as text, and how many have them. Throws `PARAMETER_INVALID`. */
export async function facet(
  filters: readonly Filter[],
  { field, limit }: { readonly field: string; readonly limit: number },
  engine: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): Promise<Plain[]> {
  const path = unlessInvalid('field', () => fieldPath(field));
  const most = filters.length === 1 ? limit : OF_EACH;
  const valueIn = ({ source, relation }: Filter) =>
    unlessInvalid('field', () => fieldOf(path, source, relation.search));
  const counts = await counted(filters, valueIn, most, engine, deadline);
  return counts.slice(0, limit).map(([value, entries]) => ({ value, entries }));
}

/** The values that most entries have, `most` of each source, and how many have them in all of the sources. */
async function counted(
  filters: readonly Filter[],
  valueIn: (filter: Filter) => string,
  most: number,
  { words, ask }: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): Promise<[Plain, number][]> {
  const counts: [Plain, number][] = [];
  for (const filter of filters) {
    const { where, values } = filter;
    const value = valueIn(filter);
    const { rows } = await ask(
      `select value, count(*) as entries
        from (
          select ${value} as value
          from ${filter.relation.from()}
          where ${where} and ${between(words)}
        ) as fields
        where value is not null
        group by value
        order by entries desc, value
        limit ${most}`,
      COUNTS,
      values,
      { maxRows: most, deadline },
    );
    for (const [value = null, entries] of rows) counts.push([value, Number(entries)]);
  }
  return summed(counts);
}
