import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually, type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';

/** Files in one folder, and the `n`-th rotation of its log. Gives the log that is written to from then on. */
type Rotate = (at: (name: string) => string, n: number) => string;

const gzip = (from: string, to: string) => {
  writeFileSync(to, gzipSync(readFileSync(from)));
  unlinkSync(from);
};

/** Rotations by scripts, and by programs without a tape. The first log of all is `app.log`. */
const ROTATORS: Record<string, Rotate> = {
  'a script that copies and truncates': (at, n) => {
    copyFileSync(at('app.log'), at(`backup of ${n}.json`));
    writeFileSync(at('app.log'), '');
    return at('app.log');
  },
  'Elasticsearch, whose packed logs have another name': (at, n) => {
    gzip(at('app.log'), at(`a-2026-11-20-${n}.json.gz`));
    return at('app.log');
  },
  "nginx's script, which moves into a folder of the day": (at, n) => {
    mkdirSync(dirname(at(`2026-11-2${n}/app.log`)), { recursive: true });
    copyFileSync(at('app.log'), at(`2026-11-2${n}/app.log`));
    unlinkSync(at('app.log'));
    return at('app.log');
  },
  'a program that packs under a uuid': (at, n) => {
    gzip(at('app.log'), at(`0f8fad5b-d9cb-469f-a165-70867728950${n}.log.gz`));
    return at('app.log');
  },
  'two tools that copy one log, before it is truncated': (at, n) => {
    copyFileSync(at('app.log'), at(`app.log-2026111${n}`));
    copyFileSync(at('app.log'), at(`app.log.2026-11-20T1${n}`));
    truncateSync(at('app.log'));
    return at('app.log');
  },
  'a program that takes a new name each time': (at, n) => at(`app.${n}.log`),
  'a program that moves to a name that is not read': (at, n) => {
    renameSync(at('app.log'), at(`app.log.old${n}`));
    return at('app.log');
  },
};

const SOURCE = 'edge_logs';
const ROTATIONS = 3;

describe('rotators, under whatever names', () => {
  for (const how of ['while it runs', 'while it is stopped'])
    it(`${how}: every line once`, () =>
      withFolder(async (data) => {
        const folders = Object.entries(ROTATORS).map(([name, rotate], n) => ({
          name,
          rotate,
          at: (file: string) => join(data, 'logs', SOURCE, `${n}`, file),
        }));
        const written: string[] = [];
        const logs = folders.map(({ at }) => at('app.log'));
        for (const log of logs) mkdirSync(dirname(log), { recursive: true });
        const write = () => {
          for (const [n, log] of logs.entries())
            for (let i = 0; i < 3; i++) {
              const id = `${n}-${written.length}`;
              written.push(id);
              const timestamp = new Date(Date.UTC(2026, 10, 20) + written.length).toISOString();
              appendFileSync(log, `${JSON.stringify({ timestamp, id, project: 'p' })}\n`);
            }
        };
        const rotate = (round: number) => {
          for (const [n, folder] of folders.entries()) logs[n] = folder.rotate(folder.at, round);
        };
        const settles = async (ingesting: Ingesting) => {
          await eventually(async () => {
            const ids = (await ingesting.rows(SOURCE)).map(({ id }) => String(id));
            const differences = folders.flatMap(({ name }, n) => {
              const own = (all: readonly string[]) =>
                all.filter((id) => id.startsWith(`${n}-`)).sort();
              const [got, wanted] = [own(ids), own(written)];
              return got.join() === wanted.join()
                ? []
                : [`${name}: ${got.length} of ${wanted.length}, ${new Set(got).size} different`];
            });
            expect(differences).to.deep.equal([]);
          }, 30_000);
        };
        write();
        for (let round = 1; round <= ROTATIONS; round++) {
          await withIngest(data, async (ingesting) => {
            await settles(ingesting);
            write();
            if (how === 'while it is stopped') return settles(ingesting);
            await settles(ingesting);
            rotate(round);
            write();
            await settles(ingesting);
          });
          if (how === 'while it runs') continue;
          rotate(round);
          write();
        }
        await withIngest(data, settles);
      })).timeout(300_000);
});
