import type { Service } from './helpers.ts';

/** Lines of edge_logs, and search queries with the ids of those that they find. */
export const LINES = [
  {
    id: 'a',
    event_message: 'GET /rest/v1/todos',
    metadata: {
      request: {
        method: 'GET',
        path: '/rest/v1/todos',
        url: 'https://a.example/rest/v1/todos?n=1',
      },
      response: { status_code: 200 },
    },
  },
  {
    id: 'b',
    event_message: 'POST /rpc/pay checkout failed',
    metadata: [
      {
        request: [{ method: 'POST', path: '/rpc/pay' }],
        response: [{ status_code: 503 }],
        user: [{ id: 42 }],
      },
    ],
  },
  {
    id: 'c',
    event_message: 'POST /rpc/pay',
    metadata: {
      request: { method: 'POST', path: '/rpc/pay' },
      response: { status_code: 404 },
      user: { id: '42', name: 'Ann "A"' },
    },
  },
  { id: 'd', event_message: 'no metadata, but checkouts' },
  {
    id: 'e',
    event_message: 'checkout_id 7',
    metadata: { level: 'error', took: 1.5, 'log.level': 'x', none: null, ok: true },
  },
  {
    id: 'f',
    event_message: 'ümlaut 漢字 500',
    project: 'other',
    metadata: { level: 'warning', took: '20' },
  },
  {
    id: 'g',
    event_message: 'café 日本error発生',
    metadata: { stack: 'TypeError: boom\n    at foo\nat bar\tthere C:\\new', num: 1.5e10 },
  },
].map((line, i) => ({ timestamp: `2026-11-20T10:00:0${i}Z`, ...line }));

export const QUERIES: readonly (readonly [query: string, ids: string])[] = [
  ['', 'abcdefg'],
  ['checkout', 'b'],
  ['CHECKOUT', 'b'],
  ['checkout*', 'bde'],
  ['*heck*', 'bde'],
  ['checkout AND 500', ''],
  ['checkout OR 500', 'bf'],
  ['checkout 503', 'b'],
  ['"checkout failed"', 'b'],
  ['-checkout*', 'acfg'],
  ['status:>=500', 'b'],
  ['status:[400 TO 503]', 'bc'],
  ['status:{404 TO *]', 'b'],
  ['status:404', 'c'],
  ['status:5xx', 'b'],
  ['status:4*', 'c'],
  ['status:*', 'abc'],
  ['-status:*', 'defg'],
  ['-status:200', 'bcdefg'],
  ['path:/rpc/*', 'bc'],
  ['path:/rpc/pay status:>=500', 'b'],
  ['path:"/rpc/*"', ''],
  ['method:POST', 'bc'],
  ['method:(GET OR PUT)', 'a'],
  ['request.method:GET', 'a'],
  ['url:*', 'a'],
  ['url:https://a.example/*n=1', 'a'],
  ['metadata.request.method:GET', 'a'],
  ['metadata.user.id:42', 'bc'],
  ['user.id:>41', 'bc'],
  ['user.id:>42', ''],
  ['user.name:"Ann \\"A\\""', 'c'],
  ['"Ann \\"A\\""', 'c'],
  ['level:error', 'be'],
  ['level:>=warn', 'bcef'],
  ['severity:<=info', 'a'],
  ['level:warning', 'cf'],
  ['took:>1', 'ef'],
  ['took:<2', 'e'],
  ['metadata."log.level":x', 'e'],
  ['none:*', ''],
  ['ok:true', 'e'],
  ['project:other', 'f'],
  ['id:(a OR c)', 'ac'],
  ['message:checkout', 'b'],
  ['message:GET*', 'a'],
  ['ümlaut', 'f'],
  ['漢字', 'f'],
  ['"漢字 500"', 'f'],
  ['"a.c" OR a?c', ''],
  ['/rest/v1/todos', 'a'],
  ['constructor:x', ''],
  ['caf', ''],
  ['CAFÉ', 'g'],
  ['error', 'eg'],
  ['"at bar"', 'g'],
  ['nat', ''],
  ['there', 'g'],
  ['bar', 'g'],
  ['new', 'g'],
  ['ew', ''],
  ['num:15000000000', 'g'],
  ['num:1.5e10', 'g'],
  ['user.id:42.0', 'bc'],
  ['user.id:042', ''],
  ['took:1.50', 'e'],
  ['took:20.0', 'f'],
  ['source:edge_logs', 'abcdefg'],
  ['source:auth_logs', ''],
];

/** Fields, the entries that are asked for, and how many have each value. */
export const FACETS: readonly (readonly [
  field: string,
  query: string,
  values: readonly string[],
])[] = [
  ['status', '', ['404 1', '200 1', '503 1']],
  ['level', '', ['warn 2', 'error 2', 'info 1']],
  ['request.method', '', ['POST 2', 'GET 1']],
  ['method', 'status:>=400', ['POST 2']],
  ['path', '', ['/rpc/pay 2', '/rest/v1/todos 1']],
  ['url', '', ['https://a.example/rest/v1/todos?n=1 1']],
  ['user.id', '', ['42 2']],
  ['project', '', ['default 6', 'other 1']],
  ['source', '', ['edge_logs 7']],
  ['metadata."log.level"', '', ['x 1']],
  ['nothing', '', []],
];

export async function facetOf(service: Service, field: string, q: string): Promise<string[]> {
  const search = new URLSearchParams({ field, q });
  const { status, body } = await service.get(`/api/facets/edge_logs?${search}`);
  if (status !== 200) throw new Error(`${field}: ${JSON.stringify(body)}`);
  const found = body.result as { value: string; entries: number }[];
  return found.map(({ value, entries }) => `${value} ${entries}`);
}
