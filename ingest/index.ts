import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { BATCH_LINES, type OpenBatch, openBatch, spaceFor } from './batch.ts';
import { behind, hasMore, isHot, isLive, isQuiet, pending } from './due.ts';
import { Files, SinkError } from './files.ts';
import { createLanes } from './lanes.ts';
import { scan } from './scan.ts';
import { SOURCES } from './source.ts';
import { StagingError } from './staging.ts';
import { type OpenEnd, tail, tailBuffer } from './tail.ts';
import type { TailedFile } from './tailed-file.ts';
import type { Batch, IngestLog, Refusal, Sink, SourceStatus } from './types.ts';
import { createWaker } from './waker.ts';
import { startWatch } from './watch.ts';

export { BATCH_LINES, originOf } from './batch.ts';
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
  /** Stops at the border of a batch. */
  close(): Promise<void>;
}

/** How often files that have just changed are looked at; the others are once a sweep. */
const HOT_POLL_MS = 25;
/** Between two rounds that follow each other at once: requests have their turn. */
const PAUSE_MS = 5;
const SWEEP_MS = 1000;
const RETRY_MAX_MS = 10_000;
/** How often a sink that has no room is asked again. */
const ROOM_MS = 1000;
const UTF_16 = 'it is UTF-16, and only UTF-8 is read';

/**
 * Starts to follow the log files below `logs` and to hand their lines to the sink, until closed. The walk of a line:
 * scan and watch find its file, `Files` knows which file it is, `tail` takes whole lines into a batch, the sink stores
 * the batch. Batches are stored while the next ones are filled; files that grow now go before the backlog.
 */
export async function startIngest(options: IngestOptions, sink: Sink): Promise<Ingest> {
  const { logs, staging, maxLine, log } = options;
  let storing: Promise<void> = Promise.resolve();
  // A state must not be recorded before the batch that led to it is stored. Of the batch that is being filled it is enough
  // that a file is in it once, and its state recorded before its lines are taken; `take` sees to the batches between.
  const record: Sink['record'] = async (states, forgotten) => {
    try {
      await storing;
      await sink.record(states, forgotten);
    } catch (cause) {
      throw new SinkError('a state could not be recorded', { cause });
    }
  };
  const files = new Files(logs, { ...sink, record }, log);
  const buffer = tailBuffer(maxLine);
  const waker = createWaker();
  const lanes = createLanes(sink);
  let stopping = false;
  let trouble: string | null = null;
  let noRoom: string | null = null;
  let turn = 0;
  let slot = 0;
  let maxLines = BATCH_LINES;

  for (const source of SOURCES) await makeDropFolder(join(logs, source));
  await rm(staging, { recursive: true, force: true });
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
    const hot = [...files.tailed.values()].filter((file) => isHot(file) || !file.found);
    await Promise.all(
      hot.map((file) => files.look(file).catch((error) => files.fail(file, error))),
    );
  };

  /**
   * Takes lines of these files into a batch a source, all together no more than one batch may hold, and hands them over
   * once the last ones are stored. The source of the first file comes first; when it has enough, it fills several batches.
   */
  const store = async (chosen: readonly TailedFile[], end?: OpenEnd) => {
    const batches: Batch[] = [];
    let space = spaceFor(maxLines);
    for (const source of new Set(chosen.map((file) => file.known.source))) {
      let own = chosen.filter((file) => file.known.source === source);
      let left = maxLines < BATCH_LINES ? 1 : await lanes.of(source, own);
      // What other sources have taken of it would leave the first one less than full.
      if (left > 1) space = spaceFor(maxLines);
      for (; left > 0; left--) {
        const path = join(staging, `batch-${slot}-${batches.length}.ndjson`);
        const open = openBatch(source, path, space);
        const waiting = new Set(batches.flatMap((batch) => batch.files.map(({ id }) => id)));
        const batch = await fill(own, open, waiting, end);
        if (batch) batches.push(batch);
        space = open.left();
        if (open.room() > 0) break;
        // What was replaced, refused or could not be read is followed as another file by now, or not at all.
        own = own.filter((file) => hasMore(file) && files.tailed.get(file.known.id) === file);
        if (left > 1) space = spaceFor(maxLines);
      }
      if (space.lines === 0) break;
    }
    await storing;
    if (batches.length === 0) return;
    // The staging files of this slot are read from now on: the next batches go to the other one.
    slot = 1 - slot;
    storing = commit(batches);
    storing.catch(() => {});
  };

  /** `waiting`: the ids of files of which the batches before this one hold lines. */
  const fill = async (
    own: readonly TailedFile[],
    batch: OpenBatch,
    waiting: ReadonlySet<number>,
    end?: OpenEnd,
  ) => {
    try {
      for (const file of own) {
        if (batch.room() === 0) break;
        await take(file, batch, waiting.has(file.known.id), end);
      }
    } catch (error) {
      await batch.finish().catch(() => {});
      throw error;
    }
    const filled = await batch.finish();
    lanes.note(filled);
    return batch.empty() ? null : filled;
  };

  const commit = async (batches: readonly Batch[]) => {
    await sink.append(batches);
    for (const { staging: path } of batches) await rm(path, { force: true });
    maxLines = BATCH_LINES;
  };

  /**
   * `waits`: batches that are not on their way to the sink yet hold lines of the file. If it changed meanwhile, what would
   * be recorded of it now is ahead of the store, and a copy of it would go on there: the next round sees to it.
   */
  const take = async (file: TailedFile, batch: OpenBatch, waits: boolean, end?: OpenEnd) => {
    if (waits && !file.content) return;
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
      if (result.outcome === 'changed') return waits ? undefined : await files.replaced(file);
      if (result.outcome === 'utf16') return await files.refuse(file, UTF_16);
      const ended = result.outcome === 'end';
      const known = { ...result.known, finished: content.gzip && ended ? version : null };
      if (result.known !== file.known || known.finished) batch.file(known);
      files.advance(file, known, result.recent);
      file.long = result.long;
      if (ended) file.exhausted = version;
      if (openEnd !== 'leave') file.judged = version;
      if (known.finished) await files.release(file);
      else if (ended) await files.closeSurplus(file);
    } catch (error) {
      undo();
      if (error instanceof StagingError || error instanceof SinkError) throw error;
      await files.fail(file, error as NodeJS.ErrnoException);
    }
  };

  /** One round: what grows now, of all sources at once, then one batch of the backlog. */
  const work = async (): Promise<'nothing' | 'live' | 'backlog'> => {
    const { live, backlog } = pending(files);
    if (live.length > 0) {
      // Filled after the commit that runs, so that lines that come meanwhile are in it.
      await storing;
      await store(live);
    }
    // The oldest file first; every other turn belongs to a file that grows now, but is far behind.
    const growing = turn++ % 2 === 1 ? backlog.filter(isLive).at(-1) : undefined;
    const first = growing ?? backlog[0];
    if (!first) return live.length > 0 ? 'live' : 'nothing';
    await store([first, ...backlog.filter((file) => file !== first)]);
    return 'backlog';
  };

  /** Files that no path leads to any more are read to their end, and let go. */
  const letGo = async () => {
    for (const file of [...files.tailed.values()]) {
      if (file.found || !file.content) continue;
      const { nlink } = await file.content.handle.stat();
      if (!files.isOver(file, nlink === 0)) continue;
      if (file.known.shadowOf === null) await store([file], 'take');
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
    // What is in memory may be ahead of the store: nothing is taken before it is what the store says again.
    let stale = false;
    while (!stopping) {
      try {
        if (stale) await files.reload();
        stale = false;
        const begin = performance.now();
        if (begin >= sweepAt) await sweep();
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
        const dueAt = hot ? begin + HOT_POLL_MS : sweepAt;
        await waker.sleep(Math.max(PAUSE_MS, dueAt - performance.now()), !hot);
      } catch (error) {
        trouble = error instanceof Error ? error.message : String(error);
        log.error({ err: error }, 'lines could not be stored; they are read again');
        await storing.catch(() => {});
        storing = Promise.resolve();
        // A batch that was too large for the memory may pass in parts.
        maxLines = Math.max(1024, Math.floor(maxLines / 4));
        stale = true;
        await waker.sleep(retryMs, false);
        retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
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

/** Group-writable, its group inherited, so that a shipper that runs as another user can write. */
async function makeDropFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // Not ours to change when it belongs to another user: then its owner has decided.
  await chmod(path, 0o2775).catch(() => {});
}
