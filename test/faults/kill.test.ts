import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Source } from '../../ingest/index.ts';
import { type Service, spawnService, withFolder, withService } from '../support/helpers.ts';
import { edgeLines } from '../support/lines.ts';
import { seeded } from '../support/random.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { endsWhole, ledger } from './lines.ts';

const SOURCES = ['edge_logs', 'postgres_logs', 'auth_logs', 'function_logs'] as const;
/** Short lines: one full batch, and then four side by side, as far as there are processor cores. */
const BACKLOG_LINES = LONG ? 650_000 : 150_000;
/** Lines as they come, less than a full batch. */
const EDGE_LINES = LONG ? 100_000 : 20_000;

describe('kill -9', () => {
  faultCase(
    'D01a',
    'leaves every complete line as one row or one rejected line, whenever it comes',
    () =>
      withFolder(async (data) => {
        const random = seeded(20261120);
        const between = (least: number, most: number) => least + random() * (most - least);
        const written = newExpectedLines();
        const writers = SOURCES.map((source, i) => startWriter(data, source, i + 1, written));
        let backlogs = 0;
        const dropBacklog = (lines: Iterable<string>) =>
          writeBacklog(data, backlogs++, lines, written);

        const rounds: (() => Promise<void>)[] = [
          // At the start: in the middle of loading, of migrating, of opening.
          () => killWhileStarting(data, between(5, 300)),
          () => killWhileStarting(data, between(400, 1200)),
          // In batches of the greatest size.
          async () => {
            dropBacklog(edgeLines(EDGE_LINES, { seed: 1, end: Date.now(), spanMs: 3.6e6 }));
            await killWhileServing(data, written, between(20, 500));
          },
          () => killWhileServing(data, written, between(500, 1500)),
          () => killWhileStarting(data, between(500, 1500)),
          async () => {
            dropBacklog(shortLines());
            await killWhileServing(data, written, between(600, 1200));
          },
          // In live tailing.
          () => killWhileServing(data, written, between(0, 100)),
          () => killWhileServing(data, written, between(1500, 2500)),
          // In the checkpoint of a stop, and in the one of an idle service.
          () => killWhileStopping(data, between(2, 60)),
          async () => {
            dropBacklog(shortLines());
            await killWhileStopping(data, between(60, 400));
          },
          async () => {
            for (const writer of writers) writer.pause();
            await killWhileServing(data, written, between(2000, 3200));
            for (const writer of writers) writer.resume();
          },
          () => killWhileStopping(data, between(5, 150)),
          () => killWhileStarting(data, between(5, 1500)),
        ];
        try {
          for (const [i, round] of rounds.entries()) {
            if (!LONG && i % 2 === 1) continue;
            const rotating = rotateMeanwhile(writers, i, between(50, 1500));
            await round();
            await rotating;
            // Every third time the files are also rotated while nothing runs.
            if (i % 3 === 0) rotate(writers[i % writers.length] as Writer, i);
          }
        } finally {
          for (const writer of writers) await writer.stop();
        }

        await endsWhole(data, written);
      }),
  );
});

// Writing.

interface Writer {
  readonly source: Source;
  readonly path: string;
  pause(): void;
  resume(): void;
  /** Runs `action` between two whole lines; `reopen`: the next line goes to a new file at the path. */
  between(action: () => void, reopen: boolean): void;
  stop(): Promise<void>;
}

/** Appends a few lines every few milliseconds, some of them bad, some in two writes, until stopped. */
function startWriter(
  data: string,
  source: Source,
  seed: number,
  expectedLines: ExpectedLines,
): Writer {
  const random = seeded(seed);
  const folder = join(data, 'logs', source);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'app.ndjson');
  let file = openSync(path, 'a');
  let sequence = 0;
  let paused = false;
  let stopped = false;
  let half = '';

  const line = () => {
    const id = `${source}-${sequence++}`;
    if (random() < 0.1) {
      const bad = BAD[Math.floor(random() * BAD.length)] as (id: string) => string;
      expectedLines.bad(bad(id), source);
      return `${bad(id)}\n`;
    }
    expectedLines.row(id, source);
    const at = new Date(Date.now()).toISOString();
    const filler = 'x'.repeat(Math.floor(random() * 200));
    return random() < 0.3
      ? `{"id":"${id}","time":"${at}","msg":"flat ${filler}","n":${sequence}}\n`
      : `{"id":"${id}","timestamp":"${at}","project":"p","event_message":"${filler}","metadata":{"n":${sequence}}}\n`;
  };
  const finishLine = () => {
    if (half) writeSync(file, half);
    half = '';
  };
  const running = (async () => {
    while (!stopped) {
      await delay(5 + random() * 25);
      if (paused) continue;
      finishLine();
      let text = '';
      for (let count = 1 + Math.floor(random() * 10); count > 0; count--) text += line();
      const cut = random() < 0.3 ? text.length - Math.ceil(random() * 30) : text.length;
      half = text.slice(cut);
      writeSync(file, text.slice(0, cut));
    }
    finishLine();
    closeSync(file);
  })();

  return {
    source,
    path,
    pause() {
      finishLine();
      paused = true;
    },
    resume() {
      paused = false;
    },
    between(action, reopen) {
      finishLine();
      action();
      if (!reopen) return;
      closeSync(file);
      file = openSync(path, 'a');
    },
    stop() {
      stopped = true;
      return running;
    },
  };
}

/** Lines that no row comes of, each with its sequence number. */
const BAD: readonly ((id: string) => string)[] = [
  (id) => `bad ${id}`,
  (id) => `["${id}"]`,
  (id) => `{"id":"${id}", broken}`,
  (id) => `{"id":"${id}"}{"id":"again"}`,
  (id) => `{"id":"${id}","timestamp":never}`,
];

function* shortLines(): Generator<string> {
  const at = new Date().toISOString();
  const rest = `"timestamp":"${at}","project":"p","event_message":"m","metadata":{}}`;
  for (let n = 0; n < BACKLOG_LINES; n++) yield `{"id":"",${rest}`;
}

function writeBacklog(
  data: string,
  number: number,
  lines: Iterable<string>,
  expectedLines: ExpectedLines,
) {
  const file = openSync(join(data, 'logs', 'edge_logs', `.backlog-${number}.ndjson`), 'w');
  let block: string[] = [];
  let sequence = 0;
  const flush = () => {
    writeSync(file, block.join(''));
    block = [];
  };
  for (const text of lines) {
    const id = `backlog${number}-${String(sequence++).padStart(6, '0')}`;
    expectedLines.row(id);
    block.push(`{"id":"${id}",${text.slice(text.indexOf(',') + 1)}\n`);
    if (block.length === 5000) flush();
  }
  flush();
  closeSync(file);
  const folder = join(data, 'logs', 'edge_logs');
  renameSync(join(folder, `.backlog-${number}.ndjson`), join(folder, `backlog-${number}.ndjson`));
}

// Rotating.

/** Rotates the files of all sources after a while, one way for two of them, the other way for the others. */
async function rotateMeanwhile(writers: readonly Writer[], round: number, afterMs: number) {
  await delay(afterMs);
  for (const [i, writer] of writers.entries()) {
    if ((round + i) % 2 === 0) rotate(writer, round + i);
  }
}

function rotate(writer: Writer, turn: number) {
  if (turn % 4 < 2) writer.between(() => shift(writer.path), true);
  else writer.between(() => copyTruncate(writer.path), false);
}

/** As logrotate does by default: app.ndjson → app.ndjson.1 → app.ndjson.2 … */
function shift(path: string) {
  for (let number = generations(path); number >= 1; number--)
    renameSync(`${path}.${number}`, `${path}.${number + 1}`);
  renameSync(path, `${path}.1`);
}

/** As logrotate does with `copytruncate`, while nothing is written. */
function copyTruncate(path: string) {
  for (let number = generations(path); number >= 1; number--)
    renameSync(`${path}.${number}`, `${path}.${number + 1}`);
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

function generations(path: string): number {
  return readdirSync(join(path, '..')).filter((name) => /^app\.ndjson\.\d+$/.test(name)).length;
}

// Killing.

/** Kills the service `afterMs` after it was started, whatever it has come to by then. */
async function killWhileStarting(data: string, afterMs: number) {
  const { child, errors } = spawnService(data);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await delay(afterMs);
  expect(child.exitCode, errors.join('\n')).to.equal(null);
  child.kill('SIGKILL');
  await ended;
}

/** Kills the service `afterMs` after it listens; half way through, the expectedLines must be in order. */
async function killWhileServing(data: string, written: ExpectedLines, afterMs: number) {
  await withService(data, async (service) => {
    await delay(afterMs / 2);
    // The answer may come too late: then the kill ends it.
    const checked = booksAreInOrder(service, written).catch((error) => {
      if (!(error instanceof TypeError)) throw error;
    });
    await delay(afterMs / 2);
    expect(service.child.exitCode).to.equal(null);
    expect(await service.end('SIGKILL')).to.equal('SIGKILL');
    await checked;
  });
}

async function booksAreInOrder(service: Service, written: ExpectedLines) {
  for (const entry of await ledger(service)) {
    const most = written.expected(entry.source);
    expect(entry.lines, entry.source).to.equal(entry.rows + entry.rejected);
    expect(entry.rows, entry.source).to.be.at.most(most.rows);
    expect(entry.rejected, entry.source).to.be.at.most(most.rejected);
  }
}

/** Kills the service in the checkpoint that ends it, or near it. */
async function killWhileStopping(data: string, afterMs: number) {
  await withService(data, async (service) => {
    await delay(500);
    service.child.kill('SIGTERM');
    await delay(afterMs);
    // It may have come to its end by itself.
    expect(await service.end('SIGKILL')).to.be.oneOf(['SIGKILL', 0]);
  });
}
