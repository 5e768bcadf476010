import { join } from 'node:path';
import { expect } from 'chai';
import { BEYOND_REACH, type Reach, translate } from '../../server/caller-sql/index.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { PARSE } from '../../server/endpoints/caller-sql.ts';
import type { SavedQuery } from '../../server/endpoints/query-file.ts';
import { loadEndpoints } from '../../server/endpoints/registry.ts';
import type { Store } from '../../server/store/index.ts';
import { type Random, randomOf } from '../bench/random.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

const ROWS = 2000;
const STATEMENTS = 60;
/** Rows of any shape, each of a project of its own, and how many questions they are asked. */
const ODD = 150;
const PAIRS = 200;

const PATHS = [
  '/rest/v1/todos-of-today',
  '/auth/v1/token?grant=password',
  '/storage/v1/object/"quoted"',
  '/functions/v1/größe',
  'x',
  '1000000000.0',
];

/** JSON as a shipper may write it: some strings with escapes for characters that need none. */
function written(value: unknown, random: Random): string {
  const text = JSON.stringify(value);
  if (random.below(3) > 0) return text;
  return text.replaceAll('/', '\\/').replaceAll('-of-', '\\u002dof\\u002D');
}

type RecordOf = (values: object, random: Random) => unknown;

/** A record of a request or a response, of the kinds that are met, and of some that are not. */
const odd: RecordOf = (values, { pick, below }) => {
  const kind = below(12);
  if (kind === 0) return [values, values];
  if (kind === 1) return [];
  if (kind === 2) return pick<unknown>([null, 'text', 7, {}, [[values]], [null, values]]);
  return kind < 7 ? [values] : values;
};

/** Records as loggers nest them: all of a row are objects, or each is the only element of an array. */
const plain =
  (isArray: boolean): RecordOf =>
  (values) =>
    isArray ? [values] : values;

function metadataOf(random: Random, record: RecordOf): unknown {
  const { pick, below } = random;
  const number = below(40);
  const request = {
    path: pick<unknown>([
      ...PATHS,
      ...PATHS,
      null,
      7,
      1e9,
      { a: '/rest/v1/todos-of-today' },
      ['x', 'y'],
    ]),
    method: pick<unknown>(['GET', 'POST', 'get', null]),
    search: `?id=${number}&token=abcdef${number}`,
    ...(below(5) === 0
      ? { headers: record({ user_agent: pick(['curl/8.1.2', 'node', null]) }, random) }
      : {}),
  };
  const response = { status_code: pick<unknown>([200, 200, 404, 500, '500', 200.5, null]) };
  const parts = {
    ...(below(20) === 0 ? {} : { request: record(request, random) }),
    ...(below(20) === 0 ? {} : { response: record(response, random) }),
  };
  return record === odd && below(2) === 0 ? parts : (record(parts, random) ?? {});
}

function lines(random: Random, kind: 'odd' | 'plain'): string[] {
  return Array.from({ length: ROWS }, (_, n) => {
    const at = new Date(Date.UTC(2026, 10, 1) + random.below(86_400) * 1000).toISOString();
    const project = random.pick(['p', 'p', 'q']);
    const message = `request ${random.below(50)} of the ${random.pick(['morning', 'afternoon'])}`;
    const metadata = metadataOf(random, kind === 'odd' ? odd : plain(random.below(2) === 0));
    const whole = typeof metadata === 'object' && metadata !== null ? metadata : {};
    return `{"id":"${n}","timestamp":"${at}","project":"${project}","event_message":"${message}","metadata":${written(whole, random)}}\n`;
  });
}

/** A statement whose answer does not depend on the order that rows stand in. */
function statement(random: Random): string {
  const { pick, below } = random;
  const joins = pick([
    'cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response',
    'cross join unnest(metadata) as m left join unnest(m.request) as request on true left join unnest(m.response) as response on true',
    'left join unnest(metadata) as m on true cross join unnest(m.response) as response left join unnest(m.request) as request on true',
  ]);
  const member = () =>
    pick([
      'request.path',
      'request.method',
      'request.search',
      'response.status_code',
      'request.headers.user_agent',
    ]);
  const text = () => {
    const path = pick([...PATHS, 'grant=password', 'todos-of-', `token=abcdef${below(40)}`]);
    return path.replaceAll("'", "''");
  };
  const plain = () => text().replaceAll(/[^a-z0-9/=-]/g, '.');
  const condition = (): string =>
    pick([
      () => `${member()} = '${text()}'`,
      () => `'${text()}' = ${member()}`,
      () => `${member()} like '%${text()}%'`,
      () => `${member()} not like '${text()}%'`,
      () => `regexp_contains(${member()}, r'${plain()}')`,
      () => `regexp_contains(event_message, 'request ${below(50)} of the after')`,
      () => `event_message like '%of the morning'`,
      () => `response.status_code ${pick(['=', '<>', '>=', '<'])} ${pick(['200', '404', '500'])}`,
      () => `cast(response.status_code as int64) between 400 and 499`,
      () => `${member()} is ${pick(['', 'not '])}null`,
      () => `regexp_replace(${member()}, r'^/', '') = '${text().slice(1)}'`,
      () => `${member()} in ('${text()}', 'GET', '500')`,
      () =>
        `t.timestamp ${pick(['>', '<='])} '2026-11-01T${String(below(24)).padStart(2, '0')}:00:00Z'`,
    ])();
  const where = Array.from({ length: 1 + below(3) }, condition).join(
    pick([' and ', ' and ', ' or ']),
  );
  const [a, b] = [member(), member()];
  return pick([
    `select ${a} as a, ${b} as b, count(*) as n, min(t.id) as least from edge_logs t ${joins} where ${where} group by a, b`,
    `select timestamp_trunc(t.timestamp, hour) as h, countif(${condition()}) as n, count(distinct ${a}) as d from edge_logs t ${joins} where ${where} group by h`,
    `select t.id, t.timestamp, ${a} as a, ${b} as b from edge_logs t ${joins} where ${where} order by t.timestamp desc, t.id, a, b limit ${1 + below(200)}`,
    `select t.id, t.timestamp, ${a} as a from edge_logs t ${joins} where ${where} order by t.id, a limit 500`,
  ]);
}

async function ask({ http }: Served, sql: string): Promise<string[]> {
  const { body, status } = await http
    .get('/api/endpoints/query/logs.all')
    .query({ project: 'p', sql })
    .set('X-API-KEY', TOKEN);
  expect(status, `${sql}\n${JSON.stringify(body)}`).to.equal(200);
  return (body.result as unknown[]).map((row) => JSON.stringify(row)).sort();
}

type Views = SavedQuery['views'];

const made = new WeakMap<Store, Promise<Views>>();
/** The views of `logs.all`. */
function viewsOf(store: Store): Promise<Views> {
  const known =
    made.get(store) ??
    loadEndpoints([join(ROOT, 'sql/endpoints')], store).then(
      (endpoints) => endpoints.find('logs.all')?.views ?? new Map(),
    );
  made.set(store, known);
  return known;
}

/** Asks by the statement of one reach; null where it meets a row beyond it. */
async function within(
  store: Store,
  sql: string,
  reach: Reach,
  project = 'p',
): Promise<string[] | null> {
  const parse = async (text: string) =>
    String((await store.query(PARSE, { text }, { maxRows: 1 })).rows[0]?.[0]);
  const maxRows = 1000;
  const views = await viewsOf(store);
  const scope = { dialect: 'bigquery', views, maxRows, reach } as const;
  const translation = await translate(sql, { ...scope, parameters: new Map() }, parse);
  const values = {
    project,
    iso_timestamp_start: null,
    iso_timestamp_end: null,
    newest_from: '1970-01-01',
  };
  try {
    const { rows } = await store.query(translation.sql, values, { maxRows });
    return rows.map((row) => JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? `${v}` : v)));
  } catch (error) {
    if (String(error).includes(BEYOND_REACH)) return null;
    throw error;
  }
}

describe('answers of settled rows', () => {
  it('are those of rows as they were stored, to random statements over odd records', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(11);
        served.write('edge_logs/a.ndjson', lines(random, 'odd').join(''));
        await served.lines(ROWS, 'edge_logs');
        const statements = Array.from({ length: STATEMENTS }, () => statement(random));
        const before: string[][] = [];
        for (const sql of statements) before.push(await ask(served, sql));
        expect(before.filter((rows) => rows.length > 0).length).to.be.above(STATEMENTS / 3);
        const compare = async (state: string) => {
          for (const [i, sql] of statements.entries())
            expect(await ask(served, sql), `${state}: ${sql}`).to.deep.equal(before[i]);
        };
        expect(await served.store.settling.fill('edge_logs', 1)).to.be.above(0);
        await compare('filled');
        const settled = await served.store.settling.settle('edge_logs', 1);
        expect(settled).to.deep.equal({ source: 'edge_logs', rows: ROWS, sorted: true });
        await compare('settled');
      }),
    ));

  it('are the same by the statement of each reach, or it says that a row is beyond it', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const random = randomOf(12);
        served.write('edge_logs/a.ndjson', lines(random, 'plain').join(''));
        await served.lines(ROWS, 'edge_logs');
        const statements = Array.from({ length: STATEMENTS }, () => statement(random));
        const all: (string[] | null)[] = [];
        for (const sql of statements) all.push((await within(store, sql, 'all'))?.sort() ?? null);
        expect(all.filter((rows) => rows && rows.length > 0).length).to.be.above(STATEMENTS / 3);
        /** How many statements found no row beyond their reach. */
        const compare = async (reach: Reach, state: string): Promise<number> => {
          let answered = 0;
          for (const [i, sql] of statements.entries()) {
            const rows = await within(store, sql, reach);
            if (rows) expect(rows.sort(), `${state}, ${reach}: ${sql}`).to.deep.equal(all[i]);
            if (rows) answered++;
          }
          return answered;
        };
        expect(await compare('singles', 'as stored')).to.equal(STATEMENTS);
        expect(await compare('columns', 'as stored')).to.be.below(STATEMENTS);
        await store.settling.fill('edge_logs', 1);
        expect(await compare('columns', 'filled')).to.equal(STATEMENTS);
        expect(await compare('singles', 'filled')).to.equal(STATEMENTS);
      }),
    ));

  it('fail by a statement whose reach a row is beyond, whatever is compared first', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const random = randomOf(13);
        const each = lines(random, 'odd')
          .slice(0, ODD)
          .map((line, n) => line.replace(/"project":"."/, `"project":"p${n}"`));
        served.write('edge_logs/a.ndjson', each.join(''));
        await served.lines(ODD, 'edge_logs');
        const counts = { singles: 0, columns: 0, rows: 0, beyond: 0 };
        const compare = async (state: string) => {
          for (let n = 0; n < PAIRS; n++) {
            const [sql, project] = [statement(random), `p${random.below(ODD)}`];
            const all = (await within(store, sql, 'all', project)) ?? [];
            if (all.length > 0) counts.rows++;
            for (const reach of ['singles', 'columns'] as const) {
              const rows = await within(store, sql, reach, project);
              if (rows)
                expect(rows.sort(), `${state}, ${reach}, ${project}: ${sql}`).to.deep.equal(
                  all.sort(),
                );
              counts[rows ? reach : 'beyond']++;
            }
          }
        };
        await compare('as stored');
        await store.settling.fill('edge_logs', 1);
        await compare('filled');
        // Enough of each kind for the comparison to mean something.
        for (const [kind, count] of Object.entries(counts))
          expect(count, kind).to.be.above(PAIRS / 10);
      }),
    ));

  it('are those of all rows, where rows of another shape come by and by', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(14);
        const statements = Array.from({ length: 20 }, () => statement(random));
        let stored = 0;
        for (const [kind, count] of Object.entries({ plain: 200, odd: 100 } as const)) {
          const some = lines(random, kind as 'plain' | 'odd').slice(stored, stored + count);
          served.write(`edge_logs/${kind}.ndjson`, some.join(''));
          stored += some.length;
          await served.lines(stored, 'edge_logs');
          for (const sql of statements) {
            const all = await within(served.store, sql, 'all');
            expect(await ask(served, sql), `${kind}: ${sql}`).to.have.length(all?.length ?? -1);
          }
        }
      }),
    ));

  it('are whole where a row of another shape comes late in many', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const line = (id: number, request: unknown) =>
          `${JSON.stringify({ id: String(id), timestamp: '2026-11-01T00:00:00Z', project: 'p', event_message: 'm', metadata: { request } })}\n`;
        const all = Array.from({ length: 7000 }, (_, n) =>
          line(n, n === 6998 ? [{ path: 'a' }, { path: 'b' }] : { path: `k${n % 20}` }),
        );
        served.write('edge_logs/a.ndjson', all.join(''));
        await served.lines(all.length, 'edge_logs');
        // So wide that the engine hands rows on before it has seen the last ones.
        const columns = Array.from({ length: 400 }, (_, i) => `s.p as a${i}`).join(', ');
        const from =
          'edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request';
        const sql = `select ${columns} from (select request.path as p from ${from}) as s where s.p in ('k0', 'k1', 'a', 'b')`;
        for (let time = 0; time < 2; time++)
          expect(await ask(served, sql)).to.have.length(350 + 350 + 2);
      }),
    ));

  it('are refused as before where a question has the sentence of such a row in it', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        served.write('edge_logs/a.ndjson', lines(randomOf(15), 'plain').slice(0, 50).join(''));
        await served.lines(50, 'edge_logs');
        const sql = `select id from edge_logs t where regexp_contains(event_message, '(${BEYOND_REACH}')`;
        const { status, body } = await served
          .get('/api/endpoints/query/logs.all')
          .query({ project: 'p', sql });
        expect(status, JSON.stringify(body)).to.equal(400);
        expect(body.code).to.equal('SQL_INVALID');
      }),
    ));
});
