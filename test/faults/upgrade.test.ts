import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readdirSync, rmSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/root.ts';
import { inspectFile } from '../../server/store/index.ts';
import { seeded } from '../bench/lines.ts';
import { eventually, spawnService, withFolder, withPond, withStore } from '../helpers.ts';
import { simulatedClock } from '../server/simulated-store.ts';
import { type Books, newBooks } from './books.ts';
import { faultCase, LONG } from './case.ts';
import { drop, dropLines, endsWhole } from './lines.ts';

const NEWEST = readdirSync(join(ROOT, 'sql', 'schema')).length;
const ROWS = 10_000;
const REJECTED = 1000;
const COPIES = LONG ? 17 : 4;
const KILLS = 3;
/** So long it takes to open the engine, a little more until the first step is committed. */
const OPENING_MS = 50;
/** So often a step, its commit and its checkpoint, changes the files of the database. */
const CHANGES = 7;

describe('a store of an older version', () => {
  faultCase(
    'D20b',
    `${COPIES * KILLS} times while a filled one is brought to this version`,
    () =>
      withFolder(async (data) => {
        const random = seeded(21);
        const books = newBooks();
        await makeOlder(data, books);
        const versions: number[] = [];
        for (let copy = 0; copy < COPIES; copy++) {
          rmSync(join(data, 'store'), { recursive: true, force: true });
          const older = join(data, copy % 2 === 0 ? 'stopped' : 'killed');
          cpSync(older, join(data, 'store'), { recursive: true });
          for (let kill = 0; kill < KILLS; kill++) {
            // No file changes within the first transaction.
            if (kill === 0) await killIn(data, 'tmp', 1, random() * OPENING_MS);
            else await killIn(data, 'tailpond.duckdb', 1 + Math.floor(random() * CHANGES));
            versions.push(await versionOf(data));
          }
          dropLines(data, books, 50);
          // This version keeps the second one in pieces.
          for (const line of [`no object of copy ${copy}`, 'y'.repeat(5000 + copy)]) {
            books.bad(line);
            drop(data, 'edge_logs/a.ndjson', `${line}\n`);
          }
          await endsWhole(data, books);
          await withStore(data, async (store) => {
            const { schema, faults } = await store.inspect(new AbortController().signal);
            expect({ schema, faults }).to.deep.equal({ schema: NEWEST, faults: [] });
          });
        }
        const between = versions.filter((version) => version > 1 && version < NEWEST);
        expect(between, 'kills between two steps').to.not.be.empty;
      }),
    { timeoutMs: 300_000 },
  );
});

/**
 * Fills a store of schema version 1 from files. It is left below `data` twice: as `stopped`, and as `killed`, whose rows
 * are in the write-ahead log.
 */
async function makeOlder(data: string, books: Books): Promise<void> {
  const sql = join(data, 'sql');
  cpSync(join(ROOT, 'sql'), sql, { recursive: true });
  const schema = join(sql, 'schema');
  for (const name of readdirSync(schema)) if (!name.startsWith('0001')) rmSync(join(schema, name));
  // As that version rejected lines: each stands whole in its row.
  appendFileSync(
    join(schema, '0001_tables.sql'),
    `insert into rejected
      select 'edge_logs', 'edge_logs/gone.ndjson', n * 6000, octet_length(line), 'it is not a JSON object', line, now()::timestamp
      from (
        select n, ('no object ' || n || repeat('x', n % 10 * 600))::blob as line
        from range(${REJECTED}) numbers(n)
      );
      update ledger set lines = ${REJECTED}, rejected = ${REJECTED} where source = 'edge_logs';`,
  );
  for (let n = 0; n < REJECTED; n++) books.bad(`no object ${n}${'x'.repeat((n % 10) * 600)}`);
  await withPond(
    data,
    async ({ store }) => {
      dropLines(data, books, ROWS);
      dropLines(data, books, ROWS / 10, 'auth_logs');
      await eventually(async () => {
        const counts = 'select (select count(*) from edge_logs), (select count(*) from auth_logs)';
        const { rows } = await store.query(counts, {}, { maxRows: 1 });
        expect(rows[0]?.map(Number)).to.deep.equal([ROWS, ROWS / 10]);
      });
      execFileSync('cp', ['-r', join(data, 'store'), join(data, 'killed')]);
      expect(statSync(join(data, 'killed', 'tailpond.duckdb.wal')).size).to.be.above(1e6);
    },
    // Its time stands still, so that it writes nothing back meanwhile.
    { sql, storeClock: simulatedClock(Date.now()) },
  );
  cpSync(join(data, 'store'), join(data, 'stopped'), { recursive: true });
}

/**
 * Starts the service and kills it so long after the nth change of files of the store whose names begin so, at the latest
 * when the store is open: its socket is made then.
 */
async function killIn(data: string, files: string, nth: number, afterMs = 0): Promise<void> {
  let changes = 0;
  // The engine makes it right before it opens the database.
  rmSync(join(data, 'store', 'tmp'), { recursive: true, force: true });
  const folder = watch(join(data, 'store'));
  try {
    const { child, errors } = spawnService(data);
    const kill = () => child.kill('SIGKILL');
    folder.on('change', (_, name) => {
      if (String(name).startsWith(files) && ++changes === nth) setTimeout(kill, afterMs);
      if (name === 'control.sock') kill();
    });
    await once(child, 'exit');
    expect(child.signalCode, errors.join('\n')).to.equal('SIGKILL');
  } finally {
    folder.close();
  }
}

/** The schema version of a store that nobody has open; the store is left as it is. */
async function versionOf(data: string): Promise<number> {
  const database = join(data, 'store', 'tailpond.duckdb');
  const scratch = join(data, 'scratch');
  return (await inspectFile(database, { memory: 400e6, scratch })).schema;
}
