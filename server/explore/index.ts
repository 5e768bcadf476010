import type { Request, RequestHandler, Response } from 'express';
import { accessOf, revoked } from '../auth/middleware.ts';
import { redaction } from '../auth/redaction-header.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { Answers } from '../clickhouse/index.ts';
import { type FreshnessDeps, freshness, visibleTo } from '../endpoints/freshness.ts';
import { searchOf } from '../endpoints/parameters.ts';
import { AppError } from '../errors.ts';
import { encodeRows, formatOf, MEDIA_TYPES } from '../formats/index.ts';
import { redact } from '../formats/redact.ts';
import { encode } from '../formats/value.ts';
import { disconnected } from '../http/disconnect.ts';
import { GET, optional, type Parameter, type Route } from '../http/route.ts';
import { EngineError, type Store } from '../store/index.ts';
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
  signal: AbortSignal,
) => Promise<void>;

/** Questions about one source, or several, that need no saved query: their newest entries, when they came, all of them, those that come. */
export function exploreRoutes(deps: ExploreDeps): Route[] {
  const { store, answers } = deps;
  const engine = answers ? clickhouseEntries(answers) : storeEntries(store);
  const tail = createTail(engine, deps.isDraining);
  let exports = 0;
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
    handler: untilRevoked(answer, deps.tokens),
  });

  const asked = async (
    request: Request<{ source: string }>,
    response: Response,
    parameters: readonly Parameter[],
  ) => {
    const filters = await filtersOf(request, response, parameters, store, engine);
    // All of them have the values of the request.
    return {
      filters,
      values: filters[0]?.values ?? {},
      sources: filters.map(({ source }) => source),
    };
  };

  const entries: Answerer = async (request, response, signal) => {
    const { filters, values, sources } = await asked(request, response, EXPLORE.entries);
    const format = formatOf(searchOf(request.url), request);
    const limit = within(LIMIT.name, values.limit, 1000);
    const rows = await newestEntries(filters, limit, engine, signal);
    const options = { redact: redactOf(request), asStored: true };
    response.set({
      ...visibleTo(accessOf(response), await freshness(sources, deps)),
      'Tailpond-Truncated': String(rows.truncated),
      'Cache-Control': 'private, no-cache',
      'Content-Type': MEDIA_TYPES[format],
    });
    response.send(await encodeRows(format, rows, options, store));
  };

  const histogramOf: Answerer = async (request, response, signal) => {
    const { filters, values, sources } = await asked(request, response, EXPLORE.histogram);
    const most = within(BUCKETS.name, values.buckets, 500);
    const graded = values.by === 'severity';
    const { buckets, stepSeconds } = await histogram(filters, { most, graded }, engine, signal);
    response.set(visibleTo(accessOf(response), await freshness(sources, deps)));
    response
      .set('Cache-Control', 'private, no-cache')
      .json({ result: buckets, step_seconds: stepSeconds });
  };

  const projectsOf: Answerer = async (request, response, signal) => {
    const { filters } = await asked(request, response, EXPLORE.projects);
    const result = encode(await projects(filters, engine, signal), redactOf(request));
    response.set('Cache-Control', 'private, no-cache').type('json').send(`{"result":${result}}`);
  };

  const facetOf: Answerer = async (request, response, signal) => {
    const { filters, values } = await asked(request, response, EXPLORE.facets);
    const limit = within(VALUES.name, values.limit, 100);
    const question = { field: values.field ?? '', limit };
    const result = encode(await facet(filters, question, engine, signal), redactOf(request));
    response.set('Cache-Control', 'private, no-cache').type('json').send(`{"result":${result}}`);
  };

  const tailOf: Answerer = async (request, response, signal) => {
    const { filters } = await asked(request, response, EXPLORE.tail);
    const after = request.get('Last-Event-ID') ?? '';
    const { project } = accessOf(response);
    const question = { filters, redact: redactOf(request), after, pinned: project !== null };
    await tail.send(question, response, signal);
  };

  const exportOf: Answerer = async (request, response, signal) => {
    const { filters, sources } = await asked(request, response, EXPLORE.export);
    const [filter, another] = filters;
    if (!filter || another) {
      const detail = `An export has one source, got ${sources.length}: export each by itself.`;
      throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'source', detail }] });
    }
    const question = {
      filter,
      format: formatOf(searchOf(request.url), request),
      redact: redactOf(request),
    };
    if (exports >= EXPORTS)
      throw new AppError('OVERLOADED', { detail: `${EXPORTS} exports are sent already.` });
    exports++;
    try {
      await sendExport(question, response, engine, signal);
    } finally {
      exports--;
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

/** Answers until the client leaves or its token ends. */
function untilRevoked(
  answer: Answerer,
  tokens: Pick<Tokens, 'holds'>,
): RequestHandler<{ source: string }> {
  return async function answerQuestion(request, response) {
    const signal = AbortSignal.any([disconnected(response), revoked(tokens, response)]);
    try {
      await answer(request, response, signal);
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
