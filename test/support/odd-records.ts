import type { Random } from './random.ts';

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
      0.000012,
      1e22,
      { a: '/rest/v1/todos-of-today' },
      ['x', 'y'],
    ]),
    method: pick<unknown>(['GET', 'POST', 'get', null]),
    search: `?id=${number}&token=abcdef${number}`,
    ...(record !== odd || below(3) > 0
      ? {
          url: `https://a.example/?id=${number}&token=abcdef${record === odd ? below(40) : number}`,
        }
      : {}),
    ...(below(5) === 0
      ? {
          headers: record(
            { [pick(['user_agent', 'user-agent'])]: pick(['curl/8.1.2', 'node', null]) },
            random,
          ),
        }
      : {}),
  };
  const status = pick<unknown>([200, 200, 404, 500, '500', 200.5, 1e16, null]);
  // Some shippers write keys with dashes.
  const response = {
    [pick(['status_code', 'status_code', 'status-code'])]: status,
    ...(below(20) === 0 ? { 'status-code': 418 } : {}),
  };
  const parts = {
    ...(below(20) === 0 ? {} : { request: record(request, random) }),
    ...(below(20) === 0 ? {} : { response: record(response, random) }),
  };
  return record === odd && below(2) === 0 ? parts : (record(parts, random) ?? {});
}

/** Lines of `edge_logs` for the projects p and q, over one day. `plain`: as loggers nest records. */
export function oddLines(random: Random, count: number, kind: 'odd' | 'plain'): string[] {
  return Array.from({ length: count }, (_, n) => {
    const at = new Date(Date.UTC(2026, 10, 1) + random.below(86_400) * 1000).toISOString();
    const project = random.pick(['p', 'p', 'q']);
    const message = `request ${random.below(50)} of the ${random.pick(['morning', 'afternoon'])}`;
    const metadata = metadataOf(random, kind === 'odd' ? odd : plain(random.below(2) === 0));
    const whole = typeof metadata === 'object' && metadata !== null ? metadata : {};
    return `{"id":"${n}","timestamp":"${at}","project":"${project}","event_message":"${message}","metadata":${written(whole, random)}}\n`;
  });
}

/** What statements over these lines are made of. */
function parts(random: Random) {
  const { pick, below } = random;
  /** How FROM goes on, and what leads to the records: UNNEST of each, or dotted names. */
  const [joins, from] = pick([
    [
      'cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response',
      '',
    ],
    [
      'cross join unnest(metadata) as m left join unnest(m.request) as request on true left join unnest(m.response) as response on true',
      '',
    ],
    [
      'left join unnest(metadata) as m on true cross join unnest(m.response) as response left join unnest(m.request) as request on true',
      '',
    ],
    ['', 'metadata.'],
    ['cross join unnest(metadata) as m', 'm.'],
    ['left join unnest(metadata) as m on true left join unnest(m.response) as r on true', 'm.'],
  ] as const);
  const member = () =>
    from +
    pick([
      'request.path',
      'request.method',
      'request.search',
      'response.status_code',
      'request.headers.user_agent',
    ]);
  const status = `${from}response.status_code`;
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
      () => `${status} ${pick(['=', '<>', '>=', '<'])} ${pick(['200', '404', '500'])}`,
      () => `cast(${status} as int64) between 400 and 499`,
      () =>
        `${status} between ${pick(['200', '404', '-1', '1e16'])} and ${pick(['200.5', '500', '1e17'])}`,
      () => `${status} in (${pick(['200, 500', '200.5', '418, 404, 1e16'])})`,
      () => `${pick(['404', '500', '200.5'])} ${pick(['<=', '<', '>=', '>', '='])} ${status}`,
      () => `(${status} = 404 or ${member()} = '${pick(['GET', 'node', '7', text()])}')`,
      () => `${member()} is ${pick(['', 'not '])}null`,
      () => `regexp_replace(${member()}, r'^/', '') = '${text().slice(1)}'`,
      () => `${member()} in ('${text()}', 'GET', '500')`,
      () =>
        `t.timestamp ${pick(['>', '<=', '=', '<>'])} '2026-11-01T${String(below(24)).padStart(2, '0')}:00:00Z'`,
    ])();
  const where = Array.from({ length: 1 + below(3) }, condition).join(
    pick([' and ', ' and ', ' or ']),
  );
  return { joins, where, condition, a: member(), b: member(), status, path: `${from}request.path` };
}

/** A statement whose answer does not depend on the order that rows stand in. */
export function oddStatement(random: Random): string {
  const { pick, below } = random;
  const { joins, where, condition, a, b } = parts(random);
  return pick([
    `select ${a} as a, ${b} as b, count(*) as n, min(t.id) as least from edge_logs t ${joins} where ${where} group by a, b`,
    `select timestamp_trunc(t.timestamp, hour) as h, countif(${condition()}) as n, count(distinct ${a}) as d from edge_logs t ${joins} where ${where} group by h`,
    `select t.id, t.timestamp, ${a} as a, ${b} as b from edge_logs t ${joins} where ${where} order by t.timestamp desc, t.id, a, b limit ${1 + below(200)}`,
    `select t.id, t.timestamp, ${a} as a from edge_logs t ${joins} where ${where} order by t.id, a limit 500`,
  ]);
}

/** A statement that counts rows, or adds up what is in them, and asks for no row by itself. */
export function oddChart(random: Random): string {
  const { pick, below } = random;
  const { joins, where, condition, a, b, status, path } = parts(random);
  const unit = pick(['minute', 'hour', 'day', 'week', 'month']);
  const number = pick([status, path, `cast(${status} as int64)`]);
  return pick([
    `select timestamp_trunc(t.timestamp, ${unit}) as h, count(*) as n, countif(${condition()}) as some from edge_logs t ${joins} where ${where} group by h order by h`,
    `select timestamp_trunc(t.timestamp, ${unit}) as timestamp, count(case when ${condition()} then 1 end) as n, count(${a}) as a, count(distinct ${b}) as d from edge_logs t ${joins} where ${where} group by timestamp order by timestamp`,
    `select ${a} as a, count(*) as n, sum(case when ${condition()} then 1 else 0 end) as some, avg(${number}) as mean, sum(${number}) as whole from edge_logs t ${joins} where ${where} group by a`,
    `select min(${a}) as least, max(${b}) as most, logical_or(${condition()}) as any, count(*) as n from edge_logs t ${joins} where ${where}`,
    `select ${a} as a, count(*) as n from edge_logs t ${joins} where ${where} group by a having count(*) > ${below(5)} order by n desc, a limit 20`,
    `select count(*) as n, count(event_message) as texts from edge_logs t where ${pick(["regexp_contains(event_message, 'morning')", 'true', "t.id like '1%'"])}`,
    `select timestamp_trunc(t.timestamp, hour) as h, approx_quantiles(${number}, 4) as parts from edge_logs t ${joins} where ${where} group by h`,
    `with some as (select ${a} as a, timestamp_trunc(t.timestamp, ${unit}) as h from edge_logs t ${joins} where ${where}) select a, h, count(*) as n from some group by a, h order by h, a`,
  ]);
}
