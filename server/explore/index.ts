import type { Request, RequestHandler, Response } from 'express';
import { accessOf, revoked } from '../auth/middleware.ts';
import { redaction } from '../auth/redaction-header.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { Answers } from '../clickhouse/index.ts';
import { type Deadline, deadlineIn } from '../deadline.ts';
import { type FreshnessDeps, freshness, visibleTo } from '../endpoints/freshness.ts';
import { searchOf } from '../endpoints/parameters.ts';
import { AppError } from '../errors.ts';
import { encodeRows, formatOf, MEDIA_TYPES } from '../formats/index.ts';
import { redact } from '../formats/redact.ts';
import { encode } from '../formats/value.ts';
import { disconnected } from '../http/disconnect.ts';
import { GET, optional, type Parameter, type Route } from '../http/route.ts';
import { EngineError, type Store } from '../store/index.ts';
import type { Waits } from '../waits.ts';
import { clickhouseEntries } from './clickhouse-entries.ts';
import { sendExport } from './export.ts';
import { FROM, filtersOf, PROJECT, QUERY, SEARCH, TO } from './filter.ts';
import { facet, histogram, projects } from './histogram.ts';
import { newestEntries } from './several.ts';
import { storeEntries } from './store-entries.ts';
import { createTail } from './tail.ts';

export interface ExploreDeps extends FreshnessDeps {
  readonly store: Store;
  /** What asks where rows are forwarded to; null: they stay. */
  readonly answers: Answers | null;
  readonly tokens: Pick<Tokens, 'holds'>;
  /** Bounds each question as a whole, each page of an export and each look of a tail. */
  readonly queryTimeoutMs: number;
  readonly waits: Pick<Waits, 'answerRead' | 'heartbeat'>;
  /** Whether the service is stopping. */
  readonly isDraining: () => boolean;
}

const whole = (name: string, most: number, preset: number, description: string): Parameter => ({
  name,
  type: 'integer',
  required: false,
  preset: String(preset),
  description: `${description}, 1 to ${most}`,
});
const LIMIT = whole('limit', 1000, 100, 'how many entries');
const BUCKETS = whole('buckets', 500, 60, 'into how many parts the time is divided at most');
const BY: Parameter = optional('by', ['severity'], 'count each severity by itself');
const VALUES = whole('limit', 100, 10, 'how many values');
const FIELD: Parameter = {
  ...optional(
    'field',
    'string',
    'the field whose values are counted, such as status or request.method',
  ),
  required: true,
};
const required = (parameter: Parameter): Parameter => ({ ...parameter, required: true });

/** At a time; each has some pages in memory. */
const EXPORTS = 4;
/** Exports of one project, so that another one need not wait for them. */
const OF_PROJECT = 3;

/** What each of the questions below `/api` takes, each with a source behind it. */
const EXPLORE = {
  entries: [PROJECT, SEARCH, QUERY, FROM, TO, LIMIT],
  histogram: [PROJECT, SEARCH, QUERY, required(FROM), required(TO), BUCKETS, BY],
  facets: [PROJECT, SEARCH, QUERY, FROM, TO, FIELD, VALUES],
  projects: [PROJECT],
  tail: [PROJECT, SEARCH, QUERY],
  export: [PROJECT, SEARCH, QUERY, FROM, TO],
} as const satisfies Record<string, readonly Parameter[]>;

type Answerer = (
  request: Request<{ source: string }>,
  response: Response,
  deadline: Deadline,
) => Promise<void>;

/** Questions about one source, or several, that need no saved query: their newest entries, when they came, all of them, those that come. */
export function exploreRoutes(deps: ExploreDeps): Route[] {
  const { store, answers } = deps;
  const engine = answers ? clickhouseEntries(answers) : storeEntries(store);
  const tail = createTail({ engine, waits: deps.waits, isDraining: deps.isDraining });
  /** Whose entries are exported. */
  const exporting: (string | null)[] = [];
  const route = (
    name: keyof typeof EXPLORE,
    said: Pick<Route, 'summary' | 'format' | 'answer'>,
    answer: Answerer,
  ): Route => ({
    ...said,
    path: `/api/${name}/:source`,
    methods: GET,
    scope: 'query',
    parameters: EXPLORE[name],
    handler: untilRevoked(answer, deps),
  });

  const asked = async (
    request: Request<{ source: string }>,
    response: Response,
    parameters: readonly Parameter[],
    deadline: Deadline,
  ) => {
    const filters = await filtersOf(request, response, parameters, store, engine, deadline);
    // All of them have the values of the request.
    return {
      filters,
      values: filters[0]?.values ?? {},
      sources: filters.map(({ source }) => source),
    };
  };

  const entries: Answerer = async (request, response, deadline) => {
    const { filters, values, sources } = await asked(request, response, EXPLORE.entries, deadline);
    const format = formatOf(searchOf(request.url), request);
    const limit = within(LIMIT.name, values.limit, 1000);
    const rows = await newestEntries(filters, limit, engine, deadline);
    const hint = rows.rows.length === 0 ? (filters[0]?.hint ?? null) : null;
    const options = { redact: redactOf(request), asStored: true, hint };
    response.set({
      ...visibleTo(accessOf(response), await freshness(sources, deps, deadline)),
      'Tailpond-Truncated': String(rows.truncated),
      'Cache-Control': 'private, no-cache',
      'Content-Type': MEDIA_TYPES[format],
    });
    const body = await encodeRows(format, rows, options, store, deadline);
    response.set(deadline.spent.headers()).send(body);
  };

  const histogramOf: Answerer = async (request, response, deadline) => {
    const { filters, values, sources } = await asked(
      request,
      response,
      EXPLORE.histogram,
      deadline,
    );
    const most = within(BUCKETS.name, values.buckets, 500);
    const graded = values.by === 'severity';
    const { buckets, stepSeconds } = await histogram(filters, { most, graded }, engine, deadline);
    response.set(visibleTo(accessOf(response), await freshness(sources, deps, deadline)));
    response
      .set({ 'Cache-Control': 'private, no-cache', ...deadline.spent.headers() })
      .json({ result: buckets, step_seconds: stepSeconds });
  };

  const projectsOf: Answerer = async (request, response, deadline) => {
    const { filters } = await asked(request, response, EXPLORE.projects, deadline);
    const result = encode(await projects(filters, engine, deadline), redactOf(request));
    response
      .set({ 'Cache-Control': 'private, no-cache', ...deadline.spent.headers() })
      .type('json')
      .send(`{"result":${result}}`);
  };

  const facetOf: Answerer = async (request, response, deadline) => {
    const { filters, values } = await asked(request, response, EXPLORE.facets, deadline);
    const limit = within(VALUES.name, values.limit, 100);
    const question = { field: values.field ?? '', limit };
    const result = encode(await facet(filters, question, engine, deadline), redactOf(request));
    response
      .set({ 'Cache-Control': 'private, no-cache', ...deadline.spent.headers() })
      .type('json')
      .send(`{"result":${result}}`);
  };

  const tailOf: Answerer = async (request, response, deadline) => {
    const { filters } = await asked(request, response, EXPLORE.tail, deadline);
    const after = request.get('Last-Event-ID') ?? '';
    const { project } = accessOf(response);
    const question = { filters, redact: redactOf(request), after, pinned: project !== null };
    await tail.send(question, response, deadline);
  };

  const exportOf: Answerer = async (request, response, deadline) => {
    const { filters, values, sources } = await asked(request, response, EXPLORE.export, deadline);
    const [filter, another] = filters;
    if (!filter || another) {
      const detail = `An export has one source, got ${sources.length}: export each by itself.`;
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'source', detail }] });
    }
    const question = {
      filter,
      format: formatOf(searchOf(request.url), request),
      redact: redactOf(request),
      readMs: deps.waits.answerRead,
    };
    const { project = null } = values;
    const ofProject = exporting.filter((each) => each === project).length;
    if (exporting.length >= EXPORTS || ofProject >= OF_PROJECT) {
      const detail = `Expected at most ${EXPORTS} exports at a time, ${OF_PROJECT} of one project, got another: try again when one has ended.`;
      throw new AppError('OVERLOADED', { detail });
    }
    exporting.push(project);
    try {
      await sendExport(question, response, engine, deadline);
    } finally {
      exporting.splice(exporting.indexOf(project), 1);
    }
  };

  return [
    route(
      'entries',
      { summary: 'The newest entries of a source, or of several', format: true, answer: 'Entries' },
      entries,
    ),
    route('histogram', { summary: 'How many entries came when', answer: 'Histogram' }, histogramOf),
    route(
      'projects',
      { summary: 'The projects that have most entries', answer: 'Projects' },
      projectsOf,
    ),
    route(
      'facets',
      { summary: 'The values of a field that most entries have', answer: 'Facets' },
      facetOf,
    ),
    route(
      'tail',
      { summary: 'Entries as they are stored, as server-sent events', answer: 'text/event-stream' },
      tailOf,
    ),
    route(
      'export',
      {
        summary: 'Any number of entries, oldest first, with their count at the end',
        format: true,
        answer: 'Export',
      },
      exportOf,
    ),
  ];
}

/** Answers until the client leaves, its token ends or its time is over. */
function untilRevoked(
  answer: Answerer,
  { tokens, queryTimeoutMs }: Pick<ExploreDeps, 'tokens' | 'queryTimeoutMs'>,
): RequestHandler<{ source: string }> {
  return async function answerQuestion(request, response) {
    const signal = AbortSignal.any([disconnected(response), revoked(tokens, response)]);
    try {
      await answer(request, response, deadlineIn(queryTimeoutMs, signal));
    } catch (error) {
      // The client has left, or its token was taken away amid an answer, which then must not look whole.
      if (response.destroyed || (signal.aborted && response.headersSent))
        return void response.destroy();
      if (signal.reason instanceof AppError) throw signal.reason;
      throw error instanceof EngineError && error.kind === 'memory'
        ? new AppError('QUERY_TOO_LARGE', { cause: error })
        : error;
    }
  };
}

function redactOf(request: Request): ((text: string) => string) | undefined {
  return redaction(request) ? redact : undefined;
}

function within(parameter: string, value: string | null | undefined, most: number): number {
  const number = Number(value);
  if (number >= 1 && number <= most) return number;
  const detail = `Expected "${parameter}" to be a whole number from 1 to ${most}, got ${value}.`;
  throw new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail }] });
}
