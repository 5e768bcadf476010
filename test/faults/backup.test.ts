import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, type Service, withFolder, withService, withStore } from '../helpers.ts';
import { type Books, newBooks } from './books.ts';
import { faultCase } from './case.ts';
import { storeCommand } from './store-command.ts';

describe('a backup', () => {
  faultCase('D16a', 'made under load, restored over a destroyed store: every line once', () =>
    withFolder(async (data) => {
      const books = newBooks();
      const writer = startWriter(data, books);
      const file = join(data, 'out', 'backup.duckdb');
      try {
        await withService(data, async (service) => {
          await stored(service, 2000);
          const { code, text } = await storeCommand(data, ['backup', file]);
          expect(code, text).to.equal(0);
          // Ingest went on, and goes on.
          await stored(service, books.expected().rows);
          expect(readdirSync(join(data, 'store', 'staging'))).not.to.match(/backup/);
          await service.end('SIGKILL');
        });
      } finally {
        await writer.stop();
      }
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      for (const name of ['tailpond.duckdb', 'tailpond.duckdb.wal'])
        if (existsSync(join(data, 'store', name)))
          writeFileSync(join(data, 'store', name), 'no database');

      const broken = await storeCommand(data, ['check']);
      expect(broken.code, broken.text).to.equal(1);
      const restored = await storeCommand(data, ['restore', file]);
      expect(restored.code, restored.text).to.equal(0);
      expect(restored.text).to.match(/Now start tailpond/);
      const checked = await storeCommand(data, ['check']);
      expect(checked.code, checked.text).to.equal(0);
      expect(
        readdirSync(join(data, 'store')).filter((name) => /until-/.test(name)),
      ).to.have.length.at.least(1);

      await withService(data, async (service) => {
        await stored(service, books.expected().rows);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      expect(await books.differences(data)).to.deep.equal([]);
    }),
  );
});

/** Appends lines of two sources until stopped, some of them bad. */
function startWriter(data: string, books: Books) {
  let stopped = false;
  const running = (async () => {
    for (const source of ['edge_logs', 'auth_logs'] as const)
      mkdirSync(join(data, 'logs', source), { recursive: true });
    while (!stopped) {
      let text = '';
      for (let i = 0; i < 100; i++) text += books.line('edge_logs', 'x'.repeat(200));
      appendFileSync(join(data, 'logs', 'edge_logs', 'a.ndjson'), text);
      books.bad('no object', 'auth_logs');
      appendFileSync(
        join(data, 'logs', 'auth_logs', 'a.ndjson'),
        `${books.line('auth_logs')}no object\n`,
      );
      await delay(10);
    }
  })();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}

/** Waits until edge_logs has this many rows or more. */
function stored(service: Service, atLeast: number) {
  return eventually(async () => {
    const { body } = await service.get('/api/ledger');
    const [entry] = body.result as { rows: number }[];
    expect(entry?.rows).to.be.at.least(atLeast);
  }, 30_000);
}
