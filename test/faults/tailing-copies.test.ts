import { copyFileSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually, type Service, withFolder } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, drop, ledger } from './lines.ts';
import { run } from './setup.ts';

const LOG = 'edge_logs/app.log';

describe('files that seem to be copies', () => {
  faultCase('T38a', 'copies of several ages of a log that begins anew: no line comes twice', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await run(data, async (service) => {
        drop(data, LOG, expectedLines.line());
        for (const suffix of ['.1', '.2', '.3']) {
          drop(data, LOG, expectedLines.line());
          await allStored(service, expectedLines);
          copyFileSync(at(data, LOG), at(data, LOG + suffix));
          await compared(service, data, expectedLines, suffix);
        }
        truncateSync(at(data, LOG));
        drop(data, LOG, expectedLines.line());
        await allStored(service, expectedLines);
        await compared(service, data, expectedLines, '');
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase('T38b', 'a file that goes on where a log has a last line without its newline', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await run(data, async (service) => {
        const [first, last] = [expectedLines.line(), expectedLines.line()];
        drop(data, LOG, first + last.trimEnd());
        await eventually(async () =>
          expect((await ledger(service)).find(({ rows }) => rows === 1)).to.include({
            source: 'edge_logs',
          }),
        );
        // So that the two are compared in the very round in which the last line would be taken.
        await delay(1500);
        drop(data, `${LOG}.1`, first + last + expectedLines.line() + expectedLines.line());
        await allStored(service, expectedLines);
        await compared(service, data, expectedLines, '');
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );

  faultCase(
    'T38c',
    'two copies of what nobody has read, beside a log that begins with the same line',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const first = expectedLines.line();
        drop(data, LOG, first);
        await run(data, async (service) => {
          await allStored(service, expectedLines);
        });
        drop(data, LOG, expectedLines.line() + expectedLines.line());
        copyFileSync(at(data, LOG), at(data, `${LOG}.1`));
        pack(data, `${LOG}.1`, `${LOG}.2.gz`);
        writeFileSync(at(data, LOG), first);
        await run(data, async (service) => {
          await allStored(service, expectedLines);
          await compared(service, data, expectedLines, '');
        });
        expect(await expectedLines.differences(data)).to.deep.equal([]);
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
async function compared(
  service: Service,
  data: string,
  expectedLines: ExpectedLines,
  suffix: string,
) {
  const witness = `auth_logs/witness${suffix}.log`;
  const first = expectedLines.line('auth_logs');
  drop(data, witness, first);
  await allStored(service, expectedLines);
  drop(data, `${witness}.1`, first + expectedLines.line('auth_logs'));
  await allStored(service, expectedLines);
}
