import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Presets, SingleBar } from 'cli-progress';
import { createZstdUnpacker, KIND_BYTES, kindOf } from '../../ingest/index.ts';
import { Sequence } from '../push/index.ts';
import { type Reached, Refused, type Remote, withService } from './service-client.ts';
import { inWords } from './system-errors.ts';
import { counted } from './table.ts';

export interface ImportOptions extends Remote {
  readonly source: string;
  /** The project of lines that name none. */
  readonly project?: string;
  /** Lines at the beginning that are left out. */
  readonly skip?: number;
  readonly json?: boolean;
}

/** Bytes of lines in one request; a longer line goes alone. */
const REQUEST_BYTES = 4 * 1024 * 1024;
/** What can be pushed. */
const LINE_BYTES = 12e6;
const LINE_TOO_LONG =
  'A line is longer than 12 MB, which cannot be pushed: put the file into the drop folder.';
const LF = 0x0a;
const CHUNK_BYTES = 64 * 1024;
const LOOK_MS = 200;
/** After this time without a line more, what is still to come is left to the ledger. */
const STILL_MS = 30_000;

interface Counts {
  readonly lines: number;
  readonly rows: number;
  readonly rejected: number;
  readonly pending_bytes: number;
}

/**
 * Sends the lines of files in, one request after the other, and waits until they are stored. Stops at the first that is not
 * taken, and says how many lines were: with `--skip` it goes on there. Returns 1 where all lines were rejected.
 */
export async function importFiles(
  files: readonly string[],
  options: ImportOptions,
): Promise<0 | 1> {
  const total = files.reduce((sum, file) => sum + (file === '-' ? 0 : sizeOf(file)), 0);
  const bar = new SingleBar(
    {
      format: '{bar} {percentage}% | {lines} lines | {duration_formatted}',
      stream: process.stderr,
      hideCursor: true,
    },
    Presets.rect,
  );
  return withService<0 | 1>(options, 'ingests', async ({ ask }) => {
    const before = await counts(ask, options.source);
    const begin = performance.now();
    let [read, sent] = [0, 0];
    const skip: Skip = { left: options.skip ?? 0 };
    const shown = process.stderr.isTTY && total > 0;
    if (shown) bar.start(total, 0, { lines: 0 });
    try {
      for (const file of files) {
        const bytes = await bytesOf(file, (count) => {
          read += count;
        });
        for await (const { lines, count } of requests(linesOf(bytes), skip)) {
          if (count === 0) continue;
          await push(ask, options, lines);
          sent += count;
          if (shown) bar.update(Math.min(read, total), { lines: sent });
        }
      }
    } catch (error) {
      const done = (options.skip ?? 0) - skip.left + sent;
      throw new Error(
        `${inWords(error)}\n${counted(sent, 'line')} taken; go on with --skip ${done}.`,
        { cause: error },
      );
    } finally {
      if (shown) bar.stop();
    }
    const after = await settled(ask, options.source, before.lines + sent);
    const summary = {
      source: options.source,
      lines: sent,
      rows: after.rows - before.rows,
      rejected: after.rejected - before.rejected,
      seconds: Math.round(performance.now() - begin) / 1000,
    };
    if (options.json) console.log(JSON.stringify(summary));
    else
      console.log(
        `${counted(sent, 'line')} sent to ${options.source} in ${summary.seconds} s. Stored meanwhile: ${counted(summary.rows, 'row')}, ${counted(summary.rejected, 'rejected line')}.`,
      );
    return summary.rows === 0 && summary.rejected > 0 ? 1 : 0;
  });
}

function sizeOf(file: string): number {
  const found = statSync(file);
  if (found.isDirectory()) throw new Error(`${file} is a folder, where a file is expected.`);
  return found.size;
}

/** Returns what a file holds, unpacked if it is gzip or zstd, whatever its name. `onRead` is told of the file's own bytes. */
async function bytesOf(file: string, onRead: (count: number) => void): Promise<Readable> {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file);
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let start = Buffer.alloc(0);
  for (let isDone = false; start.length < KIND_BYTES && !isDone; ) {
    const { done = false, value } = await chunks.next();
    if (!done) start = Buffer.concat([start, value]);
    isDone = done;
  }
  const kind = kindOf(start);
  const unpacker =
    kind?.name === 'zstd'
      ? createZstdUnpacker?.(CHUNK_BYTES)
      : kind?.unpack?.({ chunkSize: CHUNK_BYTES });
  if (kind && !unpacker)
    throw new Error(
      `${file} is packed by ${kind.name}, which cannot be unpacked: unpack it first.`,
    );
  const all = Readable.from(
    (async function* () {
      for (let chunk = start; chunk; chunk = (await chunks.next()).value) {
        onRead(chunk.length);
        yield chunk;
      }
    })(),
    { objectMode: false },
  );
  if (!unpacker) return all;
  all.once('error', (error) => unpacker.destroy(error));
  return all.pipe(unpacker);
}

/** Yields the bytes of a file as lines: one a value, whatever stands between values. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const sequence = new Sequence({ hasText: true });
  for await (const chunk of bytes) yield* sequence.take(chunk);
  yield* sequence.end();
}

/** Lines that are still to be left out. */
interface Skip {
  left: number;
}

/** Lines of one request. */
interface Part {
  readonly lines: Buffer;
  readonly count: number;
}

/** Whole lines, as many as go into one request; a last one without a newline gets one. */
async function* requests(bytes: AsyncIterable<Buffer>, skip: Skip): AsyncGenerator<Part> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    rest.push(chunk);
    size += chunk.length;
    if (size < REQUEST_BYTES) continue;
    // Put together only where a line ends: a long one would be copied again and again.
    if (!rest.some((each) => each.includes(LF))) {
      if (size > LINE_BYTES) throw new Error(LINE_TOO_LONG);
      continue;
    }
    const all = Buffer.concat(rest);
    const end = all.lastIndexOf(LF) + 1;
    rest = [all.subarray(end)];
    size = all.length - end;
    yield unskipped(all.subarray(0, end), skip);
  }
  const last = Buffer.concat(rest);
  if (last.length > 0)
    yield unskipped(last.at(-1) === LF ? last : Buffer.concat([last, Buffer.of(LF)]), skip);
}

/** The lines behind those that are left out, and how many they are. */
function unskipped(whole: Buffer, skip: Skip): Part {
  let [from, begin, count] = [0, 0, 0];
  for (let at = whole.indexOf(LF); at >= 0; at = whole.indexOf(LF, begin)) {
    if (skip.left > 0) {
      skip.left--;
      from = at + 1;
    } else count++;
    begin = at + 1;
  }
  return { lines: whole.subarray(from), count };
}

/** Sends lines until they are taken; waits where the service says so. */
async function push(
  ask: Reached['ask'],
  { source, project }: Pick<ImportOptions, 'source' | 'project'>,
  lines: Buffer,
): Promise<void> {
  const search = project === undefined ? '' : `?${new URLSearchParams({ project })}`;
  for (;;) {
    try {
      await ask(`/api/logs/${source}${search}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson' },
        body: new Uint8Array(lines),
      });
      return;
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 503 && error.status !== 429))
        throw error;
      await delay(error.retryAfterS * 1000);
    }
  }
}

async function settled(ask: Reached['ask'], source: string, lines: number): Promise<Counts> {
  let last = await counts(ask, source);
  for (let since = performance.now(); last.lines < lines || last.pending_bytes > 0; ) {
    if (performance.now() - since > STILL_MS) return last;
    await delay(LOOK_MS);
    const now = await counts(ask, source);
    if (now.lines > last.lines) since = performance.now();
    last = now;
  }
  return last;
}

async function counts(ask: Reached['ask'], source: string): Promise<Counts> {
  const answer = await ask('/api/ledger');
  const { result } = (await answer.json()) as { result: (Counts & { source: string })[] };
  const entry = result.find((each) => each.source === source);
  if (!entry) throw new Error(`The ledger has no source ${source}.`);
  return entry;
}
