import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { faultCase, LONG } from './case.ts';
import { idle } from './setup.ts';
import { ACCEPTED } from './sql/accepted.ts';
import { withHarness } from './sql/harness.ts';

/** Seconds of work, that an interrupt ends. */
const SLOW =
  'select count(*) as n from edge_logs a, edge_logs b, edge_logs c, edge_logs d, edge_logs e, edge_logs f, edge_logs g, edge_logs h, edge_logs i where concat(a.id, b.id, c.id, d.id, e.id, f.id, g.id, h.id, i.id) is null';
const ABORTS = LONG ? 300 : 48;
/** After how many ms a client leaves. */
const LEAVES = [0, 1, 5, 50];

/**
 * These may leave something behind on the connection that they run on, or are read on. Two of them are refused: all others that are stand
 * among the attacks, and the engine never runs one.
 */
const MARKS: readonly string[] = [
  'set variable x = 1',
  'begin',
  'select id from edge_logs where 1 / 0 = 1',
  SLOW,
  'select a.id, b.id as c, d.metadata as e from edge_logs a, edge_logs b, edge_logs c, edge_logs d',
];

describe("callers' SQL: from one query to the next", () => {
  faultCase(
    'S08',
    `${ABORTS} clients leave; nothing goes on, and nobody else is interrupted`,
    () =>
      withHarness(
        0,
        { env: { TAILPOND_QUERY_TIMEOUT: '30s', TAILPOND_LOG_LEVEL: 'info' } },
        async (harness) => {
          const quick = { sql: 'select count(*) as n from edge_logs', way: 'json' } as const;
          const right = (await harness.ask(quick)).text;
          expect(JSON.parse(right).result).to.deep.equal([{ n: 12 }]);
          const faults: string[] = [];
          for (let n = 0; n < ABORTS; n++) {
            const leaving = new AbortController();
            const left = harness
              .ask({ sql: SLOW, way: n % 2 ? 'get' : 'json', signal: leaving.signal })
              .catch(() => null);
            await delay(LEAVES[n % LEAVES.length]);
            leaving.abort();
            const answer = await harness.ask(quick);
            if (answer.text !== right) faults.push(`after ${n}: ${answer.text.slice(0, 300)}`);
            await left;
          }
          expect(faults.join('\n')).to.equal('');
          // A query that nobody waits for any more would take a core.
          await idle(harness.service);
        },
      ),
    { timeoutMs: 60_000 + ABORTS * 1000 },
  );

  faultCase(
    'S12',
    'a query leaves nothing behind for the next one on its connection',
    () =>
      withHarness(
        0,
        { env: { TAILPOND_QUERY_TIMEOUT: '3s', TAILPOND_LOG_LEVEL: 'info' } },
        async (harness) => {
          const fixed = ACCEPTED.filter((sql) => /order by|array_agg/.test(sql));
          const answers = () =>
            Promise.all(fixed.map(async (sql) => (await harness.ask({ sql, way: 'json' })).text));
          const before = await answers();
          for (const sql of MARKS) {
            const marks = await Promise.all(
              [0, 1, 2].map(() => harness.ask({ sql, dialect: 'duckdb', way: 'json' })),
            );
            for (const { status, text } of marks)
              expect(status, `${sql}: ${text.slice(0, 300)}`).to.be.oneOf([200, 400, 504]);
            expect(await answers(), sql).to.deep.equal(before);
            const names = await harness.ask({
              sql: 'select a from x',
              dialect: 'duckdb',
              way: 'json',
            });
            expect(names.code, names.text).to.equal('SQL_INVALID');
          }
        },
      ),
    { timeoutMs: 300_000 },
  );
});
