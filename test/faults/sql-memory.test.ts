import { randomBytes } from 'node:crypto';
import { DuckDBConnection } from '@duckdb/node-api';
import { expect } from 'chai';
import { eventually, type Ingesting, withFolder, withIngest } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';

const OUT_OF_MEMORY = 'Out of Memory Error: failed to allocate data of size 2.0 KiB';
/** Seconds of work, that an interrupt ends. */
const SLOW =
  'select count(*) from range(100000) a, range(100000) b, range(100000) c where a.range + b.range = c.range';
const MEMORY = 200e6;
/** Fewer rows fill it. */
const ROWS_MEMORY = 110e6;
/** Seconds of work over rows that are held in more than half of that. */
const LARGE = `with a as materialized (select i, md5(i::varchar) || md5((i + 1)::varchar) as x from range(1300000) t(i))
  select count(*) from a, a b where a.x < b.x`;
const INSERT = /^insert into auth_logs/;

/** SQL of callers can take the engine's memory at any statement of ingest: here the engine says so at chosen ones. */
describe("callers' SQL: memory that ingest lacks", () => {
  faultCase('S06c', 'a ROLLBACK that lacks memory, too, is made before the next statement', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const failing = failures({ insert: 1, rollback: 2 });
        try {
          ingesting.write('auth_logs/a.ndjson', newExpectedLines().line('auth_logs'));
          expect((await ingesting.lines(1, 'auth_logs')).rows).to.equal(1);
          expect(failing.left).to.deep.equal({ insert: 0, rollback: 0 });
        } finally {
          failing.end();
        }
      }),
    ),
  );

  faultCase('S06d', 'SQL of callers ends, and none begins before the lines are tried again', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const failing = failures({ insert: 1, rollback: 0 });
        try {
          const first = query(ingesting, SLOW);
          ingesting.write('auth_logs/a.ndjson', newExpectedLines().line('auth_logs'));
          expect(await first).to.equal('QUERY_TOO_LARGE');
          // The first try has ended this one, and the next is yet to come.
          const next = query(ingesting, 'select 1').then((got) => failing.events.push(got));
          await next;
          expect(failing.events).to.deep.equal(['insert', 'insert', 'answered']);
          expect((await ingesting.lines(1, 'auth_logs')).rows).to.equal(1);
        } finally {
          failing.end();
        }
      }),
    ),
  );

  faultCase('S06e', 'lines that lack memory without SQL of callers do not hold it up', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const failing = failures({ insert: Number.POSITIVE_INFINITY, rollback: 0 });
        try {
          ingesting.write('auth_logs/a.ndjson', newExpectedLines().line('auth_logs'));
          // A query that runs at the moment of the first failure may be ended for it; the next is answered.
          for (let n = 0; n < 5; n++)
            await eventually(async () =>
              expect(await query(ingesting, 'select 1')).to.equal('answered'),
            );
        } finally {
          failing.end();
        }
        expect((await ingesting.lines(1, 'auth_logs')).rows).to.equal(1);
      }),
    ),
  );

  faultCase('S06f', 'a checkpoint is not made beside SQL of callers that has the memory', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const { store } = ingesting;
          const large = query(ingesting, LARGE);
          await eventually(async () => expect(await takenBytes(ingesting)).to.be.above(MEMORY / 2));
          const { checkpointed } = store.commits();
          ingesting.write('auth_logs/a.ndjson', newExpectedLines().line('auth_logs'));
          expect(await large).to.equal('QUERY_TOO_LARGE');
          await eventually(() => expect(store.commits().checkpointed).to.be.above(checkpointed));
          expect(await query(ingesting, 'select 1')).to.equal('answered');
          expect((await ingesting.lines(1, 'auth_logs')).rows).to.equal(1);
        },
        { memory: MEMORY },
      ),
    ),
  );

  faultCase('S06g', 'rows that fill the memory end no SQL of callers for a checkpoint', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const { store } = ingesting;
          const lines = Array.from({ length: 35_000 }, () => {
            const event_message = randomBytes(1500).toString('base64');
            return `${JSON.stringify({ timestamp: '2026-08-21T12:00:00Z', project: 'p', event_message, metadata: {} })}\n`;
          });
          ingesting.write('edge_logs/a.ndjson', lines.join(''));
          await ingesting.lines(lines.length);
          await eventually(async () => {
            await query(ingesting, 'select max(event_message) from edge_logs');
            expect(await takenBytes(ingesting)).to.be.above(ROWS_MEMORY / 2);
          });
          const ending = new AbortController();
          let answer: string | null = null;
          const slow = query(ingesting, SLOW, ending.signal).then((got) => {
            answer = got;
          });
          const { committed } = store.commits();
          ingesting.write('auth_logs/a.ndjson', newExpectedLines().line('auth_logs'));
          await eventually(() => expect(store.commits().checkpointed).to.be.above(committed));
          expect(answer).to.equal(null);
          ending.abort(new Error('ended'));
          await slow;
        },
        { memory: ROWS_MEMORY },
      ),
    ),
  );

  faultCase('S06j', 'SQL that ends for memory which settling had a part of is run once more', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const { store } = ingesting;
        const expected = newExpectedLines();
        const append = async (rows: number) => {
          ingesting.write('auth_logs/a.ndjson', expected.line('auth_logs'));
          expect((await ingesting.lines(rows, 'auth_logs')).rows).to.equal(rows);
        };
        await append(1);
        const failing = failures({ insert: 1, rollback: 0 });
        const ending = new AbortController();
        const known: string[] = [];
        try {
          const slow = query(ingesting, SLOW, ending.signal).then(() => known.push('query'));
          expect((await store.settling.settle('auth_logs', 1))?.rows).to.equal(1);
          // Ends the query, which begins anew.
          await append(2);
          expect(failing.events).to.deep.equal(['insert', 'insert']);
          await eventually(() => expect(store.callerPool.stats().running).to.equal(1));
          const settled = store.settling.settle('auth_logs', 1).then(() => known.push('settled'));
          await append(3);
          expect(known).to.deep.equal([]);
          ending.abort(new Error('ended'));
          await Promise.all([slow, settled]);
          expect(known).to.deep.equal(['query', 'settled']);
        } finally {
          failing.end();
        }
      }),
    ),
  );
});

async function takenBytes({ store }: Ingesting): Promise<number> {
  const sql = 'select sum(memory_usage_bytes) from duckdb_memory()';
  const { rows } = await store.query(sql, {}, { maxRows: 1 });
  return Number(rows[0]?.[0]);
}

function query({ store }: Ingesting, sql: string, signal?: AbortSignal): Promise<string> {
  return store.callerPool.query(sql, {}, { maxRows: 1, ...(signal ? { signal } : {}) }).then(
    () => 'answered',
    (error) => error.code ?? String(error),
  );
}

/** Makes statements of ingest fail as often as `left` says, as they do for want of memory. */
function failures(left: { insert: number; rollback: number }) {
  const { run } = DuckDBConnection.prototype;
  const events: string[] = [];
  DuckDBConnection.prototype.run = async function (sql, ...more) {
    if (INSERT.test(sql)) events.push('insert');
    if (INSERT.test(sql) && left.insert > 0) {
      left.insert--;
      // Fails while it runs, so that the engine aborts the transaction.
      await run.call(this, "select error('x')").catch(() => {});
      throw new Error(OUT_OF_MEMORY);
    }
    if (sql === 'rollback' && left.rollback > 0) {
      left.rollback--;
      throw new Error(OUT_OF_MEMORY);
    }
    return run.call(this, sql, ...more);
  };
  const end = () => {
    DuckDBConnection.prototype.run = run;
  };
  return { left, events, end };
}
