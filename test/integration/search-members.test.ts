import { expect } from 'chai';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

/** Metadata in which the members of `edge_logs` that have columns stand in each way that they may. */
const SHAPES: readonly unknown[] = [
  { request: { method: 'GET' }, response: { status_code: 200 } },
  [{ request: [{ method: 'GET' }], response: [{ status_code: 200 }] }],
  { request: { method: 'POST', headers: { user_agent: 'curl/8' } } },
  { request: { method: 'POST', headers: { 'user-agent': 'curl/8' } } },
  [{ request: [{ method: 'POST', headers: [{ 'user-agent': 'curl/8' }] }] }],
  { request: { headers: { user_agent: 'curl/8', 'user-agent': 'wget' } } },
  { 'request.method': 'GET', response: { status_code: '200' } },
  { 'request.headers': { user_agent: 'curl/8' }, request: { method: null } },
  { request: { 'headers.user_agent': 'curl/8' } },
  [{ request: [{ method: 'GET' }, { method: 'POST' }] }],
  { request: [{ method: 'GET' }], response: { status_code: 200.0 } },
  { request: { method: ['GET', 'POST'] } },
  { request: { method: '["GET"]' } },
  { request: { method: '[1' }, response: { status_code: [500, 503] } },
  { request: { method: { name: 'GET' } } },
  { request: 'GET /x', response: null },
  { request: { method: 'ge"t', cf: { country: 'DE' } } },
  { request: { method: '' }, response: { status_code: 1e3 } },
  {},
  [],
  null,
];

const QUERIES = [
  'method:GET',
  'method:POST',
  'request.method:P*',
  'request.method:*',
  '-method:GET',
  'NOT request.method:*',
  'method:GET OR request.headers.user_agent:curl/8',
  'method:POST request.headers.user_agent:curl*',
  'request.headers.user_agent:wget',
  'request.headers.user-agent:*',
  'response.status_code:200',
  'response.status_code:>=500',
  '-response.status_code:>=500',
  'request.method:"[1"',
  'request.method:/^g.*t$/',
  'request.cf.country:DE',
  // Without such a field, the text is looked for.
  'response.status_code:200 OR response.status_code:503',
  'request.method:nothing',
  'request.search:*',
  'request.method:"ge\\"t"',
];
const FIELDS = ['request.method', 'response.status_code', 'request.headers.user_agent'];

async function get({ http }: Served, path: string, query: Record<string, string>) {
  const { body, status } = await http.get(path).query(query).set('X-API-KEY', TOKEN);
  expect(status, JSON.stringify([query, body])).to.equal(200);
  return body.result as Record<string, unknown>[];
}

async function answers(served: Served) {
  const found: Record<string, unknown> = {};
  const bounds = { from: '2020-01-01T00:00:00Z', to: '2040-01-01T00:00:00Z' };
  for (const q of QUERIES) {
    const entries = await get(served, '/api/entries/edge_logs', { q, limit: '1000' });
    const ids = [...new Set(entries.map(({ id }) => Number(String(id).split('-')[0])))];
    const [bucket] = await get(served, '/api/histogram/edge_logs', { q, ...bounds });
    found[q] = { ids: ids.sort((a, b) => a - b), entries: bucket?.entries ?? 0 };
  }
  for (const field of FIELDS)
    found[field] = await get(served, '/api/facets/edge_logs', { field, q: '-id:none' });
  return found;
}

describe('a search for members', () => {
  it(`has the same answer from columns and from JSON, whatever stands in the metadata ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const times = 100;
        const text = SHAPES.flatMap((metadata, shape) =>
          Array.from({ length: times }, (_, i) =>
            JSON.stringify({
              id: `${shape}-${i}`,
              timestamp: '2026-11-20T10:00:00Z',
              event_message: shape % 2 === 0 ? 'm' : 'request.method:nothing',
              metadata,
            }),
          ),
        );
        served.write('edge_logs/a.log', text.map((line) => `${line}\n`).join(''));
        await served.lines(text.length, 'edge_logs');
        const before = await answers(served);
        const count = async (condition: string) =>
          (
            await store.query(
              `select count(*) from edge_logs where ${condition}`,
              {},
              { maxRows: 1 },
            )
          ).rows[0]?.[0];
        expect(await count('member_state > 0')).to.equal(0n);
        await store.settling.fill('edge_logs', 1);
        expect(await count('"metadata.request.method" is not null')).to.be.above(times as never);
        expect(await answers(served)).to.deep.equal(before);
        await store.settling.settle('edge_logs', 1);
        expect(await answers(served)).to.deep.equal(before);
        const found = (q: string) => (before[q] as { ids: number[] }).ids;
        expect(found('method:GET')).to.deep.equal([0, 1, 6, 9, 10, 11]);
        expect(found('request.headers.user_agent:wget')).to.deep.equal([]);
        expect(found('method:POST request.headers.user_agent:curl*')).to.deep.equal([2, 3, 4]);
      }),
    ));
});
