import { isDeepStrictEqual } from 'node:util';
import type { Content } from '../files/content.ts';
import { DOCUMENT_BYTES, isDocument } from '../files/document.ts';
import type { Ignored } from '../files/ignored.ts';
import { kindOf, mayBePacked } from '../files/packed-kinds.ts';
import type { FileState, IngestLog, Sink } from '../types.ts';
import type { IngestWaits } from '../waits.ts';
import { type Facts, factsOf } from './facts.ts';
import { type Decision, identify } from './identify.ts';
import { HEAD_BYTES, resumedAt, UNREAD, withProofAt } from './proofs.ts';
import type { Streams } from './streams.ts';
import type { TrackedFile } from './tracked-file.ts';
import type { TrackedFiles } from './tracked-files.ts';

type Known = ReturnType<Streams['known']>;

/** Four passes: same inode, same path, everything else, older copies. Each names the files that it looks at, and the decisions that it takes. */
const PASSES: readonly {
  readonly concerns: (known: Known) => boolean;
  readonly takes: (decision: Decision) => boolean;
}[] = [
  {
    concerns: ({ inode }) => inode,
    takes: (decision) => decision.kind === 'continue' && decision.relation === 'same-file',
  },
  {
    concerns: ({ path }) => path,
    takes: (decision) => decision.kind === 'continue' && decision.relation === 'same-path',
  },
  { concerns: () => true, takes: ({ kind }) => kind !== 'resume' },
  { concerns: () => true, takes: () => true },
];

/** The sink failed: not the fault of the file that is looked at. */
export class SinkError extends Error {}

/** A file that is being put back also grows within so many sweeps: where storing takes long, its bytes come while nobody looks. */
const AT_REST_SWEEPS = 4;

const DOCUMENT =
  'it is one JSON document over many lines; write each object into a line of its own, as `jq -c .[]` does';
const PARTED = 'file differs from the log that it appeared to copy; reading it from its start';
const WAITING =
  'it begins like another log, and is too short to tell from it; it is read when it differs, or has not grown for some seconds';
const RESTARTED =
  'file holds other bytes than those read before at its path; reading it from its start';
const OLDER =
  'file holds the beginning of what was read before; reading on behind what is proven, lines after that may be stored twice';

/** A file that is read from its start though its path was known: the streams that were known there. */
interface Restart {
  readonly path: string;
  readonly known: readonly number[];
  readonly truncated: boolean;
}

export interface DecisionsOptions {
  readonly files: TrackedFiles;
  readonly ignored: Ignored;
  readonly sink: Pick<Sink, 'record'>;
  readonly log: IngestLog;
  readonly waits: IngestWaits;
}

/**
 * Decides which file each undecided one is: reads the facts, asks `identify`, and does what it says. Decides on a copy again when what
 * made it one may no longer be so.
 */
export class Decisions {
  /** How many files were read from their start though their paths were known, and were not named yet. */
  get restarted(): number {
    return this.restarts.length;
  }

  private readonly restarts: Restart[] = [];
  private readonly files: TrackedFiles;
  private readonly streams: Streams;
  private readonly ignored: Ignored;
  private readonly sink: Pick<Sink, 'record'>;
  private readonly log: IngestLog;
  private readonly waits: IngestWaits;

  constructor({ files, ignored, sink, log, waits }: DecisionsOptions) {
    this.files = files;
    this.streams = files.streams;
    this.ignored = ignored;
    this.sink = sink;
    this.log = log;
    this.waits = waits;
  }

  /** Decides on all undecided files, and on the copies whose decision has lost its ground. */
  async decideAll(now: number): Promise<void> {
    for (const file of this.files.values())
      if (file.copy && this.isCopyInDoubt(file)) this.files.doubt(file);
    if (this.files.undecided().size === 0) return;
    for (const { concerns, takes } of PASSES)
      for (const file of inOrder(
        [...this.files.undecided()].filter((each) => concerns(this.files.knownBy(each.state))),
      ))
        await this.decide(file, now, takes);
  }

  /** Names the first `count` restarts: what stood at their paths may have ended unread, unless a file holds it or it was read to its end. */
  async nameRestarts(count: number): Promise<void> {
    for (const { path, known, truncated } of this.restarts.splice(0, count)) {
      const ended = known.flatMap((id) => {
        const stream = this.streams.get(id);
        if (!stream || stream.offset === 0 || this.files.get(id)) return [];
        return truncated || !stream.gone ? [stream] : [];
      });
      const last = ended.at(-1);
      if (!last) continue;
      this.log.warn({ file: path, known_offset: last.offset }, RESTARTED);
      const gone = ended.map((stream) => ({ ...stream, gone: true }));
      await this.sink.record(gone, []);
      for (const stream of gone) this.files.remember(stream);
    }
  }

  /** Decides what a file is, if that is something that `takes` lets through. */
  private async decide(
    file: TrackedFile,
    now: number,
    takes: (decision: Decision) => boolean,
  ): Promise<void> {
    if (!file.undecided) return;
    if (file.judged === file.version) return this.nameIncomplete(file, now);
    if (file.waiting === file.version && !this.hasWaited(file, now))
      return this.ignored.add(file.state, WAITING);
    // An empty file is opened as long as handles are left, so that its growth is seen at once.
    if (file.size === 0 && !file.content && this.files.isFull()) return;
    const content = await this.files.open(file);
    // It was moved, or may not be read, which is named: if it is there at the next sweep, it is met anew.
    if (!content) return this.files.untrack(file);
    try {
      if (file.size > 0) await this.decideOpen(file, content, takes, now);
      await this.files.closeSurplus(file);
    } catch (error) {
      await this.failed(file, error as NodeJS.ErrnoException, now);
    }
  }

  private async decideOpen(
    file: TrackedFile,
    content: Content,
    takes: (decision: Decision) => boolean,
    now: number,
  ): Promise<void> {
    const start = Buffer.alloc(content.packed ? HEAD_BYTES : Math.min(HEAD_BYTES, file.size));
    const length = await content.read(start, 0);
    if (length === 0 && !content.packed) return;
    if (!content.packed && (await this.isPacked(file, start.subarray(0, length), now))) return;
    if (await this.isDocument(file, content, start.subarray(0, length), now)) return;
    const facts = await factsOf(file, content, start.subarray(0, length), {
      streams: this.streams,
      files: this.files,
      recent: this.files.recent,
      open: (other) => this.files.open(other),
      now,
    });
    if (!facts) return;
    const decision = identify(facts, facts.candidates);
    if (!takes(decision)) return;
    await this.apply(file, content, decision, facts, now);
    if (!file.undecided && !file.copy) this.files.begin(file, start.subarray(0, length));
  }

  /**
   * Tells whether a file is packed that was opened as text: it was empty then, and is opened again. Formats that are not read are refused. Fewer
   * bytes than tell the format wait for more.
   */
  private async isPacked(file: TrackedFile, start: Uint8Array, now: number): Promise<boolean> {
    const kind = kindOf(start);
    if (kind?.unpack) await this.files.release(file);
    else if (kind)
      await this.files.refuse(
        file,
        `it is packed as ${kind.name}: unpack it, or pack it with gzip`,
      );
    return kind !== null || (mayBePacked(start) && !this.hasWaited(file, now));
  }

  /** Tells whether a file is a JSON document over many lines, which is refused, or too short to tell. */
  private async isDocument(
    file: TrackedFile,
    content: Content,
    start: Uint8Array,
    now: number,
  ): Promise<boolean> {
    let is = isDocument(start);
    if (is && start.length === HEAD_BYTES) {
      const more = Buffer.alloc(DOCUMENT_BYTES);
      is = isDocument(more.subarray(0, await content.read(more, 0)));
    }
    if (is) await this.files.refuse(file, DOCUMENT);
    return is ?? !this.hasWaited(file, now);
  }

  private async apply(
    file: TrackedFile,
    content: Content,
    decision: Decision,
    { candidates, size }: Facts,
    now: number,
  ): Promise<void> {
    const { source, path, inode, birth } = file.state;
    const place = { source, path, inode, birth, gone: false };
    if (decision.kind === 'copy') {
      if (!decision.isPart) await this.proveEnd(content, decision);
      return this.becomeCopy(file, decision);
    }
    if (decision.kind === 'continue') {
      const stream = this.streams.get(decision.id);
      if (!stream) throw new Error(`BUG: no stream ${decision.id}`);
      const holder = this.files.get(decision.id);
      const same = stream.inode === inode && stream.finished === file.version;
      const state = { ...stream, ...place, finished: same ? stream.finished : null };
      if (!isDeepStrictEqual(state, stream)) await this.files.recordUnlessNew([state]);
      if (holder?.entry) this.files.meetAgain(holder);
      else if (holder) await this.files.untrack(holder);
      this.files.become(file, state);
      if (stream.path !== path)
        this.log.info({ file: path, before: stream.path, offset: state.offset }, 'file goes on');
      return;
    }
    const hasWaited = this.hasWaited(file, now);
    if (decision.kind === 'wait' && !hasWaited) {
      file.copy = null;
      file.waiting = file.version;
      return this.ignored.add(file.state, WAITING);
    }
    if (decision.kind === 'resume') {
      // It may still be on its way back.
      if (decision.isOpen && !hasWaited) return;
      const state = await this.resumed(decision, content, place);
      if (state.offset > 0) {
        const original = this.streams.get(decision.of);
        const facts = { file: path, original: original?.path, offset: state.offset };
        await this.sink.record([state], []);
        this.files.become(file, state);
        if (state.offset !== size)
          this.log.warn({ ...facts, known_offset: original?.offset }, OLDER);
        return;
      }
    }
    if (file.copy)
      this.log.info({ file: path, original: this.streams.get(file.copy.of)?.path }, PARTED);
    const others = candidates.filter(({ relation }) => relation !== 'same-start');
    const known = file.truncated === null ? others.map(({ id }) => id) : [file.truncated];
    this.restarts.push({ path, known, truncated: file.truncated !== null });
    this.files.become(file, { ...file.state, ...UNREAD });
  }

  /** A stream of its own that begins as another one does up to `at`, in the line that stands there. */
  private async resumed(
    { of, at }: Extract<Decision, { kind: 'resume' }>,
    content: Content,
    place: Pick<FileState, 'source' | 'path' | 'inode' | 'birth' | 'gone'>,
  ): Promise<FileState> {
    const stream = this.streams.get(of) ?? UNREAD;
    // An older copy that ends in half a line: the whole line was taken.
    const ends = !this.files.get(of) && !stream.proofs.some((proof) => proof.at === at);
    const state = await resumedAt(content, stream, at, ends);
    return { ...UNREAD, ...place, id: this.streams.newId(), ...state };
  }

  private becomeCopy(
    file: TrackedFile,
    { of, equal, isPart }: Omit<Extract<Decision, { kind: 'copy' }>, 'kind'>,
  ): void {
    const original = this.streams.get(of);
    if (file.copy?.of !== of)
      this.log.debug({ file: file.state.path, original: original?.path }, 'file is a copy');
    const taken = Math.min(equal, original?.offset ?? 0);
    file.copy = { of, equal, taken, versions: this.versionsOf(file, of, equal) };
    if (!isPart) this.files.settle(file);
  }

  /** Proves where a copy ends in what was taken of its original, so that it is known when the original is gone. */
  private async proveEnd(
    content: Content,
    { of, equal }: Extract<Decision, { kind: 'copy' }>,
  ): Promise<void> {
    const original = this.files.get(of);
    if (!original) return;
    const { offset, proofs } = original.state;
    if (equal > offset || proofs.some(({ at }) => at === equal)) return;
    const all = await withProofAt(content, proofs, equal);
    if (!all) return;
    this.files.advance(original, { ...original.state, proofs: all });
    await this.files.recordUnlessNew([original.state]);
  }

  /** Whether what made a file a copy may no longer be so. */
  isCopyInDoubt(file: TrackedFile): boolean {
    if (!file.copy) return false;
    const { of, equal, versions } = file.copy;
    return versions !== this.versionsOf(file, of, equal);
  }

  /**
   * Changes whenever a copy has to be compared again: when it changed, when another file holds the original, and, until everything that
   * was compared was read of the original, when that one changed. A packed copy, which has to be unpacked for it, is only compared when
   * the original has become shorter, and at the end.
   */
  private versionsOf(file: TrackedFile, of: number, equal: number): string {
    const holder = this.files.get(of);
    const isKnown = this.streams.get(of) !== undefined;
    if (!holder) return `${file.version} ${isKnown} ${file.entry === null}`;
    const isTaken = holder.state.offset >= equal;
    const rests = isTaken || (file.content?.packed && holder.size >= equal);
    const { inode } = holder.state;
    return `${file.version} ${inode} ${rests ? isTaken : holder.version} ${file.entry === null}`;
  }

  /** Tells whether a file has waited long enough for more bytes to tell which file it is. A file that no path leads to does not wait. */
  private hasWaited(file: TrackedFile, now: number): boolean {
    const { changedAt, unchanged, entry, undecidedSince } = file;
    const isAtRest = now - changedAt >= this.waits.atRest && unchanged >= AT_REST_SWEEPS;
    return entry === null || isAtRest || now - undecidedSince >= this.waits.undecided;
  }

  private async failed(
    file: TrackedFile,
    error: NodeJS.ErrnoException,
    now: number,
  ): Promise<void> {
    if (error instanceof SinkError) throw error;
    // A .gz that is still being written ends early.
    const incomplete = error.code === 'Z_BUF_ERROR' && file.entry !== null;
    if (!incomplete) return this.files.fail(file, error);
    // What was unpacked ends there: it is unpacked anew once it has changed.
    await this.files.release(file);
    file.judged = file.version;
    this.nameIncomplete(file, now);
  }

  private nameIncomplete(file: TrackedFile, now: number): void {
    if (now - file.changedAt > this.waits.incomplete)
      this.ignored.add(file.state, 'its packed data ends early; it is read once it is complete');
  }
}

/** The largest file comes first: smaller ones may be its copies. */
function inOrder(files: readonly TrackedFile[]): TrackedFile[] {
  return files.toSorted((a, b) => b.size - a.size || a.mtimeMs - b.mtimeMs);
}
