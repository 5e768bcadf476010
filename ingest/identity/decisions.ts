import { isDeepStrictEqual } from 'node:util';
import type { Content } from '../files/content.ts';
import { formOf } from '../files/form.ts';
import type { Ignored } from '../files/ignored.ts';
import type { FileState, IngestLog, Sink } from '../types.ts';
import type { IngestWaits } from '../waits.ts';
import { type Facts, factsOf } from './facts.ts';
import { type Decision, identify } from './identify.ts';
import { HEAD_BYTES, resumedAt, UNREAD, withEndOfCopy } from './proofs.ts';
import type { TrackedFile } from './tracked-file.ts';
import type { TrackedFiles } from './tracked-files.ts';

/** The sink failed: not the fault of the file that is looked at. */
export class SinkError extends Error {}

/** A file that is being put back also grows within so many sweeps: where storing takes long, its bytes come while nobody looks. */
const AT_REST_SWEEPS = 4;

const PARTED = 'file differs from the log that it appeared to copy; reading it from its start';
const WAITING =
  'it begins like another log, and is too short to tell from it; it is read when it differs, or has not grown for some seconds';
const RESTARTED =
  'file holds other bytes than those read before at its path; reading it from its start';
const OLDER =
  'file holds the beginning of what was read before; reading on behind what is proven, lines after that may be stored twice';

/** A file that is read from its start though its path was known: the streams that may have ended there. */
interface Restart {
  readonly path: string;
  readonly ended: readonly number[];
}

export interface DecisionsOptions {
  readonly files: TrackedFiles;
  readonly ignored: Ignored;
  readonly sink: Pick<Sink, 'record'>;
  readonly log: IngestLog;
  readonly waits: IngestWaits;
}

export type Decisions = ReturnType<typeof createDecisions>;

/**
 * Decides which file each undecided one is: reads the facts, asks `identify`, and does what it says. Decides on a copy again when what
 * made it one may no longer be so.
 */
export function createDecisions({ files, ignored, sink, log, waits }: DecisionsOptions) {
  const { streams } = files;
  const restarts: Restart[] = [];

  return {
    /** How many files were read from their start though their paths were known, and were not named yet. */
    restarted: () => restarts.length,
    decideAll,
    nameRestarts,
    isCopyInDoubt,
  };

  /** Decides on all undecided files, and on the copies whose decision has lost its ground. */
  async function decideAll(now: number): Promise<void> {
    for (const file of files.values()) if (file.copy && isCopyInDoubt(file)) files.doubt(file);
    for (const file of inOrder()) await decide(file, now);
  }

  /** Undecided files whose inode is known come first, then those at a known path; of these the largest, as smaller ones may be its copies. */
  function inOrder(): TrackedFile[] {
    const nearness = (file: TrackedFile) => {
      const { inode, path } = streams.known(file.state, file.state.id);
      return inode ? 2 : path ? 1 : 0;
    };
    return [...files.undecided]
      .map((file) => ({ file, near: nearness(file) }))
      .sort(
        (a, b) => b.near - a.near || b.file.size - a.file.size || a.file.mtimeMs - b.file.mtimeMs,
      )
      .map(({ file }) => file);
  }

  /** Names the first `count` restarts: what stood at their paths may have ended unread, unless a file holds it or it was read to its end. */
  async function nameRestarts(count: number): Promise<void> {
    for (const { path, ended } of restarts.splice(0, count)) {
      const gone = ended.flatMap((id) => {
        const stream = files.get(id) ? undefined : streams.get(id);
        return stream && stream.offset > 0 ? [{ ...stream, gone: true }] : [];
      });
      const last = gone.at(-1);
      if (!last) continue;
      log.warn({ file: path, known_offset: last.offset }, RESTARTED);
      await sink.record(gone, []);
      for (const stream of gone) streams.put(stream);
    }
  }

  async function decide(file: TrackedFile, now: number): Promise<void> {
    if (!file.undecided) return;
    if (file.waiting === file.version && !hasWaited(file, now))
      return ignored.add(file.state, WAITING);
    // An empty file is opened as long as handles are left, so that its growth is seen at once.
    if (file.size === 0 && !file.content && files.isFull()) return;
    const content = await files.open(file);
    // It was moved, or may not be read, which is named: if it is there at the next sweep, it is met anew.
    if (!content) return files.untrack(file);
    try {
      if (file.size > 0) await decideOpen(file, content, now);
      await files.closeSurplus(file);
    } catch (error) {
      if (error instanceof SinkError) throw error;
      await files.fail(file, error as NodeJS.ErrnoException);
    }
  }

  async function decideOpen(file: TrackedFile, content: Content, now: number): Promise<void> {
    const head = Buffer.alloc(content.packed ? HEAD_BYTES : Math.min(HEAD_BYTES, file.size));
    const start = head.subarray(0, await content.read(head, 0));
    const form = await formOf(content, start);
    if (form === 'empty' || (form === 'unclear' && !hasWaited(file, now))) return;
    // It was empty when it was opened as text: it is opened again.
    if (form === 'packed') return files.release(file);
    if (typeof form === 'object') return files.refuse(file, form.refused);
    const facts = await factsOf(file, content, start, files, now);
    if (!facts) return;
    await apply(file, content, identify(facts, facts.candidates), facts, now);
    if (!file.undecided && !file.copy) files.begin(file, start);
  }

  async function apply(
    file: TrackedFile,
    content: Content,
    decision: Decision,
    { candidates, size }: Facts,
    now: number,
  ): Promise<void> {
    const { source, path, inode, birth } = file.state;
    const place = { source, path, inode, birth, gone: false };
    if (decision.kind === 'copy') {
      if (!decision.isPart) await proveEnd(content, decision);
      return becomeCopy(file, decision);
    }
    if (decision.kind === 'continue') {
      const stream = streams.get(decision.id);
      if (!stream) throw new Error(`BUG: no stream ${decision.id}`);
      const holder = files.get(decision.id);
      const same = stream.inode === inode && stream.finished === file.version;
      const state = { ...stream, ...place, finished: same ? stream.finished : null };
      if (!isDeepStrictEqual(state, stream)) await files.recordUnlessNew([state]);
      if (holder?.entry) files.meetAgain(holder);
      else if (holder) await files.untrack(holder);
      files.become(file, state);
      if (stream.path !== path)
        log.info({ file: path, before: stream.path, offset: state.offset }, 'file goes on');
      return;
    }
    const waited = hasWaited(file, now);
    if (decision.kind === 'wait' && !waited) {
      file.copy = null;
      file.waiting = file.version;
      return ignored.add(file.state, WAITING);
    }
    // It may still be on its way back.
    if (decision.kind === 'resume' && decision.isOpen && !waited) return;
    if (decision.kind === 'resume' && (await resume(file, content, decision, place, size))) return;
    if (file.copy) log.info({ file: path, original: streams.get(file.copy.of)?.path }, PARTED);
    const there = candidates.filter(
      ({ id, relation }) => relation !== 'same-start' && !streams.get(id)?.gone,
    );
    const ended = file.truncated === null ? there.map(({ id }) => id) : [file.truncated];
    restarts.push({ path, ended });
    files.become(file, { ...file.state, ...UNREAD });
  }

  /** Begins a stream that begins as another one does up to `at`, in the line that stands there. Returns false if that is the first line. */
  async function resume(
    file: TrackedFile,
    content: Content,
    { of, at }: Extract<Decision, { kind: 'resume' }>,
    place: Omit<FileState, 'id' | keyof typeof UNREAD>,
    size: number | null,
  ): Promise<boolean> {
    const original = streams.get(of);
    // An older copy that ends in half a line: the whole line was taken.
    const ends = !files.get(of) && !original?.proofs.some((proof) => proof.at === at);
    const { offset, ...rest } = await resumedAt(content, original ?? UNREAD, at, ends);
    if (offset === 0) return false;
    const state = { ...UNREAD, ...place, id: streams.newId(), offset, ...rest };
    await sink.record([state], []);
    files.become(file, state);
    const facts = { file: place.path, original: original?.path, offset };
    if (offset !== size) log.warn({ ...facts, known_offset: original?.offset }, OLDER);
    return true;
  }

  function becomeCopy(
    file: TrackedFile,
    { of, equal, isPart }: Omit<Extract<Decision, { kind: 'copy' }>, 'kind'>,
  ): void {
    const original = streams.get(of);
    if (file.copy?.of !== of)
      log.debug({ file: file.state.path, original: original?.path }, 'file is a copy');
    const taken = Math.min(equal, original?.offset ?? 0);
    file.copy = { of, equal, taken, versions: versionsOf(file, of, equal) };
    if (!isPart) files.settle(file);
  }

  /** Proves where a copy ends in what was taken of its original, so that it is known when the original is gone. */
  async function proveEnd(
    content: Content,
    { of, equal }: Extract<Decision, { kind: 'copy' }>,
  ): Promise<void> {
    const original = files.get(of);
    if (!original) return;
    const { offset, proofs } = original.state;
    const there = proofs.find(({ at }) => at === equal);
    if (equal > offset || there?.endsCopy) return;
    const all = await withEndOfCopy(content, proofs, equal);
    if (!all) return;
    files.advance(original, { ...original.state, proofs: all });
    // Otherwise the batch records it that takes the next lines.
    if (!there) await files.recordUnlessNew([original.state]);
  }

  /** Whether what made a file a copy may no longer be so. */
  function isCopyInDoubt(file: TrackedFile): boolean {
    if (!file.copy) return false;
    const { of, equal, versions } = file.copy;
    return versions !== versionsOf(file, of, equal);
  }

  /**
   * Changes whenever a copy has to be compared again: when it changed, when another file holds the original, and, until everything that
   * was compared was read of the original, when that one changed. A packed copy, which has to be unpacked for it, is only compared when
   * the original has become shorter, and at the end.
   */
  function versionsOf(file: TrackedFile, of: number, equal: number): string {
    const holder = files.get(of);
    const isKnown = streams.get(of) !== undefined;
    if (!holder) return `${file.version} ${isKnown} ${file.entry === null}`;
    const isTaken = holder.state.offset >= equal;
    const rests = isTaken || (file.content?.packed && holder.size >= equal);
    const { inode } = holder.state;
    return `${file.version} ${inode} ${rests ? isTaken : holder.version} ${file.entry === null}`;
  }

  /** Tells whether a file has waited long enough for more bytes to tell which file it is. A file that no path leads to does not wait. */
  function hasWaited(file: TrackedFile, now: number): boolean {
    const { changedAt, unchanged, entry, undecidedSince } = file;
    const isAtRest = now - changedAt >= waits.atRest && unchanged >= AT_REST_SWEEPS;
    return entry === null || isAtRest || now - undecidedSince >= waits.undecided;
  }
}
