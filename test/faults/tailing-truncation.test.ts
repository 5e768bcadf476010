import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readlinkSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, type Service, withService } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { holds, ledger, PASSAGES, run, settles, through, withSetup } from './setup.ts';

/** How the new content of a file compares with its old one: how long it is, and whether it begins with the same line. */
const SHAPES = [
  ['shorter', 2, false],
  ['equal', 3, false],
  ['longer', 7, false],
  ['shorter-same-start', 2, true],
  ['equal-same-start', 3, true],
  ['longer-same-start', 7, true],
] as const;
const LINES_BEFORE = 4;
/** So many chances to truncate one while it is being read. */
const FILES_CUT = 8;
/** The first line alone is longer than the bytes that are hashed as the head of a file. */
const LONG_TEXT = 'x'.repeat(1500);

describe('a file that is truncated', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T08${'abc'[i]}`,
      `truncated and grown again, shorter, equal, beyond the old offset, with the same first line or not, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const { expectedLines } = setup;
          const text = (count: number) => setup.lines(count, 'edge_logs', LONG_TEXT);
          const headers = new Map<string, string>();
          for (const [shape] of SHAPES) {
            // A header that every generation begins with: it carries no id, and is counted by its bytes.
            const header = `header ${shape} ${LONG_TEXT}\n`;
            headers.set(shape, header);
            expectedLines.bad(header.trim());
            writeFileSync(setup.at(`${shape}.log`), header + text(LINES_BEFORE));
          }
          await through(
            setup,
            passage,
            (service) => settles(service, setup),
            () => {
              for (const [shape, count, same] of SHAPES) {
                const path = setup.at(`${shape}.log`);
                const { size } = statSync(path);
                const header = same ? (headers.get(shape) ?? '') : '';
                if (same) expectedLines.bad(header.trim());
                const lines = text(count);
                const equal = shape.startsWith('equal');
                truncateSync(path, 0);
                appendFileSync(
                  path,
                  header + (equal ? padded(lines, size - header.length) : lines),
                );
                if (equal) expect(statSync(path).size).to.equal(size);
              }
            },
            (service) => settles(service, setup),
          );
          await run(setup.data, (service) => settles(service, setup));
        }),
    );
  }

  faultCase('T09', 'truncated to nothing while it is followed, and written with fewer bytes', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        const path = setup.at('app.log');
        writeFileSync(path, setup.lines(50));
        for (const count of [20, 8, 3, 1]) {
          await holds(service, setup);
          truncateSync(path, 0);
          appendFileSync(path, setup.lines(count));
        }
        await settles(service, setup);
        await eventually(async () => expect((await ledger(service)).pending_bytes).to.equal(0));
      }),
    ),
  );

  for (const kill of [false, true]) {
    const when = kill ? ', then kill -9' : '';
    faultCase(
      kill ? 'T10b' : 'T10a',
      `truncated in the middle of a batch that is not stored yet${when}: no mixed line`,
      () =>
        withSetup(async (setup) => {
          await withService(setup.data, async (service) => {
            for (let file = 0; file < FILES_CUT; file++) {
              const lost = Array.from({ length: 15_000 }, () => setup.expectedLines.line());
              for (const line of lost) setup.expectedLines.doubtful(line);
              const path = setup.at(`app-${file}.log`);
              const { lines } = await ledger(service);
              writeFileSync(path, lost.join(''));
              await reading(service, lines);
              truncateSync(path, 0);
              appendFileSync(path, setup.lines(100));
            }
            if (kill) expect(await service.end('SIGKILL')).to.equal('SIGKILL');
            else await drained(service);
          });
          await run(setup.data, async (service) => {
            await drained(service);
            await settles(service, setup);
            expect((await ledger(service)).rejected).to.equal(0);
          });
        }),
    );
  }
});

describe('a file that is deleted', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T11${'abc'[i]}`,
      `deleted and made again at once, shorter, equal, longer, with the same first line or not, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const headers = new Map(SHAPES.map(([shape]) => [shape, `header ${shape}\n`]));
          for (const [shape, header] of headers) {
            setup.expectedLines.bad(header.trim());
            writeFileSync(setup.at(`${shape}.log`), header + setup.lines(LINES_BEFORE));
          }
          await through(
            setup,
            passage,
            (service) => settles(service, setup),
            () => {
              for (const [shape, count, same] of SHAPES) {
                const path = setup.at(`${shape}.log`);
                const { size } = statSync(path);
                const header = same ? (headers.get(shape) ?? '') : '';
                if (same) setup.expectedLines.bad(header.trim());
                const lines = setup.lines(count);
                const equal = shape.startsWith('equal');
                unlinkSync(path);
                writeFileSync(path, header + (equal ? padded(lines, size - header.length) : lines));
              }
            },
            (service) => settles(service, setup),
          );
          await run(setup.data, (service) => settles(service, setup));
        }),
    );
  }

  for (const passage of ['over a stop', 'over a kill -9'] as const) {
    faultCase(
      passage === 'over a stop' ? 'T11d' : 'T11e',
      `deleted, and files of other names have their inodes, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const numbers = Array.from({ length: 20 }, (_, number) => number);
          const before = numbers.map((number) => setup.at(`before-${number}.log`));
          const inodes = new Set<number>();
          await through(
            setup,
            passage,
            async (service) => {
              for (const [n, path] of before.entries())
                writeFileSync(path, setup.lines(1 + (n % 4)));
              await settles(service, setup);
            },
            () => {
              for (const path of before) {
                inodes.add(statSync(path).ino);
                unlinkSync(path);
              }
              const after = numbers.map((number) => setup.at(`after-${number}.log`));
              for (const [n, path] of after.entries())
                writeFileSync(path, setup.lines(1 + (n % 5)));
              const taken = after.filter((path) => inodes.has(statSync(path).ino)).length;
              console.log(`      ${taken} of ${numbers.length} inodes came again`);
            },
            (service) => settles(service, setup),
          );
        }),
    );
  }

  faultCase(
    'T12b',
    'deleted while another grows without a pause: its half line is taken, its handle closed',
    () =>
      withSetup((setup) =>
        run(setup.data, async (service) => {
          const half = '{"id":"half';
          const path = setup.at('app.log');
          writeFileSync(path, `${setup.lines(1)}${half}`);
          setup.expectedLines.bad(half);
          let over = false;
          const writing = (async () => {
            for (; !over; await delay(4)) appendFileSync(setup.at('live.log'), setup.lines(1));
          })();
          try {
            await eventually(async () => expect((await ledger(service)).files).to.equal(2));
            unlinkSync(path);
            await eventually(
              async () => expect((await ledger(service)).rejected).to.equal(1),
              20_000,
            );
            await eventually(() => expect(deletedFilesOf(service)).to.deep.equal([]));
          } finally {
            over = true;
            await writing;
          }
          await settles(service, setup);
        }),
      ),
  );

  faultCase('T12a', 'deleted with unread bytes, which are read, and the handle is closed', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        const path = setup.at('app.log');
        const writer = openSync(path, 'a');
        writeSync(writer, setup.lines(3));
        await holds(service, setup);
        writeSync(writer, setup.lines(20_000));
        unlinkSync(path);
        writeSync(writer, setup.lines(10));
        closeSync(writer);
        await holds(service, setup);
        await eventually(() => expect(deletedFilesOf(service)).to.deep.equal([]));
        await settles(service, setup);
      }),
    ),
  );
});

describe('a file whose times tell nothing', () => {
  faultCase('T37', 'empty when first seen, then grown and cut with one and the same time', () =>
    withSetup(async (setup) => {
      const second = new Date('2026-11-20T10:00:00Z');
      const path = setup.at('app.log');
      const write = (text: string) => {
        appendFileSync(path, text);
        utimesSync(path, second, second);
      };
      write('');
      await run(setup.data, async (service) => {
        await met(service, 1);
        for (let round = 0; round < 3; round++) {
          write(setup.lines(5));
          await settles(service, setup);
        }
        // As many bytes as before, at the same time as before.
        const file = openSync(path, 'r+');
        const { size } = statSync(path);
        ftruncateSync(file, 0);
        writeSync(file, padded(setup.lines(1), size));
        closeSync(file);
        utimesSync(path, second, second);
        await settles(service, setup);
      });
      await run(setup.data, (service) => settles(service, setup));
    }),
  );
});

/** The same lines, the first of them lengthened until they are just so many bytes together. */
function padded(lines: string, size: number): string {
  const message = '"event_message":"';
  return lines.replace(message, message + 'y'.repeat(size - lines.length));
}

/** Waits until the service follows so many files of the source. */
async function met(service: Service, files: number): Promise<void> {
  await eventually(async () => expect((await ledger(service)).files).to.equal(files));
}

/** Waits until the service is about to read, or has read, more than it had. */
async function reading(service: Service, lines: number): Promise<void> {
  await eventually(async () => {
    const now = await ledger(service);
    expect(now.pending_bytes > 0 || now.lines > lines).to.equal(true);
  });
}

/** Waits until the service knows of nothing that is unread. */
async function drained(service: Service): Promise<void> {
  await eventually(async () => expect((await ledger(service)).pending_bytes).to.equal(0));
}

/** The log files that a service holds open although they are deleted. */
function deletedFilesOf({ child }: Service): string[] {
  const folder = `/proc/${child.pid}/fd`;
  const links = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => /\/logs\/.* \(deleted\)$/.test(link));
}
