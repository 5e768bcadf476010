import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { stagingFolder } from './batch/staging.ts';
import { createStoring } from './batch/storing.ts';
import { diskOf } from './files/disk.ts';
import { logNames, type NamePatterns } from './files/names.ts';
import { startWatch } from './files/watch.ts';
import { backlogBytes } from './identity/tracked-file.ts';
import { Tracker } from './identity/tracker.ts';
import { createRounds } from './rounds.ts';
import { allSources, type Source } from './source.ts';
import { isHot } from './tail/backlog.ts';
import { createLag } from './tail/lag.ts';
import { tailBytes } from './tail/tail.ts';
import type { IgnoredFile, IngestLog, LineReader, Sink, SourceStatus } from './types.ts';
import { INGEST_WAITS, type IngestWaits } from './waits.ts';
import { createWaker } from './wake-timer.ts';

export { BATCH_LINES, originOf } from './batch/batch.ts';
export { countForms } from './batch/undated-forms.ts';
export { createZstdUnpacker } from './files/frames.ts';
export { fileMatcher, type NamePatterns } from './files/names.ts';
export { KIND_BYTES, kindOf } from './files/packed-kinds.ts';
export type { Source } from './source.ts';
export {
  allSources,
  BUILT_IN_SOURCES,
  defineSources,
  isSource,
  SUPABASE_SOURCES,
  type SupabaseSource,
} from './source.ts';
export { MAX_DEPTH } from './tail/nesting.ts';
export type * from './types.ts';
export { INGEST_WAITS, type IngestWaits } from './waits.ts';

export interface IngestOptions {
  /** The drop folder; one folder a source below it. */
  readonly logs: string;
  /** Where batches are staged; `read_ndjson` of the sink must be allowed to read there. */
  readonly staging: string;
  /** Bytes of the longest line that is taken whole. */
  readonly maxLine: number;
  /** Returns the reader of the lines of a source's file, whose path is relative to `logs`. */
  readonly readerOf: (source: Source, path: string) => LineReader;
  /** Names of further logs by source. */
  readonly names?: NamePatterns;
  readonly log: IngestLog;
  readonly waits?: IngestWaits;
}

export interface Ingest {
  /** `trouble`: why lines cannot be stored; `noRoom`: the same, when that is what the sink has said. */
  status(): {
    sources: SourceStatus[];
    refused: readonly IgnoredFile[];
    lastError: string | null;
    noRoom: string | null;
  };
  /**
   * Forgets the file at a path (relative to `logs`) that its maker has removed for good: no copy of it will appear. Gives
   * whether that is done, which may take some seconds; until then it is to be asked again.
   */
  forget(path: string): Promise<boolean>;
  /** Stops at the border of a batch. */
  close(): Promise<void>;
}

/** How often files that have just changed are looked at; the others are once a sweep. */
const HOT_POLL_MS = 25;
/** While storing rests, nothing is taken from what is seen. A renamed file is held at once all the same. */
const REST_POLL_MS = 75;
/**
 * A commit costs as much for one line as for hundreds, so lines that come in all the time are stored in turns: storing has an eighth of the
 * time. It may have half a second in advance, so that a line that comes alone is stored at once, and is put off by no more than a quarter.
 */
const STORING_SHARE = 1 / 8;
const ADVANCE_MS = 500;
const REST_MS = 250;
/** Between two rounds that follow each other at once: requests have their turn. */
const PAUSE_MS = 5;
/** The first pause before lines are stored again that could not be stored; each further one is twice as long. */
const RETRY_MS = 100;

/**
 * Starts to follow the log files below `logs` and to hand their lines to the sink, until closed. The way of a line: scan and watch
 * find its file (files/), the tracker tells which file it is (identity/), `tail` takes its whole lines (tail/) into a batch (batch/),
 * and the sink stores the batch. Batches are stored while the next ones are filled; files that grow now go before the backlog.
 */
export async function startIngest(options: IngestOptions, sink: Sink): Promise<Ingest> {
  const { logs, staging, maxLine, readerOf, names = {} } = options;
  const { log, waits = INGEST_WAITS } = options;
  const storing = createStoring(stagingFolder(staging), sink, (states) =>
    tracker.files.committed(states),
  );
  const disk = diskOf(logs, tailBytes(maxLine), logNames(names));
  const tracker = new Tracker(disk, { ...sink, record: storing.record }, log, waits);
  const rounds = await createRounds({
    disk,
    tracker,
    storing,
    sink,
    maxLine,
    readerOf,
    log,
    waits,
  });
  const lag = createLag();
  const waker = createWaker();
  let stopping = false;
  let trouble: string | null = null;
  let noRoom: string | null = null;

  for (const source of allSources()) await makeDropFolder(join(logs, source));
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });

  let sweepAt = 0;
  /** When storing has had no more than its share. */
  let fairAt = 0;
  const watch = startWatch(logs, log, (paths, renamed) => {
    const now = performance.now();
    let known = 0;
    for (const file of tracker.files.values()) {
      // The unlinked file is not the one at its path by now.
      if (!file.entry || !paths.has(file.state.path)) continue;
      file.changedAt = now;
      known++;
    }
    sweepAt = Math.min(sweepAt, now + (known === paths.size ? waits.sweep / 4 : 0));
    waker.wake();
    // While lines are stored, which may take longer than a busy log lives.
    void tracker.held.holdAt(renamed);
  });
  const folders = () => [
    ...allSources(),
    ...[...tracker.files.values()].map(({ state }) => dirname(state.path)),
  ];

  const sweep = async () => {
    sweepAt = performance.now() + waits.sweep;
    await tracker.sweep();
    await watch.refresh(folders());
    await tracker.files.closeIdle();
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
    let retryMs = RETRY_MS;
    // The memory may be ahead of the store: nothing is taken before it is what the store says again.
    let stale = false;
    while (!stopping) {
      try {
        if (stale) await tracker.files.reload();
        stale = false;
        const begin = performance.now();
        const sweeps = begin >= sweepAt;
        if (sweeps) await sweep();
        await rounds.look();
        if (tracker.hasUndecided) await tracker.decideAll();
        lag.look(tracker.files.values(), performance.now());
        if (!(await hasRoom())) {
          await storing.stored();
          // Their space may be all that is wanting.
          await rounds.letGo(false);
          await sink.idle();
          await waker.sleep(waits.room, false);
          continue;
        }
        const worked = performance.now();
        const done = worked < fairAt ? 'rest' : await rounds.work();
        // Now and then however much there is to do: they take handles and space.
        if (sweeps || done === 'nothing') await rounds.letGo(true);
        if (done === 'backlog') continue;
        await storing.stored();
        const ended = performance.now();
        if (done === 'live')
          fairAt = Math.min(
            ended + REST_MS,
            Math.max(fairAt, worked - ADVANCE_MS) + (ended - worked) / STORING_SHARE,
          );
        retryMs = RETRY_MS;
        trouble = null;
        if (done === 'nothing') await sink.idle();
        const hot =
          done === 'live' ||
          done === 'rest' ||
          [...tracker.files.values()].some((file) => isHot(file, begin));
        const restsUntil = done === 'rest' ? Math.min(fairAt, begin + REST_POLL_MS) : begin;
        const dueAt = hot ? Math.max(restsUntil, begin + HOT_POLL_MS) : sweepAt;
        await waker.sleep(Math.max(PAUSE_MS, dueAt - performance.now()), !hot);
      } catch (error) {
        trouble = reasonOf(error);
        log.error({ err: error }, 'lines could not be stored; they are read again');
        if ((await storing.giveUp()) > 0) retryMs = RETRY_MS;
        // At once, so that what is pending is told right meanwhile; where that fails, too, the next round begins with it.
        stale = await tracker.files.reload().then(
          () => false,
          () => true,
        );
        if (!stale) await rounds.letGo(false).catch(() => {});
        await waker.sleep(retryMs, false);
        retryMs = Math.min(waits.retry, retryMs * 2);
      }
    }
    await storing.stored();
  };

  await tracker.files.reload();
  await sweep();
  const running = run();
  // The loop never rejects but for its last batch; close() reports that.
  running.catch(() => {});

  return {
    status() {
      const now = performance.now();
      // One pass: requests ask for this, and there may be very many files.
      const sources = allSources().map((source) => ({
        source,
        files: 0,
        copies: [] as SourceStatus['copies'][number][],
        pendingBytes: 0,
        lagMs: 0,
      }));
      const bySource = new Map(sources.map((status) => [status.source, status]));
      for (const file of tracker.files.values()) {
        const { state, copy } = file;
        const status = bySource.get(state.source);
        if (!status) continue;
        status.files++;
        status.pendingBytes += backlogBytes(file);
        status.lagMs = Math.max(status.lagMs, lag.ofFile(file, now));
        const original = copy && tracker.files.streams.get(copy.of);
        if (original) status.copies.push({ path: state.path, of: original.path });
      }
      return { sources, refused: tracker.refused, lastError: trouble, noRoom };
    },
    forget: (path) => tracker.files.forget(path),
    async close() {
      stopping = true;
      waker.wake();
      watch.close();
      await running.finally(() => tracker.close());
    },
  };
}

/** What an error says, and what those say that led to it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/** Group-writable, its group inherited, so that a shipper that runs as another user can write. */
async function makeDropFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // Not ours to change when it belongs to another user: then its owner has decided.
  await chmod(path, 0o2775).catch(() => {});
}
