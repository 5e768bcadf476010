import { once } from 'node:events';
import { expect } from 'chai';
import { type Served, spawnService, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';
import { METADATA, QUESTIONS } from '../unit/caller-sql/record-shapes.ts';

const LOGS = '/api/endpoints/query/logs.all';
/** A run that is settled has so many rows, where there are so many. */
const RUN = 30_720;
/** More than are filled at once, which are 8192. */
const ROWS = 9000;
const MEMBERS = {
  pgbouncer_logs: [
    'path',
    'n',
    'request.path',
    'request.n',
    'request.headers.n',
    'headers.path',
    'headers.n',
  ],
};
/** A line's metadata is an object or an array. */
const SHAPES = METADATA.filter((metadata) => typeof metadata === 'object' && metadata !== null);
const COPIES = Math.ceil(ROWS / SHAPES.length);
const STORED = COPIES * SHAPES.length;

/** Writes every shape of metadata, some times; the entry's id names the shape and the copy. */
async function store({ write, lines }: Served): Promise<void> {
  for (let copy = 0; copy < COPIES; copy++)
    write(
      'pgbouncer_logs/a.ndjson',
      SHAPES.map((metadata, i) => {
        const at = new Date(Date.UTC(2026, 10, 1, 0, (i * 7919) % 1440)).toISOString();
        const project = copy === 0 ? 'p' : `p${copy % 7}`;
        return `${JSON.stringify({ id: `${i}-${copy}`, timestamp: at, project, event_message: 'm', metadata })}\n`;
      }).join(''),
    );
  await lines(STORED, 'pgbouncer_logs');
}

async function ask({ http }: Served, sql: string): Promise<Record<string, unknown>[]> {
  const { body, status } = await http
    .get(LOGS)
    .query({ project: 'p', sql: sql.replaceAll('from logs', 'from pgbouncer_logs') })
    .set('X-API-KEY', TOKEN);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.result;
}

describe('members of metadata that have columns', () => {
  it(`give the same answers as metadata itself, whatever its shape ${SLOW}`, () =>
    withFolder((data) =>
      withApp(
        data,
        async (served) => {
          await store(served);
          const answers = async () => {
            const found: Record<string, string[]> = {};
            for (const [name, { sql }] of Object.entries(QUESTIONS))
              found[name] = (await ask(served, sql)).map((row) => JSON.stringify(row)).sort();
            return found;
          };
          const before = await answers();
          let filled = 0;
          for (let rows = 1; rows > 0; filled += rows)
            rows = await served.store.settling.fill('pgbouncer_logs', 1);
          expect(filled).to.equal(STORED);
          const between = await answers();
          for (const name of Object.keys(QUESTIONS))
            expect(between[name], name).to.deep.equal(before[name]);
          const settled = await served.store.settling.settle('pgbouncer_logs', 1);
          expect(settled).to.deep.equal({ source: 'pgbouncer_logs', rows: STORED, sorted: true });
          expect(await served.store.settling.settle('pgbouncer_logs', 1)).to.equal(null);
          const after = await answers();
          for (const name of Object.keys(QUESTIONS))
            expect(after[name], name).to.deep.equal(before[name]);
        },
        { members: MEMBERS },
      ),
    ));

  it(`lead to the newest rows, as reading the texts does ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = seeded(7);
        const line = (i: number) => {
          const status = i % 9000 === 17 ? 418 : random() < 0.03 ? 500 : 200;
          const timestamp = new Date(Date.UTC(2026, 10, 1) + random() * 86_400_000).toISOString();
          const metadata = { request: { search: `?n=${i}` }, response: { status_code: status } };
          const project = random() < 0.5 ? 'p' : 'q';
          return `${JSON.stringify({ id: String(i), timestamp, project, event_message: 'm', metadata })}\n`;
        };
        const lines = Array.from({ length: RUN + 5000 }, (_, i) => line(i));
        served.write('edge_logs/a.ndjson', lines.join(''));
        await served.lines(lines.length);
        const compare = async (state: string) => {
          for (const status of ['= 200', '= 500', '= 418', '= 599', 'is null', '> 0']) {
            const list = (more: string) =>
              ask(
                served,
                `select id, t.timestamp, event_message, request.search, response.status_code from edge_logs t
                  cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
                  where response.status_code ${status} ${more} order by t.timestamp desc limit 100`,
              );
            const wide = await list("and event_message = 'm'");
            expect(await list(''), `${state}: ${status}`).to.deep.equal(wide);
            expect(wide.length > 0, status).to.equal(!['= 599', 'is null'].includes(status));
          }
        };
        await compare('as stored');
        expect(await served.store.settling.fill('edge_logs', 1)).to.be.above(0);
        await compare('some filled');
        expect((await served.store.settling.settle('edge_logs'))?.rows).to.be.above(20_000);
        await compare('settled');
      }),
    ));

  it(`are not needed for request.search where the URL ends with it, and the answers stay the same ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const base = 'https://a.example/b';
        const requests = [
          { search: '?a=1', url: `${base}?a=1` },
          { search: '?a=1&b=?', url: `${base}?a=1&b=?` },
          { search: '?é=\u0001"\\\u{1f600}', url: `${base}?é=\u0001"\\\u{1f600}` },
          { search: 'a=1', url: `${base}?a=1` },
          { search: '', url: base },
          { search: null, url: base },
          { url: base },
          { search: '?a=1' },
          { url: `${base}?a=1` },
          { search: null, url: `${base}?null` },
          { search: 'null', url: `${base}?null` },
          { search: '?a=2', url: `${base}?a=1` },
          { search: '?', url: `${base}?` },
          { search: 7, url: `${base}?7` },
          { search: ['?a=1'], url: `${base}?a=1` },
          { search: { a: 1 }, url: `${base}?a=1` },
          { search: true },
        ];
        const shapes = requests.flatMap((request) => [
          { request },
          { request: [request] },
          [{ request: [request] }],
          { request: [request, { search: '?second', url: `${base}?second` }] },
          [{ request: [request] }, { request: [{ search: '?other', url: `${base}?other` }] }],
        ]);
        const lines = Array.from({ length: ROWS }, (_, i) => {
          const timestamp = new Date(Date.UTC(2026, 10, 1, 0, (i * 7919) % 1440)).toISOString();
          const project = i < shapes.length ? 'p' : `p${i % 7}`;
          const metadata = shapes[i % shapes.length];
          return `${JSON.stringify({ id: String(i), timestamp, project, event_message: 'm', metadata })}\n`;
        });
        served.write('edge_logs/a.ndjson', lines.join(''));
        await served.lines(lines.length);
        const unnested = (left: '' | 'left') =>
          `from edge_logs t ${left || 'cross'} join unnest(metadata) as m ${left ? 'on true' : ''} ${left || 'cross'} join unnest(m.request) as request ${left ? 'on true' : ''}`;
        const questions = [
          `select id, request.search ${unnested('')}`,
          `select id, request.search, request.method ${unnested('left')}`,
          `select id, request.search, request.url ${unnested('')}`,
          `select id ${unnested('')} where request.search = '?a=1'`,
          `select id ${unnested('')} where request.search like '?%'`,
          `select id ${unnested('')} where request.search is null`,
          `select id ${unnested('')} where cast(request.search as int64) = 7`,
          `select request.search, count(*) as n ${unnested('')} group by request.search`,
          `select id, upper(request.search) as s ${unnested('')} order by request.search limit 1000`,
        ];
        const compare = async (answers: readonly unknown[], state: string) => {
          for (const [n, question] of questions.entries())
            expect(await sorted(question), `${state}: ${question}`).to.deep.equal(answers[n]);
        };
        const sorted = async (question: string) =>
          (await ask(served, question)).map((row) => JSON.stringify(row)).sort();
        const answers: string[][] = [];
        for (const question of questions) answers.push(await sorted(question));
        expect(answers[3]?.length).to.be.above(5);
        expect(await served.store.settling.fill('edge_logs', 1)).to.be.above(0);
        await compare(answers, 'some filled');
        expect((await served.store.settling.settle('edge_logs', 1))?.rows).to.equal(ROWS);
        await compare(answers, 'settled');
      }),
    ));

  it(`are filled again when their list changes, and until then the JSON counts ${SLOW}`, () =>
    withFolder(async (data) => {
      const found: string[][] = [];
      const look = async (served: Served) => {
        const { sql } = QUESTIONS['records within records'] as { sql: string };
        found.push((await ask(served, sql)).map((row) => JSON.stringify(row)).sort());
      };
      await withApp(
        data,
        async (served) => {
          await store(served);
          await served.store.settling.settle('pgbouncer_logs', 1);
          await look(served);
        },
        { members: MEMBERS },
      );
      for (const pgbouncer_logs of [
        ['path', 'n'],
        ['n', 'request.n', 'request.path'],
      ])
        await withApp(
          data,
          async (served) => {
            await look(served);
            const settled = await served.store.settling.settle('pgbouncer_logs', 1);
            expect(settled?.rows).to.equal(STORED);
            await look(served);
          },
          { members: { pgbouncer_logs } },
        );
      for (const rows of found) expect(rows).to.deep.equal(found[0]);
    }));

  it(`wait for the next start when a stop interrupts what fills them ${SLOW}`, () =>
    withFolder(async (data) => {
      let before: unknown[] = [];
      await withApp(
        data,
        async (served) => {
          await store(served);
          before = await served.rows('pgbouncer_logs');
          const run = served.store.settling.settle('pgbouncer_logs', 1).catch(String);
          served.store.settling.stop();
          expect(await run).to.match(/stopping/);
        },
        { members: MEMBERS },
      );
      await withApp(
        data,
        async (served) => {
          expect((await served.store.settling.settle('pgbouncer_logs', 1))?.rows).to.equal(STORED);
          expect(await served.rows('pgbouncer_logs')).to.deep.equal(before);
        },
        { members: MEMBERS },
      );
    }));

  it('cannot be of a record and of something within it, and the start says so', () =>
    withFolder(async (data) => {
      const env = { TAILPOND_COLUMNS: 'edge_logs=request.method.name' };
      const { child, errors } = spawnService(data, { env });
      expect((await once(child, 'close'))[0]).to.equal(78);
      expect(errors.join('\n')).to.match(/TAILPOND_COLUMNS: edge_logs .*"request.method"/);
    }));
});
