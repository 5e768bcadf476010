import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createFill } from './batch/filling.ts';
import { longLineBudgets } from './batch/long-line-budget.ts';
import { createParallelism } from './batch/parallelism.ts';
import { createStoring } from './batch/storing.ts';
import { scan } from './files/scan.ts';
import { startWatch } from './files/watch.ts';
import { backlogBytes, type TrackedFile, untakenBytes } from './identity/tracked-file.ts';
import { Tracker } from './identity/tracker.ts';
import { SOURCES } from './source.ts';
import { isHot, isLive, pending } from './tail/backlog.ts';
import { createLag } from './tail/lag.ts';
import type { OpenEnd } from './tail/tail.ts';
import type { IngestLog, Refusal, Sink, SourceStatus } from './types.ts';
import { createWaker } from './waker.ts';

export { BATCH_LINES, originOf } from './batch/batch.ts';
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
    refused: readonly Refusal[];
    trouble: string | null;
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
/** Between two rounds that follow each other at once: requests have their turn. */
const PAUSE_MS = 5;
const SWEEP_MS = 1000;
const RETRY_MS = 100;
const RETRY_MAX_MS = 5_000;
/** How often a sink that has no room is asked again. */
const ROOM_MS = 1000;

/**
 * Starts to follow the log files below `logs` and to hand their lines to the sink, until closed. The walk of a line:
 * scan and watch find its file, `Files` knows which file it is, `tail` takes whole lines into a batch, the sink stores
 * the batch. Batches are stored while the next ones are filled; files that grow now go before the backlog.
 */
export async function startIngest(options: IngestOptions, sink: Sink): Promise<Ingest> {
  const { logs, staging, maxLine, log } = options;
  const storing = createStoring(staging, sink, (states) => tracker.committed(states));
  const tracker = new Tracker(logs, { ...sink, record: storing.record }, log);
  const fill = createFill({
    files: tracker,
    storing,
    parallelism: createParallelism(sink),
    maxLine,
    budgetOf: await longLineBudgets(sink, log),
    capacity: sink.capacity,
  });
  const lag = createLag();
  const waker = createWaker();
  let stopping = false;
  let trouble: string | null = null;
  let noRoom: string | null = null;
  let turn = 0;

  for (const source of SOURCES) await makeDropFolder(join(logs, source));
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });

  let sweepAt = 0;
  const watch = await startWatch(logs, log, (path) => {
    const file = [...tracker.files.values()].find((candidate) => candidate.state.path === path);
    if (file) file.changedAt = performance.now();
    sweepAt = Math.min(sweepAt, performance.now() + (file ? SWEEP_MS / 4 : 0));
    waker.wake();
  });

  const sweep = async () => {
    sweepAt = performance.now() + SWEEP_MS;
    await watch.refresh();
    await tracker.reconcile(await scan(logs));
    await tracker.closeIdle();
  };

  const lookAtHotFiles = async () => {
    const hot = [...tracker.files.values()].filter((file) => isHot(file) || !file.entry);
    await Promise.all(
      hot.map((file) => tracker.look(file).catch((error) => tracker.fail(file, error))),
    );
  };

  /** Fills batches while the last ones are stored, and hands them over then. */
  const store = async (chosen: readonly TrackedFile[], end?: OpenEnd) =>
    storing.begin(await fill(chosen, end));

  /** One round: what grows now, of all sources at once, then one batch of the backlog. */
  const work = async (): Promise<'nothing' | 'live' | 'backlog'> => {
    const { live, backlog } = pending(tracker.files.values());
    if (live.length > 0) {
      // Filled after the commit that runs, so that lines that come meanwhile are in it.
      await storing.stored();
      await store(live);
    }
    // The oldest file first; every other turn belongs to a file that grows now, but is far behind.
    const growing = turn++ % 2 === 1 ? backlog.filter(isLive).at(-1) : undefined;
    const first = growing ?? backlog[0];
    if (!first) return live.length > 0 ? 'live' : 'nothing';
    await store([first, ...backlog.filter((file) => file !== first)]);
    return 'backlog';
  };

  /** With what no newline closes, as long as there is progress: one batch need not hold all of it. */
  const storeToTheEnd = async (file: TrackedFile) => {
    let before: number;
    file.judged = null;
    do {
      before = file.state.offset;
      await store([file], 'take');
    } while (file.judged !== file.version && file.state.offset > before);
  };

  /** Files that no path leads to any more are read to their end, and let go; without room those that have been. */
  const letGo = async (room: boolean) => {
    for (const file of [...tracker.files.values()]) {
      if (file.entry || !file.content) continue;
      const { nlink } = await file.content.handle.stat();
      if (!tracker.isOver(file, nlink === 0)) continue;
      if (!file.copy && !file.undecided && untakenBytes(file) > 0) {
        if (!room) continue;
        await storeToTheEnd(file);
      }
      await storing.stored();
      if (tracker.files.get(file.state.id) === file) await tracker.drop(file);
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
    let retryMs = RETRY_MS;
    // What is in memory may be ahead of the store: nothing is taken before it is what the store says again.
    let stale = false;
    while (!stopping) {
      try {
        if (stale) await tracker.reload();
        stale = false;
        const begin = performance.now();
        const sweeps = begin >= sweepAt;
        if (sweeps) await sweep();
        await lookAtHotFiles();
        if (tracker.hasUndecided) await tracker.decideAll();
        lag.look(tracker.files.values(), performance.now());
        if (!(await hasRoom())) {
          await storing.stored();
          // Their space may be all that is wanting.
          await letGo(false);
          await sink.idle();
          await waker.sleep(ROOM_MS, false);
          continue;
        }
        const done = await work();
        // Now and then however much there is to do: they take handles and space.
        if (sweeps || done === 'nothing') await letGo(true);
        if (done === 'backlog') continue;
        await storing.stored();
        retryMs = RETRY_MS;
        trouble = null;
        if (done === 'nothing') await sink.idle();
        const hot = done === 'live' || [...tracker.files.values()].some(isHot);
        const dueAt = hot ? begin + HOT_POLL_MS : sweepAt;
        await waker.sleep(Math.max(PAUSE_MS, dueAt - performance.now()), !hot);
      } catch (error) {
        trouble = error instanceof Error ? error.message : String(error);
        log.error({ err: error }, 'lines could not be stored; they are read again');
        if ((await storing.giveUp()) > 0) retryMs = RETRY_MS;
        // At once, so that what is pending is told right meanwhile; where that fails, too, the next round begins with it.
        stale = await tracker.reload().then(
          () => false,
          () => true,
        );
        if (!stale) await letGo(false).catch(() => {});
        await waker.sleep(retryMs, false);
        retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
      }
    }
    await storing.stored();
  };

  await tracker.reload();
  await sweep();
  const running = run();
  // The loop never rejects but for its last batch; close() reports that.
  running.catch(() => {});

  return {
    status() {
      const now = performance.now();
      const sources = SOURCES.map((source) => {
        const own = [...tracker.files.values()].filter((file) => file.state.source === source);
        const copies = own.flatMap(({ state, copy }) => {
          const original = copy && tracker.files.get(copy.of);
          return original ? [{ path: state.path, of: original.state.path }] : [];
        });
        return {
          source,
          files: own.length,
          copies,
          pendingBytes: own.reduce((sum, file) => sum + backlogBytes(file), 0),
          lagMs: own.reduce((longest, file) => Math.max(longest, lag.ofFile(file, now)), 0),
        };
      });
      return { sources, refused: tracker.refused, trouble, noRoom };
    },
    forget: (path) => tracker.forget(path),
    async close() {
      stopping = true;
      waker.wake();
      await watch.close();
      await running.finally(() => tracker.close());
    },
  };
}

/** Group-writable, its group inherited, so that a shipper that runs as another user can write. */
async function makeDropFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // Not ours to change when it belongs to another user: then its owner has decided.
  await chmod(path, 0o2775).catch(() => {});
}
