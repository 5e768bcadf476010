import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { INSTALL, LOGROTATE, rotate as logrotate } from '../e2e/shippers/shippers.ts';
import { eventually, type Service, withService } from '../support/helpers.ts';
import { faultCase, LONG, notHere } from './case.ts';
import {
  holds,
  ledger,
  livezDuring,
  memoryMb,
  run,
  type Setup,
  settles,
  withSetup,
} from './setup.ts';

/** Lines of one write, and between two writes: some 4,000 lines/s. */
const LINES = 20;
const EVERY_MS = 5;

describe('a file that is rotated by renaming', () => {
  const rotations = LONG ? 100 : 20;
  const title = `${rotations} times by logrotate, at some thousand lines/s, with kill -9 meanwhile`;
  if (LOGROTATE === null) notHere('T05', title, `no logrotate; ${INSTALL}`);
  else
    faultCase(
      'T05',
      title,
      () =>
        withSetup(async (setup) => {
          const path = setup.at('app.log');
          const writer = startWriter(setup, path);
          let left = rotations;
          const rotateSome = async (count: number) => {
            for (; count > 0; count--, left--) {
              await delay(50);
              await logrotate(setup.data, path, `rotate ${rotations + 1}\ncreate\nmissingok`);
              writer.reopen();
            }
          };
          try {
            await withService(setup.data, async (service) => {
              await rotateSome(Math.floor(rotations / 2));
              expect(await service.end('SIGKILL')).to.equal('SIGKILL');
            });
            await rotateSome(2);
            await run(setup.data, async (service) => {
              await rotateSome(left);
              writer.stop();
              await settles(service, setup);
            });
          } finally {
            writer.stop();
          }
          await run(setup.data, (service) => settles(service, setup));
        }),
      { timeoutMs: LONG ? 600_000 : 300_000 },
    );

  const anew = 'by logrotate, whose writer makes the log anew before logrotate does';
  if (LOGROTATE === null) notHere('T43', anew, `no logrotate; ${INSTALL}`);
  else
    faultCase('T43', anew, () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        const rotations = 500;
        await run(setup.data, async (service) => {
          let isOver = false;
          const written: string[] = [];
          const writing = (async () => {
            for (; !isOver; await nextTurn()) {
              const line = setup.lines(1);
              appendFileSync(path, line);
              written.push(line);
            }
          })();
          try {
            // The log that stands where logrotate would `create` it is renamed to one of these.
            const asides = () => readdirSync(dirname(path)).filter((name) => /backup$/.test(name));
            for (let n = 0; n < rotations && asides().length === 0; n++)
              // Where the writer makes it anew once more, after that, logrotate goes no further.
              await logrotate(setup.data, path, `rotate ${rotations}\ncreate\nmissingok`).catch(
                (error) =>
                  expect(String(error)).to.match(/error creating output file .*File exists/),
              );
            expect(asides(), 'what logrotate has put aside').to.have.lengthOf(1);
          } finally {
            isOver = true;
            await writing;
          }
          // What it has put aside in the same hour it overwrites: those lines may be gone before anybody could read them.
          const folder = dirname(path);
          const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
          const there = new Set(texts.flatMap((text) => text.split('\n')));
          for (const line of written)
            if (!there.has(line.trimEnd())) setup.expectedLines.doubtful(line);
          await settles(service, setup);
        });
        await run(setup.data, (service) => settles(service, setup));
      }),
    );

  faultCase('T06', 'renamed, and its writer goes on in the renamed file', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        const path = setup.at('app.log');
        const [inside, outside] = [openSync(path, 'a'), openSync(setup.at('other.log'), 'a')];
        writeSync(inside, setup.lines(10));
        writeSync(outside, setup.lines(10));
        await holds(service, setup);
        // One to a name that is read, one out of the logs folder: followed by its handle alone.
        renameSync(path, `${path}.1`);
        renameSync(setup.at('other.log'), `${setup.data}/moved.txt`);
        writeFileSync(path, setup.lines(5));
        const end = performance.now() + (LONG ? 30_000 : 4000);
        while (performance.now() < end) {
          writeSync(inside, setup.lines(3));
          writeSync(outside, setup.lines(3));
          appendFileSync(path, setup.lines(2));
          await delay(100);
        }
        closeSync(inside);
        closeSync(outside);
        await settles(service, setup);
      }),
    ),
  );
});

describe('a file that is rotated by copying and truncating', () => {
  const rotations = LONG ? 50 : 12;
  for (const kill of [false, true]) {
    faultCase(
      kill ? 'T07b' : 'T07a',
      `${rotations} times at some thousand lines/s${kill ? ', with kill -9 meanwhile' : ''}: doubles nothing, loses only what was written between copy and truncation`,
      () =>
        withSetup(async (setup) => {
          const path = setup.at('app.log');
          const writer = startWriter(setup, path);
          let between = 0;
          const rotateSome = async (count: number, first: number) => {
            for (let done = first; done < first + count; done++) {
              await delay(150);
              for (let number = done; number >= 1; number--)
                renameSync(`${path}.${number}`, `${path}.${number + 1}`);
              copyFileSync(path, `${path}.1`);
              const { size } = statSync(`${path}.1`);
              // The moment in which copytruncate loses: all that is written now is gone, or was read before.
              for (let write = 0; write < 3; write++) writer.write();
              const lost = readFileSync(path, 'utf8').slice(size).trim().split('\n');
              for (const line of lost) setup.expectedLines.doubtful(line);
              between += lost.length;
              truncateSync(path, 0);
            }
          };
          try {
            const half = rotations / 2;
            await withService(setup.data, async (service) => {
              await rotateSome(half, 0);
              // Until the last copy was seen, the bytes that it is known by are in memory alone.
              await eventually(async () =>
                expect((await ledger(service)).files).to.equal(half + 1),
              );
              if (kill) expect(await service.end('SIGKILL')).to.equal('SIGKILL');
              else await rotateSome(half, half);
              if (!kill) writer.stop();
              if (!kill) await settles(service, setup);
            });
            if (kill) await rotateSome(half, half);
            writer.stop();
            await run(setup.data, (service) => settles(service, setup));
          } finally {
            writer.stop();
          }
          console.log(`      ${between} lines were written between copies and truncations`);
        }),
    );
  }
});

describe('a compressed file', () => {
  for (const [id, read, passage] of [
    ['T25a', 'to its end', 'while it runs'],
    ['T25b', 'in part', 'over a stop'],
    ['T25c', 'in part', 'over a kill -9'],
    ['T25d', 'not at all', 'over a stop'],
  ] as const) {
    faultCase(
      id,
      `of a rotated log that was read ${read}: the rest is read, nothing is doubled, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const path = setup.at('app.log');
          const compress = () => {
            renameSync(path, `${path}.1`);
            writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
            unlinkSync(`${path}.1`);
            writeFileSync(path, setup.lines(2));
          };
          const first = read !== 'not at all';
          if (first) writeFileSync(path, setup.lines(500));
          await withService(setup.data, async (service) => {
            await settles(service, setup);
            if (passage === 'while it runs') {
              compress();
              await settles(service, setup);
            }
            const killed = passage === 'over a kill -9';
            expect(await service.end(killed ? 'SIGKILL' : 'SIGTERM')).to.equal(
              killed ? 'SIGKILL' : 0,
            );
          });
          if (passage !== 'while it runs') {
            appendFileSync(path, setup.lines(300));
            compress();
          }
          for (let life = 0; life < 2; life++)
            await run(setup.data, (service) => settles(service, setup));
        }),
    );
  }

  faultCase(
    'T25e',
    'beside the rotated log that it was made of, neither of them read yet: nothing is doubled',
    () =>
      withSetup(async (setup) => {
        for (const name of ['app.log.1', 'b-20261110.log']) {
          const text = setup.lines(4);
          writeFileSync(setup.at(name), text);
          writeFileSync(setup.at(`${name}.gz`), gzipSync(text));
        }
        // Without it the rotated one would be read at once.
        for (const name of ['app.log', 'b.log']) writeFileSync(setup.at(name), setup.lines(1));
        for (let life = 0; life < 2; life++)
          await run(setup.data, (service) => settles(service, setup));
      }),
  );

  faultCase(
    'T25f',
    'of a rotated log that was just read when the next one took its name: it is read, once',
    () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        writeFileSync(path, setup.lines(3));
        writeFileSync(`${path}.1`, setup.lines(4));
        await withService(setup.data, async (service) => {
          await eventually(async () => expect((await ledger(service)).rows).to.equal(7));
          writeFileSync(`${path}.2.gz`, gzipSync(readFileSync(`${path}.1`)));
          unlinkSync(`${path}.1`);
          renameSync(path, `${path}.1`);
          writeFileSync(path, setup.lines(2));
          await settles(service, setup);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        await run(setup.data, (service) => settles(service, setup));
      }),
  );

  faultCase('T26a', 'that ends early is named, and read once it is whole', () =>
    withSetup(async (setup) => {
      const path = setup.at('app.log.1.gz');
      const whole = gzipSync(setup.lines(3000));
      writeFileSync(path, whole.subarray(0, whole.length / 2));
      await withService(setup.data, async (service) => {
        await refused(service, ['edge_logs/app.log.1.gz']);
        expect(await service.end('SIGKILL')).to.equal('SIGKILL');
      });
      await run(setup.data, async (service) => {
        await refused(service, ['edge_logs/app.log.1.gz']);
        appendFileSync(path, whole.subarray(whole.length / 2));
        await settles(service, setup);
        await refused(service, []);
      });
      await run(setup.data, (service) => settles(service, setup));
    }),
  );

  faultCase('T26b', 'that is still being written is read once, when it is whole', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        const whole = gzipSync(setup.lines(20_000), { level: 0 });
        const file = openSync(setup.at('app.log.2.gz'), 'w');
        for (let at = 0; at < whole.length; at += whole.length / 20) {
          writeSync(file, whole.subarray(at, at + whole.length / 20));
          await delay(100);
        }
        closeSync(file);
        await settles(service, setup);
        await refused(service, []);
      }),
    ),
  );

  faultCase('T26c', 'of several members gives the lines of all, however they are cut', () =>
    withSetup(async (setup) => {
      const bytes = Buffer.from(setup.lines(1000));
      const cuts = [0, 100, 101, 5000, 5000, bytes.length];
      const members = cuts.slice(1).map((to, i) => gzipSync(bytes.subarray(cuts[i], to)));
      writeFileSync(setup.at('app.log.1.gz'), Buffer.concat(members));
      await run(setup.data, (service) => settles(service, setup));
    }),
  );

  const bytes = LONG ? 10e9 : 0.5e9;
  faultCase(
    'T26d',
    `that unpacks to ${bytes / 1e9} GB of one line: memory stays flat, and other files flow`,
    () =>
      withSetup(async (setup) => {
        const [bomb, other] = [setup.at('.bomb'), setup.at('other.log')];
        await writeBomb(bomb, bytes);
        await run(setup.data, async (service) => {
          writeFileSync(other, setup.lines(1));
          await settles(service, setup);
          const before = memoryMb(service, 'VmHWM');
          const answers = await livezDuring(service, async () => {
            renameSync(bomb, setup.at('bomb.log.gz'));
            setup.expectedLines.bad('z'.repeat(4096));
            const { rows } = await ledger(service);
            let flowed = 0;
            await eventually(
              async () => {
                appendFileSync(other, setup.lines(1));
                const now = await ledger(service);
                if (now.rejected === 0) flowed = now.rows - rows;
                expect(now.rejected).to.equal(1);
              },
              LONG ? 600_000 : 200_000,
            );
            expect(flowed, 'lines of the other file before the end of the bomb').to.be.above(0);
            await settles(service, setup);
          });
          const grown = memoryMb(service, 'VmHWM') - before;
          console.log(`      ${grown.toFixed(0)} MB more, ${answers} answers of /livez meanwhile`);
          expect(grown).to.be.below(150);
        });
        await run(setup.data, (service) => settles(service, setup));
      }),
    { timeoutMs: LONG ? 900_000 : 300_000 },
  );
});

interface Writer {
  /** Writes some lines now. */
  write(): void;
  /** Goes on at the path, as after a signal, if another file is there by now. */
  reopen(): void;
  stop(): void;
}

/** Appends lines to a file, some thousand a second, until it is stopped. */
function startWriter(setup: Setup, path: string): Writer {
  let file: number | null = openSync(path, 'a', 0o644);
  const write = () => {
    if (file !== null) writeSync(file, setup.lines(LINES));
  };
  const timer = setInterval(write, EVERY_MS);
  return {
    write,
    reopen() {
      if (file === null || !existsSync(path) || fstatSync(file).ino === statSync(path).ino) return;
      closeSync(file);
      file = openSync(path, 'a');
    },
    stop() {
      clearInterval(timer);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** A gzip file of one line of so many equal bytes; a thousandth of that in size. */
async function writeBomb(path: string, bytes: number): Promise<void> {
  const block = Buffer.alloc(1e7, 'z');
  const packer = createGzip();
  const file = openSync(path, 'w');
  packer.on('data', (chunk: Buffer) => writeSync(file, chunk));
  for (let left = bytes; left > 0; left -= block.length)
    await new Promise((resolve) => packer.write(block, resolve));
  await new Promise<void>((resolve) => {
    packer.once('end', resolve);
    packer.end('\n');
  });
  closeSync(file);
}

/** Waits until just these files of `edge_logs` are refused. */
async function refused(service: Service, paths: readonly string[]): Promise<void> {
  await eventually(async () => {
    const entry = await ledger(service);
    expect(entry.refused.map(({ path }) => path)).to.have.members(paths);
  });
}
