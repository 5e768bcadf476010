import { join } from 'node:path';
import { expect } from 'chai';
import { BEYOND_REACH, type Reach, translate } from '../../server/caller-sql/index.ts';
import { ROOT } from '../../server/config/package-root.ts';
import type { Views } from '../../server/endpoints/query-file.ts';
import { loadEndpoints } from '../../server/endpoints/registry.ts';
import { LONG } from '../faults/case.ts';
import { type Served, type TestStore, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { oddLines, oddStatement } from '../support/odd-records.ts';
import { parserOf } from '../support/parser.ts';
import { randomOf } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

const ROWS = 2000;
const STATEMENTS = LONG ? 60 : 25;
/** Rows of any shape, each of a project of its own, and how many questions they are asked. */
const ODD = 150;
const PAIRS = LONG ? 200 : 60;

async function ask({ http }: Served, sql: string): Promise<string[]> {
  const { body, status } = await http
    .get('/api/endpoints/query/logs.all')
    .query({ project: 'p', sql })
    .set('X-API-KEY', TOKEN);
  expect(status, `${sql}\n${JSON.stringify(body)}`).to.equal(200);
  return (body.result as unknown[]).map((row) => JSON.stringify(row)).sort();
}

const made = new WeakMap<TestStore, Promise<Views>>();
/** The views of `logs.all`. */
function viewsOf(store: TestStore): Promise<Views> {
  const known =
    made.get(store) ??
    loadEndpoints([join(ROOT, 'sql/endpoints')], store).then(
      (endpoints) => endpoints.find('logs.all')?.views() ?? new Map(),
    );
  made.set(store, known);
  return known;
}

/** Asks by the statement of one reach; null where it meets a row beyond it. */
async function within(
  store: TestStore,
  sql: string,
  reach: Reach,
  project = 'p',
): Promise<string[] | null> {
  const parse = parserOf(store);
  const maxRows = 1000;
  const views = await viewsOf(store);
  const scope = { dialect: 'bigquery', views, maxRows, reach } as const;
  const translation = await translate(sql, { ...scope, parameters: new Map() }, parse);
  const values = {
    project,
    any_project: 'false',
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
  it('have numbers as the same texts, whatever else is asked beside them', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const numbers = ['0.000012', '1e-07', '2.50', '1e16', '9999999999999999.0', '1e+300', '-0'];
        const lines = numbers.flatMap((number, i) => [
          `{"id":"o${i}","timestamp":"2026-11-01T00:00:0${i}Z","project":"p","event_message":"m","metadata":{"response":{"origin_time":${number},"other":${number}}}}\n`,
          `{"id":"a${i}","timestamp":"2026-11-01T00:00:0${i}Z","project":"p","event_message":"m","metadata":[{"response":[{"origin_time":${number},"other":${number}}]}]}\n`,
          `{"id":"s${i}","timestamp":"2026-11-01T00:00:0${i}Z","project":"p","event_message":"m","metadata":[{"response":[{"origin_time":${number},"other":${number}},{}]}]}\n`,
        ]);
        served.write('edge_logs/a.ndjson', lines.join(''));
        await served.lines(lines.length, 'edge_logs');
        const from =
          'from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as r where r.origin_time is not null';
        const texts = async (more: string) => {
          const rows = await ask(
            served,
            `select id, concat(r.origin_time, '') as a, concat(r.other, '') as b ${more} ${from} limit 100`,
          );
          return rows.map((row) => {
            const { id, a, b } = JSON.parse(row);
            return [id, a, b];
          });
        };
        const before = await texts('');
        expect(before).to.have.length(lines.length);
        for (const [id, a, b] of before) {
          expect(b, id).to.equal(a);
          // However its records are nested.
          expect(a, id).to.equal(before.find(([other]) => other === `o${id.slice(1)}`)?.[1]);
        }
        expect(await texts(', r.origin_time as x, r.other as y')).to.deep.equal(before);
        await served.store.settling.settle('edge_logs', 1);
        expect(await texts('')).to.deep.equal(before);
        expect(await texts(', r.origin_time as x, r.other as y')).to.deep.equal(before);
      }),
    ));

  it(`are those of rows as they were stored, to random statements over odd records ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(11);
        served.write('edge_logs/a.ndjson', oddLines(random, ROWS, 'odd').join(''));
        await served.lines(ROWS, 'edge_logs');
        const statements = Array.from({ length: STATEMENTS }, () => oddStatement(random));
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

  it(`are the same by the statement of each reach, or it says that a row is beyond it ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const random = randomOf(12);
        served.write('edge_logs/a.ndjson', oddLines(random, ROWS, 'plain').join(''));
        await served.lines(ROWS, 'edge_logs');
        const statements = Array.from({ length: STATEMENTS }, () => oddStatement(random));
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

  it(`fail by a statement whose reach a row is beyond, whatever is compared first ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const random = randomOf(13);
        const each = oddLines(random, ROWS, 'odd')
          .slice(0, ODD)
          .map((line, n) => line.replace(/"project":"."/, `"project":"p${n}"`));
        served.write('edge_logs/a.ndjson', each.join(''));
        await served.lines(ODD, 'edge_logs');
        const counts = { singles: 0, columns: 0, rows: 0, beyond: 0 };
        const compare = async (state: string) => {
          for (let n = 0; n < PAIRS; n++) {
            const [sql, project] = [oddStatement(random), `p${random.below(ODD)}`];
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

  it(`are those of all rows, where rows of another shape come by and by ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(14);
        const statements = Array.from({ length: 20 }, () => oddStatement(random));
        let stored = 0;
        for (const [kind, count] of Object.entries({ plain: 200, odd: 100 } as const)) {
          const some = oddLines(random, ROWS, kind as 'plain' | 'odd').slice(
            stored,
            stored + count,
          );
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
        served.write(
          'edge_logs/a.ndjson',
          oddLines(randomOf(15), ROWS, 'plain').slice(0, 50).join(''),
        );
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
