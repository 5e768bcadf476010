import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
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
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { INSTALL, LOGROTATE, rotate as logrotate } from '../e2e/shippers/shippers.ts';
import { eventually } from '../support/helpers.ts';
import { faultCase, LONG, notHere } from './case.ts';
import { ledger, overKill, run, type Setup, settles, withSetup } from './setup.ts';

/** Lines of one write, and between two writes: some 4,000 lines/s. */
const LINES = 20;
const EVERY_MS = 5;

describe('a file that is rotated by renaming', () => {
  const rotations = LONG ? 100 : 10;
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
            await overKill(
              setup,
              () => rotateSome(Math.floor(rotations / 2)),
              () => rotateSome(2),
              async (service) => {
                await rotateSome(left);
                writer.stop();
                await settles(service, setup);
              },
            );
          } finally {
            writer.stop();
          }
        }),
      { timeoutMs: LONG ? 600_000 : 300_000 },
    );

  const anew = 'by logrotate, whose writer makes the log anew before logrotate does';
  if (LOGROTATE === null) notHere('T43', anew, `no logrotate; ${INSTALL}`);
  else
    faultCase('T43', anew, () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        const folder = dirname(path);
        // The log that stands where logrotate would `create` it is renamed to one of these.
        const asides = () => readdirSync(folder).filter((name) => /backup$/.test(name));
        await run(setup.data, async (service) => {
          const writer = spawn(process.execPath, ['-e', MAKES_ANEW, path]);
          const ended = once(writer, 'close');
          try {
            await eventually(() => expect(existsSync(path)).to.equal(true));
            for (let n = 0; n < 500 && asides().length === 0; n++)
              // Where the writer makes it anew once more, after that, logrotate goes no further.
              await logrotate(setup.data, path, 'rotate 500\ncreate\nmissingok').catch((error) =>
                expect(String(error)).to.match(/error creating output file .*File exists/),
              );
          } finally {
            writer.kill('SIGKILL');
            await ended;
          }
          expect(asides(), 'what logrotate has put aside').to.have.lengthOf(1);
          const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
          for (const [, id] of texts.join('').matchAll(/"id":"(.*?)"/g))
            setup.expectedLines.row(String(id));
          await settles(service, setup);
        });
      }),
    );
});

/** Writes a line into a log whenever there is none, as soon as one process can. */
const MAKES_ANEW = `
  const { closeSync, openSync, writeSync } = require('node:fs');
  for (let n = 0; ; ) {
    let log;
    try {
      log = openSync(process.argv[1], 'ax');
    } catch {
      continue;
    }
    writeSync(log, '{"id":"anew-' + n++ + '"}\\n');
    closeSync(log);
  }
`;

describe('a file that is rotated by copying and truncating', () => {
  const rotations = LONG ? 50 : 6;
  faultCase(
    'T07',
    `${rotations} times at some thousand lines/s, with kill -9 meanwhile: doubles nothing, loses only what was written between copy and truncation`,
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
          await overKill(
            setup,
            async (service) => {
              await rotateSome(half, 0);
              // Until the last copy was seen, the bytes that it is known by are in memory alone.
              await eventually(async () =>
                expect((await ledger(service)).files).to.equal(half + 1),
              );
            },
            async () => {
              await rotateSome(half, half);
              writer.stop();
            },
            (service) => settles(service, setup),
          );
        } finally {
          writer.stop();
        }
        console.log(`      ${between} lines were written between copies and truncations`);
      }),
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
