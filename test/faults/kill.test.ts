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
import type { LedgerEntry } from '../../server/store/index.ts';
import { edgeLines, seeded } from '../bench/lines.ts';
import {
  eventually,
  type Service,
  spawnService,
  withFolder,
  withService,
  withStore,
} from '../helpers.ts';
import { faultCase } from './case.ts';

const SOURCES = ['edge_logs', 'postgres_logs', 'auth_logs', 'function_logs'] as const;
/** Short lines: one full batch, and then four side by side, as far as there are processor cores. */
const BACKLOG_LINES = 650_000;
/** Lines as they come, less than a full batch. */
const EDGE_LINES = 100_000;

describe('kill -9', () => {
  faultCase(
    'D01a',
    'leaves every complete line as one row or one rejected line, whenever it comes',
    () =>
      withFolder(async (data) => {
        const random = seeded(20261120);
        const between = (least: number, most: number) => least + random() * (most - least);
        const written = newBooks();
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
            const rotating = rotateMeanwhile(writers, i, between(50, 1500));
            await round();
            await rotating;
            // Every third time the files are also rotated while nothing runs.
            if (i % 3 === 0) rotate(writers[i % writers.length] as Writer, i);
          }
        } finally {
          for (const writer of writers) await writer.stop();
        }

        await withService(data, async (service) => {
          await eventually(async () => {
            for (const source of SOURCES) {
              const { rows, rejected } = expected(written, source);
              const entry = await ledger(service, source);
              expect(entry).to.include({ rows, rejected, lines: rows + rejected, stored: rows });
            }
          }, 30_000);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        await compare(data, written);
      }),
  );
});

// What was written: texts of lines by source. A good line is known by its id, a bad one by its bytes.

interface Books {
  readonly rows: Map<Source, Set<string>>;
  readonly rejected: Map<Source, Set<string>>;
}

function newBooks(): Books {
  const empty = () => new Map<Source, Set<string>>(SOURCES.map((source) => [source, new Set()]));
  return { rows: empty(), rejected: empty() };
}

function expected(books: Books, source: Source) {
  return {
    rows: books.rows.get(source)?.size ?? 0,
    rejected: books.rejected.get(source)?.size ?? 0,
  };
}

/** The multisets of what is stored and what was written are the same. */
async function compare(data: string, books: Books) {
  await withStore(data, async (store) => {
    const counted = async (sql: string) => {
      const { rows } = await store.query(sql, {}, { maxRows: 10_000_000 });
      return new Map(rows.map(([text, count]) => [String(text), Number(count)]));
    };
    for (const source of SOURCES) {
      const rows = await counted(`select id, count(*) from ${source} group by id`);
      expect(differences(rows, books.rows.get(source)), `rows of ${source}`).to.deep.equal([]);
      const rejected = await counted(
        `select decode(line), count(*) from rejected where source = '${source}' group by line`,
      );
      expect(
        differences(rejected, books.rejected.get(source)),
        `rejected lines of ${source}`,
      ).to.deep.equal([]);
    }
  });
}

/** The first few differences, in words; what was written is there once each. */
function differences(stored: Map<string, number>, written: Set<string> = new Set()): string[] {
  const lost = [...written].filter((text) => !stored.has(text)).map((text) => `lost: ${text}`);
  const extra = [...stored]
    .filter(([text, count]) => count !== 1 || !written.has(text))
    .map(([text, count]) => `${written.has(text) ? `${count} times` : 'never written'}: ${text}`);
  return [...lost, ...extra].slice(0, 10);
}

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
function startWriter(data: string, source: Source, seed: number, books: Books): Writer {
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
      books.rejected.get(source)?.add(bad(id));
      return `${bad(id)}\n`;
    }
    books.rows.get(source)?.add(id);
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
  (id) => `{"id":"${id}","timestamp":"never"}`,
];

function* shortLines(): Generator<string> {
  const at = new Date().toISOString();
  const rest = `"timestamp":"${at}","project":"p","event_message":"m","metadata":{}}`;
  for (let n = 0; n < BACKLOG_LINES; n++) yield `{"id":"",${rest}`;
}

function writeBacklog(data: string, number: number, lines: Iterable<string>, books: Books) {
  const rows = books.rows.get('edge_logs');
  const file = openSync(join(data, 'logs', 'edge_logs', `.backlog-${number}.ndjson`), 'w');
  let block: string[] = [];
  let sequence = 0;
  const flush = () => {
    writeSync(file, block.join(''));
    block = [];
  };
  for (const text of lines) {
    const id = `backlog${number}-${String(sequence++).padStart(6, '0')}`;
    rows?.add(id);
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

/** Kills the service `afterMs` after it listens; half way through, the books must be in order. */
async function killWhileServing(data: string, written: Books, afterMs: number) {
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

async function booksAreInOrder(service: Service, written: Books) {
  const { status, body } = await service.get('/api/ledger');
  expect(status).to.equal(200);
  for (const entry of body.result as LedgerEntry[]) {
    if (!written.rows.has(entry.source)) continue;
    const most = expected(written, entry.source);
    expect(entry.lines, entry.source).to.equal(entry.rows + entry.rejected);
    expect(entry.rows, entry.source).to.be.at.most(most.rows);
    expect(entry.rejected, entry.source).to.be.at.most(most.rejected);
  }
}

async function ledger(service: Service, source: Source): Promise<LedgerEntry> {
  const { body } = await service.get('/api/ledger');
  const entry = (body.result as LedgerEntry[]).find((candidate) => candidate.source === source);
  if (!entry) throw new Error(`no ledger entry of ${source}`);
  return entry;
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
