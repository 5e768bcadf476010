import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { inspectFile } from '../../server/store/index.ts';
import { spawnService, withFolder, withStore } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { drop, dropLines, endsWhole } from './lines.ts';
import { OLDER, unpackOlder } from './older-store.ts';

const NEWEST = readdirSync(join(ROOT, 'sql', 'schema')).length;
const COPIES = LONG ? 17 : 2;
const KILLS = 3;
/** So long it takes to open the engine, a little more until the first step is committed. */
const OPENING_MS = 50;
/** So often the steps, their commits and their checkpoints, change the files of the database. */
const CHANGES = 7 * (NEWEST - OLDER);

describe('a store of an older version', () => {
  faultCase(
    'D20b',
    `${COPIES * KILLS} times while a filled one is brought to this version`,
    () =>
      withFolder(async (data) => {
        const random = seeded(21);
        const expectedLines = newExpectedLines();
        unpackOlder(data, expectedLines);
        const versions: number[] = [];
        for (let copy = 0; copy < COPIES; copy++) {
          rmSync(join(data, 'store'), { recursive: true, force: true });
          const older = join(data, copy % 2 === 0 ? 'stopped' : 'killed');
          cpSync(older, join(data, 'store'), { recursive: true });
          for (let kill = 0; kill < KILLS; kill++) {
            // No file changes within the first transaction.
            if (kill === 0) await killIn(data, 'tmp', 1, random() * OPENING_MS);
            else await killIn(data, 'tailpond.duckdb', 1 + Math.floor(random() * CHANGES));
            const version = await versionOf(data);
            if (version !== null) versions.push(version);
          }
          dropLines(data, expectedLines, 50);
          for (const line of [`no object of copy ${copy}`, 'y'.repeat(5000 + copy)]) {
            expectedLines.bad(line);
            drop(data, 'edge_logs/a.ndjson', `${line}\n`);
          }
          await endsWhole(data, expectedLines);
          await withStore(data, async (store) => {
            const { schema, faults } = await store.inspect(new AbortController().signal);
            expect({ schema, faults }).to.deep.equal({ schema: NEWEST, faults: [] });
          });
        }
        expect(versions, 'kills before the upgrade and after it').to.include.members([
          OLDER,
          NEWEST,
        ]);
      }),
    { timeoutMs: 300_000 },
  );
});

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

/**
 * Returns the schema version of a store that nobody has open; the store is left as it is. Returns null where the kill cut off a commit, which
 * the next start removes.
 */
async function versionOf(data: string): Promise<number | null> {
  const database = join(data, 'store', 'tailpond.duckdb');
  const scratch = join(data, 'scratch');
  try {
    return (await inspectFile(database, { memory: 400e6, scratch })).schema;
  } catch (error) {
    if (/cut off before it was confirmed/.test(String(error))) return null;
    throw error;
  }
}
