import { expect } from 'chai';
import { type Random, randomOf } from '../bench/random.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

const ROWS = 2000;
const STATEMENTS = 60;

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

/** A record of a request or a response, of the kinds that are met, and of some that are not. */
function record(values: object, { pick, below }: Random): unknown {
  const kind = below(12);
  if (kind === 0) return [values, values];
  if (kind === 1) return [];
  if (kind === 2) return pick<unknown>([null, 'text', 7, {}, [[values]], [null, values]]);
  return kind < 7 ? [values] : values;
}

function metadataOf(random: Random): unknown {
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
  return below(2) === 0 ? (record(parts, random) ?? {}) : parts;
}

function lines(random: Random): string[] {
  return Array.from({ length: ROWS }, (_, n) => {
    const at = new Date(Date.UTC(2026, 10, 1) + random.below(86_400) * 1000).toISOString();
    const project = random.pick(['p', 'p', 'q']);
    const message = `request ${random.below(50)} of the ${random.pick(['morning', 'afternoon'])}`;
    const metadata = metadataOf(random);
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

describe('answers of settled rows', () => {
  it('are those of rows as they were stored, to random statements over odd records', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(11);
        served.write('edge_logs/a.ndjson', lines(random).join(''));
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
});
