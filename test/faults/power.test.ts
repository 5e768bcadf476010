import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, withFolder, withService } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { allStored, dropLines, endsWhole, ledger, startWriter, whileItLives } from './lines.ts';
import { mountCase, withExt4 } from './mounts.ts';

/** The disk is small. */
const SMALL = { env: { TAILPOND_MIN_FREE: 'off' } };

describe('a disk that goes away', () => {
  mountCase(
    'D15',
    'power is lost at any moment: the store opens and no line is lost or doubled',
    'ext4',
    () =>
      withFolder((data) =>
        withExt4(join(data, 'store'), 256, async (disk) => {
          const random = seeded(15);
          const expectedLines = newExpectedLines();
          const writer = startWriter(data, expectedLines);
          try {
            for (let i = 0; i < (LONG ? 40 : 3); i++) {
              // A backlog, too: its row groups go to the database file past the log.
              if (i % 4 === 1) dropLines(data, expectedLines, LONG ? 120_000 : 40_000);
              await withService(
                data,
                async (service) => {
                  // With a pause of the writer's the idle checkpoint comes after two seconds.
                  await delay(random() * (i % 3 === 0 ? 3500 : 1200));
                  disk.losePower();
                  await service.end('SIGKILL');
                },
                SMALL,
              );
              disk.remount();
            }
          } finally {
            await writer.stop();
          }
          await endsWhole(data, expectedLines, SMALL);
        }),
      ),
    { timeoutMs: LONG ? 600_000 : 300_000 },
  );

  mountCase(
    'D21',
    'the file system becomes read-only: not ready or ended, and nothing lost once it is back',
    'ext4',
    () =>
      withFolder((data) =>
        withExt4(join(data, 'store'), 128, async (disk) => {
          const expectedLines = newExpectedLines();
          await withService(
            data,
            async (service) => {
              dropLines(data, expectedLines, 500);
              await allStored(service, expectedLines);
              disk.becomeReadOnly();
              dropLines(data, expectedLines, 500);
              await eventually(async () => {
                if (service.child.exitCode !== null) return;
                expect((await service.get('/readyz')).status).to.equal(503);
              });
              await whileItLives(service, async () => {
                // What it says it has is what is durable.
                expect((await ledger(service))[0]?.rows).to.equal(500);
                await service.end('SIGKILL');
              });
            },
            SMALL,
          );
          disk.remount();
          await endsWhole(data, expectedLines, SMALL);
        }),
      ),
  );
});
