import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import {
  eventually,
  type Service,
  spawnService,
  withFolder,
  withService,
  withStore,
} from '../helpers.ts';

const DISK_MB = 48;
/** What is left when the disk counts as full: less than a second's lines. */
const LEFT_BYTES = 256 * 1024;

describe('a full disk', function () {
  this.timeout(120_000);

  it('loses no line and stores none twice, once there is space again', function () {
    return withDisk(this, async (data) => {
      let written = 0;
      const write = (count: number) => {
        appendFileSync(join(data, 'logs', 'edge_logs', 'a.ndjson'), lines(written, count));
        written += count;
      };
      mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });

      // It fills up under a running service, which may carry on or end, but not with "all is well".
      await withService(data, async (service) => {
        write(500);
        await stored(service, written);
        fill(data);
        for (let i = 0; i < 20; i++) {
          write(200);
          await delay(100);
        }
        await delay(1500);
        if (service.child.exitCode === null) {
          expect((await service.get('/readyz')).status).to.equal(503);
          free(data);
          await stored(service, written);
          fill(data);
          // The checkpoint of a stop finds no space.
          write(100);
          await delay(500);
          expect(await service.end('SIGTERM')).to.be.oneOf([0, 1]);
        } else expect(service.child.exitCode).to.equal(1);
      });

      // A start without space may fail; it must leave what is there.
      const { child } = spawnService(data);
      await delay(3000);
      child.kill('SIGKILL');
      free(data);

      await withService(data, async (service) => {
        write(100);
        await stored(service, written);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      await withStore(data, async (store) => {
        const { rows } = await store.query(
          `select count(*), count(distinct id), min(id::int), max(id::int) from edge_logs`,
          {},
          { maxRows: 1 },
        );
        expect(rows[0]?.map(Number)).to.deep.equal([written, written, 0, written - 1]);
      });
    });
  });
});

/** A data folder whose store is a small disk of its own. Skips the test where mounting is not permitted. */
async function withDisk(test: Mocha.Context, action: (data: string) => Promise<void>) {
  await withFolder(async (data) => {
    const store = join(data, 'store');
    mkdirSync(store);
    const options = `size=${DISK_MB}m,mode=700`;
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', store]);
    if (mounted.status !== 0) {
      console.log('      skipped: a file system can not be mounted here (it takes root)');
      return test.skip();
    }
    try {
      await action(data);
    } finally {
      spawnSync('umount', ['-l', store]);
    }
  });
}

/** Lines of a kilobyte that can not be compressed, numbered from `from`. */
function lines(from: number, count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const filler = randomBytes(700).toString('base64');
    return `{"id":"${from + i}","timestamp":"2026-11-20T10:00:00Z","project":"p","event_message":"${filler}","metadata":{"n":1}}\n`;
  }).join('');
}

const ballast = (data: string) => join(data, 'store', 'ballast');

function fill(data: string) {
  const file = openSync(ballast(data), 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(64 * 1024, 1));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).to.equal('ENOSPC');
    ftruncateSync(file, Math.max(0, statSync(ballast(data)).size - LEFT_BYTES));
  } finally {
    closeSync(file);
  }
}

function free(data: string) {
  rmSync(ballast(data), { force: true });
}

async function stored(service: Service, count: number) {
  await eventually(async () => {
    if (service.child.exitCode !== null) throw new Error(`it ended: ${service.child.exitCode}`);
    const { body } = await service.get('/api/ledger');
    const entry = (body.result as LedgerEntry[]).find(({ source }) => source === 'edge_logs');
    expect(entry).to.include({ lines: count, rows: count, rejected: 0, stored: count });
  }, 30_000);
}
