import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { tokenFile } from '../faults/http.ts';
import { type Served, withApp, withFolder } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const OWN = 'own';
const HOUR_MS = 3_600_000;
const FUNCTION = 'b6f2c1de-0000-4000-8000-000000000001';

/** Lines of a project, or of none, in every source, with what endpoints count. All projects have the same ones, but for ids. */
function linesOf(project: string | null, now: number): Map<string, string> {
  const lines = [-0.1, -2, -26].map((hours, n) =>
    JSON.stringify({
      id: `${project} ${n}`,
      project,
      timestamp: new Date(now + hours * HOUR_MS).toISOString(),
      event_message: `${['GET', 'POST', 'GET'][n]} | ${n}`,
      metadata: {
        function_id: FUNCTION,
        execution_time_ms: 100 * n,
        level: n === 1 ? 'error' : 'info',
        path: '/token',
        auth_event: { action: 'user_signedup', actor_id: `${project} ${n}` },
        request: {
          method: 'GET',
          path: '/auth/v1/token',
          url: 'https://own.example.com/rest/v1/todos',
        },
        response: { status_code: n === 1 ? 500 : 200 },
      },
    }),
  );
  return new Map(allSources().map((source) => [source, `${lines.join('\n')}\n`]));
}

const STATEMENTS = [
  'select id, event_message from edge_logs order by id',
  'select count(*) as n from auth_logs',
  'select e.id from edge_logs e left join auth_logs a on a.id = e.id order by e.id',
  'select id from edge_logs union all select id from postgres_logs order by id',
  'select id from edge_logs where id in (select id from function_logs) order by id',
  'with f as (select id from storage_logs) select count(*) as n from f cross join edge_logs',
  'select m.level, count(*) as n from function_edge_logs cross join unnest(metadata) as m group by m.level order by 2, 1',
];
const OTEL = [
  'select id from logs order by id',
  "select count() as n from logs where log_attributes['level'] = 'error'",
  'select source, count() as n from logs group by source order by source',
];

/** What a service with these lines answers to a project, by question. */
function answersOf(
  projects: readonly (string | null)[],
  now: number,
): Promise<Map<string, unknown>> {
  return withFolder((data) => {
    const pinned = tokenFile(data).add({ scopes: ['query'], project: OWN });
    return withApp(data, async (served) => {
      for (const [n, project] of projects.entries())
        for (const [source, text] of linesOf(project, now))
          served.write(`${source}/${n}.log`, text);
      for (const source of allSources()) await served.lines(3 * projects.length, source);
      const answers = new Map<string, unknown>();
      for (const path of await questions(served, now))
        for (const token of [null, pinned]) {
          // By its own meaning it is an expression for URLs, which any project's may match.
          if (!token && path.includes('usage.api-counts?')) continue;
          const asked = served.get(path);
          const { status, body } = await (token ? asked.set('X-API-KEY', token) : asked);
          expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200);
          answers.set(`${token ? 'pinned ' : ''}${path}`, shown(body.result ?? body));
        }
      return answers;
    });
  });
}

/** Every question for a project that there is: the endpoints of the list, SQL, and entries. */
async function questions({ get }: Served, now: number): Promise<string[]> {
  const from = new Date(now - 48 * HOUR_MS).toISOString();
  const values = {
    project: OWN,
    function_id: FUNCTION,
    interval: '1day',
    granularity: 'hour',
    iso_timestamp_start: from,
  };
  const { body } = await get('/api/endpoints');
  const endpoints = body.result as { name: string; parameters: { name: string }[] }[];
  const saved = endpoints.map(({ name, parameters }) => {
    const own = Object.entries(values).filter(([key]) =>
      parameters.some((each) => each.name === key),
    );
    return `/api/endpoints/query/${name}?${new URLSearchParams(own)}`;
  });
  const sql = (name: string, statements: readonly string[]) =>
    statements.map(
      (text) => `/api/endpoints/query/${name}?${new URLSearchParams({ project: OWN, sql: text })}`,
    );
  const bounds = `from=${from}&to=${new Date(now).toISOString()}`;
  const entries = ['edge_logs', 'auth_logs,edge_logs'].flatMap((source) => [
    `/api/entries/${source}?project=${OWN}`,
    `/api/entries/${source}?project=${OWN}&q=level:error`,
    `/api/histogram/${source}?project=${OWN}&${bounds}`,
    `/api/facets/${source}?project=${OWN}&field=status`,
    `/api/projects/${source}?project=${OWN}`,
  ]);
  return [
    ...saved,
    ...sql('logs.all', STATEMENTS),
    ...sql('logs.all.otel', OTEL),
    ...entries,
    `/api/export/edge_logs?project=${OWN}`,
  ];
}

/** An answer without what tells when its rows were stored. */
function shown(result: unknown): unknown {
  return JSON.parse(
    JSON.stringify(result, (name, value) => (name === 'ingested_at' ? undefined : value)),
  );
}

describe('what a project is answered', () => {
  it(`is the same whatever others have stored, and lines that name no project ${SLOW}`, async () => {
    const now = Date.now();
    const alone = await answersOf([OWN], now);
    const beside = await answersOf(['other', OWN, null, '*', ''], now);
    expect(alone.size).to.be.above(50);
    for (const [question, answer] of alone)
      expect(beside.get(question), question).to.deep.equal(answer);
    const empty = [...alone].filter(([, answer]) => JSON.stringify(answer) === '[]');
    expect(empty.map(([question]) => question)).to.deep.equal([]);
  });
});
