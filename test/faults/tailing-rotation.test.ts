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
import { dirname } from 'node:path';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { INSTALL, LOGROTATE, rotate as logrotate } from '../end-to-end/shippers.ts';
import { eventually, type Service, withService } from '../helpers.ts';
import { faultCase, LONG, notHere } from './case.ts';
import {
  holds,
  ledger,
  livezDuring,
  memoryMb,
  run,
  settles,
  type Trial,
  withTrial,
} from './trial.ts';

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
        withTrial(async (trial) => {
          const path = trial.at('app.log');
          const writer = startWriter(trial, path);
          let left = rotations;
          const rotateSome = async (count: number) => {
            for (; count > 0; count--, left--) {
              await delay(50);
              await logrotate(trial.data, path, `rotate ${rotations + 1}\ncreate\nmissingok`);
              writer.reopen();
            }
          };
          try {
            await withService(trial.data, async (service) => {
              await rotateSome(Math.floor(rotations / 2));
              expect(await service.end('SIGKILL')).to.equal('SIGKILL');
            });
            await rotateSome(2);
            await run(trial.data, async (service) => {
              await rotateSome(left);
              writer.stop();
              await settles(service, trial);
            });
          } finally {
            writer.stop();
          }
          await run(trial.data, (service) => settles(service, trial));
        }),
      { timeoutMs: LONG ? 600_000 : 120_000 },
    );

  const anew = 'by logrotate, whose writer makes the log anew before logrotate does';
  if (LOGROTATE === null) notHere('T43', anew, `no logrotate; ${INSTALL}`);
  else
    faultCase('T43', anew, () =>
      withTrial(async (trial) => {
        const path = trial.at('app.log');
        const rotations = 500;
        await run(trial.data, async (service) => {
          let isOver = false;
          const writing = (async () => {
            for (; !isOver; await nextTurn()) appendFileSync(path, trial.lines(1));
          })();
          try {
            // The log that stands where logrotate would `create` it is renamed to one of these.
            const asides = () => readdirSync(dirname(path)).filter((name) => /backup$/.test(name));
            for (let n = 0; n < rotations && asides().length === 0; n++)
              await logrotate(trial.data, path, `rotate ${rotations}\ncreate\nmissingok`);
            expect(asides(), 'what logrotate has put aside').to.have.lengthOf(1);
          } finally {
            isOver = true;
            await writing;
          }
          await settles(service, trial);
        });
        await run(trial.data, (service) => settles(service, trial));
      }),
    );

  faultCase('T06', 'renamed, and its writer goes on in the renamed file', () =>
    withTrial((trial) =>
      run(trial.data, async (service) => {
        const path = trial.at('app.log');
        const [inside, outside] = [openSync(path, 'a'), openSync(trial.at('other.log'), 'a')];
        writeSync(inside, trial.lines(10));
        writeSync(outside, trial.lines(10));
        await holds(service, trial);
        // One to a name that is read, one out of the logs folder: followed by its handle alone.
        renameSync(path, `${path}.1`);
        renameSync(trial.at('other.log'), `${trial.data}/moved.txt`);
        writeFileSync(path, trial.lines(5));
        const end = performance.now() + (LONG ? 30_000 : 4000);
        while (performance.now() < end) {
          writeSync(inside, trial.lines(3));
          writeSync(outside, trial.lines(3));
          appendFileSync(path, trial.lines(2));
          await delay(100);
        }
        closeSync(inside);
        closeSync(outside);
        await settles(service, trial);
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
        withTrial(async (trial) => {
          const path = trial.at('app.log');
          const writer = startWriter(trial, path);
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
              for (const line of lost) trial.books.doubtful(line);
              between += lost.length;
              truncateSync(path, 0);
            }
          };
          try {
            const half = rotations / 2;
            await withService(trial.data, async (service) => {
              await rotateSome(half, 0);
              // Until the last copy was seen, the bytes that it is known by are in memory alone.
              await eventually(async () =>
                expect((await ledger(service)).files).to.equal(half + 1),
              );
              if (kill) expect(await service.end('SIGKILL')).to.equal('SIGKILL');
              else await rotateSome(half, half);
              if (!kill) writer.stop();
              if (!kill) await settles(service, trial);
            });
            if (kill) await rotateSome(half, half);
            writer.stop();
            await run(trial.data, (service) => settles(service, trial));
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
        withTrial(async (trial) => {
          const path = trial.at('app.log');
          const compress = () => {
            renameSync(path, `${path}.1`);
            writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
            unlinkSync(`${path}.1`);
            writeFileSync(path, trial.lines(2));
          };
          const first = read !== 'not at all';
          if (first) writeFileSync(path, trial.lines(500));
          await withService(trial.data, async (service) => {
            await settles(service, trial);
            if (passage === 'while it runs') {
              compress();
              await settles(service, trial);
            }
            const killed = passage === 'over a kill -9';
            expect(await service.end(killed ? 'SIGKILL' : 'SIGTERM')).to.equal(
              killed ? 'SIGKILL' : 0,
            );
          });
          if (passage !== 'while it runs') {
            appendFileSync(path, trial.lines(300));
            compress();
          }
          for (let life = 0; life < 2; life++)
            await run(trial.data, (service) => settles(service, trial));
        }),
    );
  }

  faultCase(
    'T25e',
    'beside the rotated log that it was made of, neither of them read yet: nothing is doubled',
    () =>
      withTrial(async (trial) => {
        for (const name of ['app.log.1', 'b-20261110.log']) {
          const text = trial.lines(4);
          writeFileSync(trial.at(name), text);
          writeFileSync(trial.at(`${name}.gz`), gzipSync(text));
        }
        // Without it the rotated one would be read at once.
        for (const name of ['app.log', 'b.log']) writeFileSync(trial.at(name), trial.lines(1));
        for (let life = 0; life < 2; life++)
          await run(trial.data, (service) => settles(service, trial));
      }),
  );

  faultCase(
    'T25f',
    'of a rotated log that was just read when the next one took its name: it is read, once',
    () =>
      withTrial(async (trial) => {
        const path = trial.at('app.log');
        writeFileSync(path, trial.lines(3));
        writeFileSync(`${path}.1`, trial.lines(4));
        await withService(trial.data, async (service) => {
          await eventually(async () => expect((await ledger(service)).rows).to.equal(7));
          writeFileSync(`${path}.2.gz`, gzipSync(readFileSync(`${path}.1`)));
          unlinkSync(`${path}.1`);
          renameSync(path, `${path}.1`);
          writeFileSync(path, trial.lines(2));
          await settles(service, trial);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        await run(trial.data, (service) => settles(service, trial));
      }),
  );

  faultCase('T26a', 'that ends early is named, and read once it is whole', () =>
    withTrial(async (trial) => {
      const path = trial.at('app.log.1.gz');
      const whole = gzipSync(trial.lines(3000));
      writeFileSync(path, whole.subarray(0, whole.length / 2));
      await withService(trial.data, async (service) => {
        await refused(service, ['edge_logs/app.log.1.gz']);
        expect(await service.end('SIGKILL')).to.equal('SIGKILL');
      });
      await run(trial.data, async (service) => {
        await refused(service, ['edge_logs/app.log.1.gz']);
        appendFileSync(path, whole.subarray(whole.length / 2));
        await settles(service, trial);
        await refused(service, []);
      });
      await run(trial.data, (service) => settles(service, trial));
    }),
  );

  faultCase('T26b', 'that is still being written is read once, when it is whole', () =>
    withTrial((trial) =>
      run(trial.data, async (service) => {
        const whole = gzipSync(trial.lines(20_000), { level: 0 });
        const file = openSync(trial.at('app.log.2.gz'), 'w');
        for (let at = 0; at < whole.length; at += whole.length / 20) {
          writeSync(file, whole.subarray(at, at + whole.length / 20));
          await delay(100);
        }
        closeSync(file);
        await settles(service, trial);
        await refused(service, []);
      }),
    ),
  );

  faultCase('T26c', 'of several members gives the lines of all, however they are cut', () =>
    withTrial(async (trial) => {
      const bytes = Buffer.from(trial.lines(1000));
      const cuts = [0, 100, 101, 5000, 5000, bytes.length];
      const members = cuts.slice(1).map((to, i) => gzipSync(bytes.subarray(cuts[i], to)));
      writeFileSync(trial.at('app.log.1.gz'), Buffer.concat(members));
      await run(trial.data, (service) => settles(service, trial));
    }),
  );

  const bytes = LONG ? 10e9 : 0.5e9;
  faultCase(
    'T26d',
    `that unpacks to ${bytes / 1e9} GB of one line: memory stays flat, and other files flow`,
    () =>
      withTrial(async (trial) => {
        const [bomb, other] = [trial.at('.bomb'), trial.at('other.log')];
        await writeBomb(bomb, bytes);
        await run(trial.data, async (service) => {
          writeFileSync(other, trial.lines(1));
          await settles(service, trial);
          const before = memoryMb(service, 'VmHWM');
          const answers = await livezDuring(service, async () => {
            renameSync(bomb, trial.at('bomb.log.gz'));
            trial.books.bad('z'.repeat(4096));
            const { rows } = await ledger(service);
            let flowed = 0;
            await eventually(
              async () => {
                appendFileSync(other, trial.lines(1));
                const now = await ledger(service);
                if (now.rejected === 0) flowed = now.rows - rows;
                expect(now.rejected).to.equal(1);
              },
              LONG ? 600_000 : 200_000,
            );
            expect(flowed, 'lines of the other file before the end of the bomb').to.be.above(0);
            await settles(service, trial);
          });
          const grown = memoryMb(service, 'VmHWM') - before;
          console.log(`      ${grown.toFixed(0)} MB more, ${answers} answers of /livez meanwhile`);
          expect(grown).to.be.below(150);
        });
        await run(trial.data, (service) => settles(service, trial));
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
function startWriter(trial: Trial, path: string): Writer {
  let file: number | null = openSync(path, 'a', 0o644);
  const write = () => {
    if (file !== null) writeSync(file, trial.lines(LINES));
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
