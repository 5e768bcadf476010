import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { logNames } from '../../../ingest/files/names.ts';
import {
  eventually,
  type Ingesting,
  withFolder,
  withIngest,
  withService,
} from '../../support/helpers.ts';
import { seeded } from '../../support/random.ts';
import { SLOW } from '../../support/slow.ts';
import { TapePlayer, tapes } from '../../support/tapes.ts';

const SOURCE = 'app_logs';
const SEED = Number(process.env.TAILPOND_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Names that programs give, and that are not those of logs. */
const NAMES = ['current', '@*.[su]'];
const isLog = logNames({ [SOURCE]: NAMES });

/** Each plays in a folder of its own, at its own random pace. */
interface Stage {
  readonly data: string;
  readonly players: readonly TapePlayer[];
  readonly stored: Set<string>;
  readonly random: () => number;
  /** Plays up to so many steps of each tape. */
  play(most: number): void;
  isOver(): boolean;
}

const PARTS = [1, 2, 3, 4, 5];

for (const part of PARTS)
  describe(`what real rotators did to their files, part ${part} of ${PARTS.length} ${SLOW}`, () => {
    it('gives every line once while it is followed', () =>
      withStage(part, (stage) =>
        follow(stage, async (ingesting) => {
          for (; !stage.isOver(); stage.play(10)) await settles(ingesting, stage);
          await settles(ingesting, stage);
        }),
      ));

    it('gives every line once over stops', () =>
      withStage(part, async (stage) => {
        while (!stage.isOver()) {
          stage.play(24);
          await follow(stage, async (ingesting) => {
            await settles(ingesting, stage);
            stage.play(8);
            if (stage.random() < 0.5) await settles(ingesting, stage);
          });
        }
        await follow(stage, (ingesting) => settles(ingesting, stage));
      }));

    it('gives every line once over kill -9', () =>
      withStage(part, async (stage) => {
        const env = { TAILPOND_FILES: NAMES.map((name) => `${SOURCE}=${name}`).join() };
        while (!stage.isOver()) {
          await withService(
            stage.data,
            async (service) => {
              stage.play(16);
              await delay(500 * stage.random());
              stage.play(10);
              await delay(200 * stage.random());
              expect(await service.end('SIGKILL')).to.equal('SIGKILL');
            },
            { env },
          );
          stage.play(8);
          await follow(stage, (ingesting) => settles(ingesting, stage));
        }
      }));
  });

/** Has every third tape on the stage. */
function withStage(part: number, action: (stage: Stage) => Promise<void>): Promise<void> {
  return withFolder(async (data) => {
    const random = seeded(SEED);
    const stored = new Set<string>();
    const players = tapes()
      .filter((_, n) => n % PARTS.length === part - 1)
      .map((name) => new TapePlayer(name, join(data, 'logs', SOURCE, name)));
    try {
      await action({
        data,
        players,
        stored,
        random,
        play(most) {
          for (const player of players) player.play(1 + Math.floor(random() * most), stored);
        },
        isOver: () => players.every(({ isOver }) => isOver),
      });
    } catch (error) {
      throw new Error(`${error}, with TAILPOND_TEST_SEED=${SEED}`);
    } finally {
      for (const player of players) player.close();
    }
  });
}

function follow(stage: Stage, action: (ingesting: Ingesting) => Promise<void>): Promise<void> {
  return withIngest(stage.data, action, { files: { [SOURCE]: NAMES }, waits: { sweep: 200 } });
}

/** Waits until all files have been looked at, and every line that was written is stored once. */
async function settles(ingesting: Ingesting, { data, players, stored }: Stage): Promise<void> {
  // A stop in the midst of a rotation may leave lines in a file that is renamed once more, such as `app.log.tmp`.
  const due = players.map((player) =>
    player.isOver ? player.written : player.standing((path) => isLog(SOURCE, path)),
  );
  const holds = () =>
    eventually(async () => {
      const counts = new Map<string, number>();
      // Not all columns: some lines have 200 kB.
      const { rows } = await ingesting.store.query(
        `select id from ${SOURCE}`,
        {},
        { maxRows: 1e6 },
      );
      for (const [id] of rows) counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
      const wrong = players.flatMap(({ name, written }, n) =>
        [...written]
          .filter((id) => counts.get(id) !== 1 && (counts.has(id) || due[n]?.has(id)))
          .map((id) => `${name}: ${id} is stored ${counts.get(id) ?? 0} times`),
      );
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
      for (const id of counts.keys()) stored.add(id);
    }, 30_000);
  await holds();
  const mark = join(data, 'logs', 'auth_logs', `mark-${marks++}.log.gz`);
  mkdirSync(dirname(mark), { recursive: true });
  appendFileSync(mark, gzipSync(`{"id":"${mark}"}\n`));
  await eventually(async () => {
    const ids = (await ingesting.rows('auth_logs')).map(({ id }) => id);
    expect(ids).to.include(mark);
  });
  await holds();
}
let marks = 0;
