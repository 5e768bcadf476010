import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { makeTables } from '../clickhouse/tables.ts';
import { eventually, withService } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { fill, fillWithin, free } from './ballast.ts';
import { type faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import {
  clickhouseCase,
  differences,
  dropBulky,
  edge,
  forwarded,
  forwarding,
  NOT_FORWARDED,
  WARNING,
} from './forwarded.ts';
import { dropLines, hasEnded, startWriter, whileItLives } from './lines.ts';
import { mountCase, withExt4, withTmpfs } from './mounts.ts';

const FILLS = LONG ? 8 : 1;
const POWER_LOSSES = LONG ? 8 : 1;
/**
 * Half of what the server wants to be free for an INSERT of 5000 rows, and enough for one that it has begun: chDB passes over a write that
 * fails (26.7), and so confirms what it does not have, which ClickHouse does not.
 */
const LEFT_BYTES = 1e6;

const onTmpfs: typeof faultCase = (id, title, action, options) =>
  mountCase(id, title, 'tmpfs', action, options);
const onExt4: typeof faultCase = (id, title, action, options) =>
  mountCase(id, title, 'ext4', action, options);

describe('rows that are forwarded to ClickHouse, and disks', () => {
  clickhouseCase(
    'F09',
    `the disk of a node fills up ${FILLS} times: each line is there once`,
    async (server, folder) => {
      const data = join(folder, 'data');
      const store = join(data, 'store');
      const random = seeded(9);
      const expected = newExpectedLines();
      // All of the disk is less than what else must be free, in the last life, too.
      const options = { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_MIN_FREE: 'off' } };
      let troubles = 0;
      await withTmpfs(store, 400, async () => {
        for (let time = 0; time < FILLS; time++)
          await withService(
            data,
            async (service) => {
              dropBulky(data, expected, 20_000);
              await delay(random() * 1500);
              // From nothing, which no timing gets round, to what a shipment takes.
              fill(store, time === 0 ? 0 : Math.floor(4e6 * random() ** 2));
              // On a fast machine all that came before is forwarded by now.
              dropBulky(data, expected, 5000);
              const warned = () =>
                service.log.filter(({ level }) => Number(level) >= WARNING).length;
              // There may be room enough this time.
              await eventually(
                () => expect(hasEnded(service) || warned() > 0).to.equal(true),
                10_000,
              ).catch(() => {});
              await delay(1000);
              troubles += warned();
              await whileItLives(service, async () => {
                free(store);
                dropLines(data, expected, 100);
                await forwarded(service, expected);
                await service.end('SIGTERM');
              });
              free(store);
            },
            options,
          );
        await withService(
          data,
          async (service) => {
            await forwarded(service, expected);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          options,
        );
      });
      expect(await differences(server, [expected])).to.deep.equal([]);
      expect(troubles).to.be.above(0);
    },
    { timeoutMs: 900_000 },
    onTmpfs,
  );

  clickhouseCase(
    'F10',
    `the disk of the server fills up ${FILLS} times: each line is there once`,
    async (server, folder) => {
      const [data, disk] = [join(folder, 'data'), join(folder, 'clickhouse/data')];
      const random = seeded(10);
      const expected = newExpectedLines();
      let warnings = 0;
      await server.kill();
      await withTmpfs(disk, 400, async () => {
        await server.start();
        await makeTables(server);
        await withService(
          data,
          async (service) => {
            for (let time = 0; time < FILLS; time++) {
              dropLines(data, expected, 5000);
              await delay(random() * 1000);
              fillWithin(disk, LEFT_BYTES);
              dropLines(data, expected, 5000);
              await delay(3000);
              free(disk);
              // It may have ended by itself.
              await server.kill();
              await server.start();
              await forwarded(service, expected);
            }
            warnings = service.log.filter(({ msg }) => msg === NOT_FORWARDED).length;
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(server.url),
        );
        expect(await differences(server, [expected])).to.deep.equal([]);
        await server.kill();
      });
      expect(warnings).to.be.above(0);
    },
    { timeoutMs: 900_000 },
    onTmpfs,
  );

  clickhouseCase(
    'F13',
    `the server loses power ${POWER_LOSSES} times: what it has confirmed is there once`,
    async (server, folder) => {
      const [data, disk] = [join(folder, 'data'), join(folder, 'clickhouse/data')];
      const random = seeded(13);
      const expected = newExpectedLines();
      await server.kill();
      await withExt4(disk, 600, async (ext4) => {
        await server.start();
        await makeTables(server);
        // They were there long before.
        ext4.synchronise();
        await withService(
          data,
          async (service) => {
            for (let time = 0; time < POWER_LOSSES; time++) {
              const before = (await edge(service)).forwarded;
              const writer = startWriter(data, expected);
              // At any moment of the shipments that follow, and with some that were just confirmed.
              await eventually(async () =>
                expect((await edge(service)).forwarded).to.be.above(before),
              );
              await delay(random() * 2000);
              ext4.losePower();
              await server.kill();
              await writer.stop();
              ext4.remount();
              await server.start();
              await forwarded(service, expected);
              expect(await differences(server, [expected])).to.deep.equal([]);
            }
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(server.url),
        );
        await server.kill();
      });
    },
    { timeoutMs: 900_000 },
    onExt4,
  );
});
