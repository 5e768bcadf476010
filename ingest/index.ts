import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { BATCH_LINES, type OpenBatch, openBatch, StagingError } from './batch.ts';
import { Files, type TailedFile } from './files.ts';
import { isGzip } from './name.ts';
import { scan } from './scan.ts';
import { SOURCES, type Source } from './source.ts';
import { type OpenEnd, tail, tailBuffer } from './tail.ts';
import type { Batch, IngestLog, Refusal, Sink, SourceStatus } from './types.ts';
import { startWatch } from './watch.ts';

export { originOf } from './batch.ts';
export type { Source } from './source.ts';
export { isSource, SOURCES } from './source.ts';
export type * from './types.ts';

export interface IngestOptions {
  /** The drop folder; one folder a source below it. */
  readonly logs: string;
  /** Where batches are staged; `read_ndjson` of the sink must be allowed to read there. */
  readonly staging: string;
  /** Bytes of the longest line that is taken whole. */
  readonly maxLine: number;
  readonly log: IngestLog;
}

export interface Ingest {
  /** `trouble`: why lines can not be stored; `noRoom`: the same, when that is what the sink has said. */
  status(): {
    sources: SourceStatus[];
    refused: Refusal[];
    trouble: string | null;
    noRoom: string | null;
  };
  /** Stops at the border of a batch. */
  close(): Promise<void>;
}

/** Files that changed this recently are looked at every `HOT_POLL_MS`; the others by the sweep. */
const HOT_MS = 1000;
const HOT_POLL_MS = 25;
const SWEEP_MS = 1000;
/** A line without a newline is taken when its file has been quiet for this long. */
const QUIET_MS = 5000;
/** A file that grew this recently goes before the backlog, as long as it is no more than `LIVE_BYTES` behind. */
const LIVE_MS = 10_000;
const LIVE_BYTES = 4 * 1024 * 1024;
const RETRY_MAX_MS = 10_000;
/** How often a sink that has no room is asked again. */
const ROOM_MS = 1000;
const UTF_16 = 'it is UTF-16, and only UTF-8 is read';

/**
 * Starts to follow the log files below `logs` and to hand their lines to the sink, until closed. The walk of a line:
 * scan and watch find its file, `Files` knows which file it is, `tail` takes whole lines into a batch, the sink stores
 * the batch. One batch is stored while the next is filled; files that grow now go before the backlog.
 */
export async function startIngest(options: IngestOptions, sink: Sink): Promise<Ingest> {
  const { logs, staging, maxLine, log } = options;
  let storing: Promise<void> = Promise.resolve();
  let scanned: Promise<void> = Promise.resolve();
  // A state must not be recorded before the batch that led to it is stored.
  const record: Sink['record'] = async (states, forgotten) => {
    await storing;
    await sink.record(states, forgotten);
  };
  const files = new Files(logs, { ...sink, record }, log);
  const buffer = tailBuffer(maxLine);
  const waker = createWaker();
  let stopping = false;
  let trouble: string | null = null;
  let noRoom: string | null = null;
  let turn = 0;
  let maxLines = BATCH_LINES;

  for (const source of SOURCES) await makeDropFolder(join(logs, source));
  await mkdir(staging, { recursive: true, mode: 0o700 });

  let sweepAt = 0;
  const watch = await startWatch(logs, log, (path) => {
    const file = [...files.tailed.values()].find((candidate) => candidate.known.path === path);
    if (file) file.changedAt = performance.now();
    sweepAt = Math.min(sweepAt, performance.now() + (file ? SWEEP_MS / 4 : 0));
    waker.wake();
  });

  const sweep = async () => {
    sweepAt = performance.now() + SWEEP_MS;
    await watch.refresh();
    await files.reconcile(await scan(logs));
    await files.closeIdle();
  };

  const lookAtHotFiles = async () => {
    for (const file of files.tailed.values()) {
      if (isHot(file) || !file.found) {
        await files.look(file).catch((error) => files.fail(file, error));
      }
    }
  };

  /** Takes lines of these files, all of one source, into one batch, and hands it over once the last one is stored. */
  const store = async (source: Source, chosen: readonly TailedFile[], end?: OpenEnd) => {
    // The next batch is staged while the last one is committed, which leaves a core free, not while it is scanned.
    await scanned;
    const batch = await openBatch(source, join(staging, 'batch.ndjson'), maxLines);
    try {
      for (const file of chosen) {
        if (batch.room() === 0) break;
        await take(file, batch, end);
      }
    } finally {
      const filled = await batch.finish();
      await storing;
      if (!batch.empty()) {
        scanned = new Promise((resolve) => {
          storing = commit(filled, resolve).finally(resolve);
        });
        storing.catch(() => {});
      }
    }
  };

  const commit = async (batch: Batch, done: () => void) => {
    await sink.append(batch, done);
    maxLines = BATCH_LINES;
  };

  const take = async (file: TailedFile, batch: OpenBatch, end?: OpenEnd) => {
    const content = await files.open(file);
    if (!content) return;
    const { version } = file;
    const openEnd = end ?? (content.gzip ? 'take' : isQuiet(file) ? 'take-object' : 'leave');
    const undo = batch.mark();
    try {
      const result = await tail(content, file.known, file.long, batch, {
        maxLine,
        openEnd,
        buffer,
      });
      if (result.outcome === 'changed') return await files.replaced(file);
      if (result.outcome === 'utf16') return await files.refuse(file, UTF_16);
      const ended = result.outcome === 'end';
      const known = { ...result.known, finished: content.gzip && ended ? version : null };
      if (result.known !== file.known || known.finished) batch.file(known);
      files.advance(file, known, result.recent);
      file.long = result.long;
      if (ended) file.exhausted = version;
      if (openEnd !== 'leave') file.judged = version;
      if (known.finished) await files.release(file);
    } catch (error) {
      undo();
      if (error instanceof StagingError) throw error;
      await files.fail(file, error as NodeJS.ErrnoException);
    }
  };

  /** One round: what grows now, source by source, then one batch of the backlog. */
  const work = async (): Promise<'nothing' | 'live' | 'backlog'> => {
    const { live, backlog } = pending(files);
    for (const source of SOURCES) {
      const chosen = live.filter((file) => file.known.source === source);
      if (chosen.length === 0) continue;
      // Filled after the commit that runs, so that lines that come meanwhile are in it.
      await storing;
      await store(source, chosen);
    }
    // The oldest file first; every other turn belongs to a file that grows now, but is far behind.
    const growing = turn++ % 2 === 1 ? backlog.filter(isLive).at(-1) : undefined;
    const first = growing ?? backlog[0];
    if (!first) return live.length > 0 ? 'live' : 'nothing';
    const { source } = first.known;
    await store(source, [
      first,
      ...backlog.filter((file) => file !== first && file.known.source === source),
    ]);
    return 'backlog';
  };

  /** Files that no path leads to any more are read to their end, and let go. */
  const letGo = async () => {
    for (const file of [...files.tailed.values()]) {
      if (file.found || !file.content) continue;
      const { nlink } = await file.content.handle.stat();
      if (!files.isOver(file, nlink === 0)) continue;
      if (file.known.shadowOf === null) await store(file.known.source, [file], 'take');
      await storing;
      if (files.tailed.get(file.known.id) === file) await files.drop(file, nlink === 0);
    }
  };

  const hasRoom = async (): Promise<boolean> => {
    const reason = await sink.room();
    if (reason && !noRoom) log.warn({ reason }, 'nothing is stored until there is room');
    if (!reason && noRoom) log.info({}, 'there is room again, lines are stored');
    trouble = reason ?? (noRoom ? null : trouble);
    noRoom = reason;
    return reason === null;
  };

  const run = async () => {
    let retryMs = 100;
    while (!stopping) {
      try {
        if (performance.now() >= sweepAt) await sweep();
        await lookAtHotFiles();
        if (!(await hasRoom())) {
          await storing;
          await sink.idle();
          await waker.sleep(ROOM_MS, false);
          continue;
        }
        const done = await work();
        if (done === 'backlog') continue;
        await storing;
        retryMs = 100;
        trouble = null;
        if (done === 'nothing') {
          await letGo();
          await sink.idle();
        }
        const hot = done === 'live' || [...files.tailed.values()].some(isHot);
        await waker.sleep(hot ? HOT_POLL_MS : sweepAt - performance.now(), !hot);
      } catch (error) {
        trouble = error instanceof Error ? error.message : String(error);
        log.error({ err: error }, 'lines could not be stored; they are read again');
        await storing.catch(() => {});
        storing = Promise.resolve();
        // A batch that was too large for the memory may pass in parts.
        maxLines = Math.max(1024, Math.floor(maxLines / 4));
        await waker.sleep(retryMs, false);
        retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
        await files
          .reload()
          .catch((cause) => log.error({ err: cause }, 'the offsets could not be read'));
      }
    }
    await storing;
  };

  await files.reload();
  await sweep();
  const running = run();
  // The loop never rejects but for its last batch; close() reports that.
  running.catch(() => {});

  return {
    status() {
      const sources = SOURCES.map((source) => {
        const own = [...files.tailed.values()].filter((file) => file.known.source === source);
        return {
          source,
          files: own.length,
          pendingBytes: own.reduce((sum, file) => sum + behind(file), 0),
        };
      });
      return { sources, refused: files.refused, trouble, noRoom };
    },
    async close() {
      stopping = true;
      waker.wake();
      await watch.close();
      await running.finally(() => files.close());
    },
  };
}

/** Which files have something to take, oldest first: those that grow now, and the backlog. */
function pending(files: Files): { live: TailedFile[]; backlog: TailedFile[] } {
  const due = [...files.tailed.values()].filter(hasMore).sort((a, b) => a.mtimeMs - b.mtimeMs);
  const [live, backlog]: [TailedFile[], TailedFile[]] = [[], []];
  for (const file of due) (isLive(file) && behind(file) <= LIVE_BYTES ? live : backlog).push(file);
  return { live, backlog };
}

function hasMore(file: TailedFile): boolean {
  if (file.known.shadowOf !== null) return false;
  if (file.exhausted !== file.version) return true;
  // What is left is text without a newline; it is looked at once more when the file has been quiet.
  return behind(file) > 0 && isQuiet(file) && file.judged !== file.version;
}

/** Bytes that are still to be taken; of a `.gz`, before it was unpacked, its own. */
function behind(file: TailedFile): number {
  if (file.known.shadowOf !== null) return 0;
  if (isGzip(file.known.path)) return file.exhausted === file.version ? 0 : file.size;
  return Math.max(0, file.size - file.known.offset);
}

function isHot(file: TailedFile): boolean {
  return performance.now() - file.changedAt < HOT_MS;
}

function isLive(file: TailedFile): boolean {
  return performance.now() - file.grewAt < LIVE_MS;
}

function isQuiet(file: TailedFile): boolean {
  return performance.now() - file.changedAt >= QUIET_MS;
}

/** Group-writable, its group inherited, so that a shipper that runs as another user can write. */
async function makeDropFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // Not ours to change when it belongs to another user: then its owner has decided.
  await chmod(path, 0o2775).catch(() => {});
}

/** A sleep that an event can end. */
function createWaker() {
  let end: (() => void) | undefined;
  let awake = false;
  return {
    wake() {
      awake = true;
      end?.();
    },
    async sleep(ms: number, interruptible: boolean): Promise<void> {
      if (interruptible && awake) ms = 0;
      awake = false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, ms));
        end = () => {
          if (!interruptible) return;
          clearTimeout(timer);
          resolve();
        };
      });
      end = undefined;
    },
  };
}
