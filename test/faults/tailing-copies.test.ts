import { copyFileSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually, type Service, withFolder } from '../helpers.ts';
import { type Books, newBooks } from './books.ts';
import { faultCase } from './case.ts';
import { allStored, drop, ledger } from './lines.ts';
import { run } from './trial.ts';

const LOG = 'edge_logs/app.log';

describe('files that seem to be copies', () => {
  faultCase('T38a', 'copies of several ages of a log that begins anew: no line comes twice', () =>
    withFolder(async (data) => {
      const books = newBooks();
      await run(data, async (service) => {
        drop(data, LOG, books.line());
        for (const suffix of ['.1', '.2', '.3']) {
          drop(data, LOG, books.line());
          await allStored(service, books);
          copyFileSync(at(data, LOG), at(data, LOG + suffix));
          await compared(service, data, books, suffix);
        }
        truncateSync(at(data, LOG));
        drop(data, LOG, books.line());
        await allStored(service, books);
        await compared(service, data, books, '');
      });
      expect(await books.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('T38b', 'a file that goes on where a log has a last line without its newline', () =>
    withFolder(async (data) => {
      const books = newBooks();
      await run(data, async (service) => {
        const [first, last] = [books.line(), books.line()];
        drop(data, LOG, first + last.trimEnd());
        await eventually(async () =>
          expect((await ledger(service)).find(({ rows }) => rows === 1)).to.include({
            source: 'edge_logs',
          }),
        );
        // So that the two are compared in the very round in which the last line would be taken.
        await delay(1500);
        drop(data, `${LOG}.1`, first + last + books.line() + books.line());
        await allStored(service, books);
        await compared(service, data, books, '');
      });
      expect(await books.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase(
    'T38c',
    'two copies of what nobody has read, beside a log that begins with the same line',
    () =>
      withFolder(async (data) => {
        const books = newBooks();
        const first = books.line();
        drop(data, LOG, first);
        await run(data, async (service) => {
          await allStored(service, books);
        });
        drop(data, LOG, books.line() + books.line());
        copyFileSync(at(data, LOG), at(data, `${LOG}.1`));
        pack(data, `${LOG}.1`, `${LOG}.2.gz`);
        writeFileSync(at(data, LOG), first);
        await run(data, async (service) => {
          await allStored(service, books);
          await compared(service, data, books, '');
        });
        expect(await books.differences(data)).to.deep.equal([]);
      }),
  );
});

function at(data: string, path: string): string {
  return join(data, 'logs', path);
}

/** Packs a copy that is older than what it was made of. */
function pack(data: string, from: string, to: string) {
  const path = at(data, to);
  writeFileSync(path, gzipSync(readFileSync(at(data, from))));
  const minutesAgo = new Date(Date.now() - 60_000);
  utimesSync(path, minutesAgo, minutesAgo);
}

/** Comes when every file that stands there now has rested for long enough to be held against what it seems a copy of. */
async function compared(service: Service, data: string, books: Books, suffix: string) {
  const witness = `auth_logs/witness${suffix}.log`;
  const first = books.line('auth_logs');
  drop(data, witness, first);
  await allStored(service, books);
  drop(data, `${witness}.1`, first + books.line('auth_logs'));
  await allStored(service, books);
}
