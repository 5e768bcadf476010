import { isDeepStrictEqual } from 'node:util';
import type { Content } from '../files/content.ts';
import type { Disk } from '../files/disk.ts';
import { Handles } from '../files/handles.ts';
import { HeldFiles } from '../files/held-open.ts';
import { Ignored } from '../files/ignored.ts';
import { isGzip, rotationRank } from '../files/names.ts';
import type { Entry } from '../files/scan.ts';
import type { Source } from '../source.ts';
import type { FileState, IgnoredFile, IngestLog, Sink } from '../types.ts';
import { type Facts, factsOf, isIntact } from './facts.ts';
import { type Decision, identify } from './identify.ts';
import { HEAD_BYTES, resumedAt, UNREAD, withProofAt } from './proofs.ts';
import { RecentBytes } from './recent-bytes.ts';
import { createStreams, type Place, type Streams } from './streams.ts';
import { observe, type TrackedFile, trackedFile } from './tracked-file.ts';

type Known = ReturnType<Streams['known']>;

/** The order of decisions: which files are looked at, and which decisions are taken. */
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

/** A writer that keeps a moved file open may still write to it; a deleted one holds disk space. */
const MOVED_GRACE_MS = 60_000;
const DELETED_GRACE_MS = 5_000;
/** A `.gz` that ends early is being written; one that does not change for so long is named. */
const INCOMPLETE_MS = 2_000;
/** Streams that no file holds are remembered, the last ones first. */
const MOST_REMEMBERED = 100_000;

const PARTED = 'file diverged from the file it appeared to copy; tailing it separately';
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

/**
 * Keeps track of which files there are, and which stream each holds. A tracked file is
 *
 *   undecided   met, and holds nothing yet that could tell which file it is
 *   read        its stream is read on from `state.offset`
 *   a copy      of one that is read (`copy`); not read
 *   unlinked    no path leads to it (`entry` is null): read through its handle, let go when it has rested
 *
 * `identify` decides between them when a file is met, and again whenever that decision has lost its ground: the file was truncated or
 * replaced, the original of a copy is gone, or both go on differently.
 */
export class Tracker {
  readonly files = new Map<number, TrackedFile>();
  readonly held: HeldFiles;
  /** Streams of tracked files too, as the batches on their way will leave them. */
  private readonly streams: Streams = createStreams();
  /** The files that are `undecided`, so that nobody looks through all for them. */
  private readonly undecided = new Set<TrackedFile>();
  private readonly restarts: Restart[] = [];
  private readonly ignored: Ignored;
  private readonly handles: Handles;
  private readonly recent = new RecentBytes();
  private readonly disk: Disk;
  private readonly sink: Pick<Sink, 'files' | 'record'>;
  private readonly log: IngestLog;

  constructor(disk: Disk, sink: Pick<Sink, 'files' | 'record'>, log: IngestLog) {
    this.disk = disk;
    this.handles = new Handles(disk);
    this.held = new HeldFiles(disk, this.handles, (entry) => this.isTracked(entry));
    this.sink = sink;
    this.log = log;
    this.ignored = new Ignored(log);
  }

  get refused(): readonly IgnoredFile[] {
    return this.ignored.current();
  }

  /** Takes the committed states for the truth: at the start, and whenever a batch may not have been stored. */
  async reload(): Promise<void> {
    const committed = new Map((await this.sink.files()).map((state) => [state.id, state]));
    for (const id of this.streams.ids())
      if (!committed.has(id) && !this.files.has(id)) this.forgetState(id);
    for (const state of committed.values()) {
      if (!this.files.has(state.id)) this.remember(state);
    }
    for (const [id, file] of this.files) {
      const { source, path, inode, birth } = file.state;
      const truth = committed.get(id) ?? { ...file.state, ...UNREAD };
      file.committed = truth.offset;
      file.committedVersion = truth.finished;
      file.long = file.hole = file.exhausted = null;
      this.advance(file, { ...truth, source, path, inode, birth, gone: false });
    }
  }

  /** Notes that these states were stored. */
  committed(states: readonly FileState[]): void {
    for (const { id, offset, finished } of states) {
      const file = this.files.get(id);
      if (!file) continue;
      file.committed = offset;
      file.committedVersion = finished;
    }
  }

  /** Brings the tracked files in line with what is on the disk. */
  async sweep(): Promise<void> {
    // A restart is named after a listing that began later: the copy that was made before a truncation is in it.
    const restarts = this.restarts.length;
    const listing = await this.disk.scan();
    this.ignored.begin(listing.refused);
    const found = listing.found.filter((entry) => !this.ignored.isIgnored(entry));
    // First: once it is open a file can be read to its end, however soon it is removed.
    const before = this.held.inodes();
    if (!this.handles.isFull())
      for (const entry of found) if (!this.isTracked(entry)) await this.held.hold(entry);
    const now = this.disk.now();
    const claimed = await this.revisit(found, now);
    await this.verify();
    // A second name of a file is passed over: it is read once, by the name that is known if there is one.
    const others = found.filter(({ inode }) => !claimed.has(inode));
    const byInode = new Map(others.toReversed().map((entry) => [entry.inode, entry]));
    for (const entry of others) if (this.knownBy(entry).path) byInode.set(entry.inode, entry);
    for (const entry of byInode.values()) this.track(entry, this.held.take(entry), now);
    const inodes = new Set(listing.found.map(({ inode }) => inode));
    for (const { entry, content } of await this.held.unlinked(before, inodes))
      this.track(entry, content, now).entry = null;
    await this.decideAll(now);
    await this.nameRestarts(this.restarts.splice(0, restarts));
    this.boundMemory();
    this.ignored.name();
  }

  /**
   * Decides what the files are that can be told by now, and looks at the copies. First those are told that are the file of a
   * stream, by their inode and then by their path; older copies come last: what one seems to be a part of may be held whole by another
   * file.
   */
  async decideAll(now = this.disk.now()): Promise<void> {
    for (const file of this.files.values())
      if (file.copy && this.isCopyInDoubt(file)) this.doubt(file);
    if (this.undecided.size === 0) return;
    for (const { concerns, takes } of PASSES)
      for (const file of inOrder(
        [...this.undecided].filter((each) => concerns(this.knownBy(each.state))),
      ))
        await this.decide(file, now, takes);
  }

  /** Whether there are files with bytes that are not decided yet. */
  get hasUndecided(): boolean {
    for (const { size } of this.undecided) if (size > 0) return true;
    return false;
  }

  private knownBy(place: Place & { readonly id?: number }): Known {
    return this.streams.known(place, place.id ?? null);
  }

  private isTracked(entry: Place): boolean {
    return this.streams.ofFile(entry).some((id) => this.files.has(id));
  }

  /** Notes where the tracked files are now, and which no path leads to; gives the inodes that are theirs. */
  private async revisit(found: readonly Entry[], now: number): Promise<Set<string>> {
    const claimed = new Set<string>();
    const moved: FileState[] = [];
    const gone: TrackedFile[] = [];
    const byInode = new Map<string, Entry[]>();
    for (const entry of found) {
      const names = byInode.get(entry.inode);
      if (names) names.push(entry);
      else byInode.set(entry.inode, [entry]);
    }
    for (const file of this.files.values()) {
      const { inode, path } = file.state;
      const names = (byInode.get(inode) ?? []).filter((entry) => holds(file, entry));
      const at = names.find((entry) => entry.path === path) ?? names[0] ?? null;
      file.entry = at;
      file.missing = false;
      if (at) {
        claimed.add(inode);
        if (at.path !== path) moved.push(this.renamed(file, at));
        observe(file, at, now);
      } else if (file.content) {
        observe(file, file.content.stat(), now);
        this.remember(file.state);
      } else {
        gone.push(file);
      }
    }
    await this.drop(gone, moved);
    return claimed;
  }

  /**
   * Looks whether the files that have changed hold what was read of them. Before others are met: what was truncated and written anew
   * may be the original of a copy that was made of it since.
   */
  private async verify(): Promise<void> {
    for (const file of [...this.files.values()]) {
      const { copy, undecided, version, exhausted, state } = file;
      if (copy || undecided || version === exhausted) continue;
      if (state.offset === 0 || isGzip(state.path)) continue;
      const content = await this.open(file);
      if (!content) continue;
      if (await isIntact(file, content)) await this.closeSurplus(file);
      else await this.replaced(file);
    }
  }

  private renamed(file: TrackedFile, { source, path, birth }: Entry): FileState {
    this.log.debug({ file: file.state.path, to: path }, 'file renamed');
    this.advance(file, { ...file.state, source, path, birth });
    return file.state;
  }

  /** Tracks a file that was met, to be decided on. */
  private track(entry: Entry, content: Content | null, now: number): TrackedFile {
    const { source, path, inode, birth } = entry;
    const id = this.streams.newId();
    const state = { id, source, path, inode, birth, gone: false, ...UNREAD };
    const file = trackedFile(state, entry, now);
    file.content = content;
    this.files.set(id, file);
    this.doubt(file);
    this.remember(state);
    return file;
  }

  /** Decides what a file is, if that is something that `takes` lets through. */
  private async decide(
    file: TrackedFile,
    now: number,
    takes: (decision: Decision) => boolean,
  ): Promise<void> {
    if (!file.undecided) return;
    if (file.judged === file.version) return this.nameIncomplete(file, now);
    if (!file.content && this.handles.isFull()) {
      // Of an empty file there is nothing to tell; else it is open from now on, so that it is seen at once when it grows.
      if (file.size === 0) return;
      if (!this.streams.hasAny(file.state, file.state.id)) return this.become(file, file.state);
    }
    const content = await this.open(file);
    // It was moved, or may not be read, which is named: if it is there at the next sweep, it is met anew.
    if (!content) return this.untrack(file);
    try {
      if (file.size > 0) await this.decideOpen(file, content, takes);
      await this.closeSurplus(file);
    } catch (error) {
      await this.failed(file, error as NodeJS.ErrnoException, now);
    }
  }

  private async decideOpen(
    file: TrackedFile,
    content: Content,
    takes: (decision: Decision) => boolean,
  ): Promise<void> {
    const start = Buffer.alloc(content.gzip ? HEAD_BYTES : Math.min(HEAD_BYTES, file.size));
    const length = await content.read(start, 0);
    if (length === 0 && !content.gzip) return;
    const facts = await factsOf(file, content, start.subarray(0, length), {
      streams: this.streams,
      files: this.files,
      recent: this.recent,
      open: (other) => this.open(other),
    });
    if (!facts) return;
    const decision = identify({ size: facts.size }, facts.candidates);
    if (takes(decision)) await this.apply(file, content, decision, facts);
  }

  private async apply(
    file: TrackedFile,
    content: Content,
    decision: Decision,
    { candidates, size }: Facts,
  ): Promise<void> {
    const { source, path, inode, birth } = file.state;
    const place = { source, path, inode, birth, gone: false };
    if (decision.kind === 'copy') {
      if (!decision.isPart) await this.proveEnd(content, decision);
      return this.becomeCopy(file, decision.of, decision.equal, decision.isPart);
    }
    if (decision.kind === 'continue') {
      const stream = this.streams.get(decision.id);
      if (!stream) throw new Error(`BUG: no stream ${decision.id}`);
      const before = this.files.get(decision.id);
      const same = stream.inode === inode && stream.finished === file.version;
      const state = { ...stream, ...place, finished: same ? stream.finished : null };
      if (!isDeepStrictEqual(state, stream)) await this.recordUnlessNew([state]);
      if (before) await this.untrack(before);
      this.become(file, state);
      if (stream.path !== path)
        this.log.info({ file: path, before: stream.path, offset: state.offset }, 'file goes on');
      return;
    }
    if (decision.kind === 'resume') {
      const { of, at } = decision;
      const other = this.files.get(of);
      // As long as the other one may be truncated before what both hold was taken of it.
      if (other && other.state.offset < at) return this.becomeCopy(file, of, at, true);
      const state = await this.resumed(decision, content, place);
      if (state.offset > 0) {
        const original = this.streams.get(decision.of);
        const facts = { file: path, original: original?.path, offset: state.offset };
        await this.sink.record([state], []);
        this.become(file, state);
        if (other) this.log.info(facts, PARTED);
        else if (state.offset !== size)
          this.log.warn({ ...facts, known_offset: original?.offset }, OLDER);
        return;
      }
    }
    const others = candidates.filter(({ relation }) => relation !== 'rotation');
    const known = file.truncated === null ? others.map(({ id }) => id) : [file.truncated];
    this.restarts.push({ path, known, truncated: file.truncated !== null });
    this.become(file, { ...file.state, ...UNREAD });
  }

  /** What stood at their paths may have ended unread, unless a file holds it or it was read to its end and let go. */
  private async nameRestarts(restarts: readonly Restart[]): Promise<void> {
    for (const { path, known, truncated } of restarts) {
      const ended = known.flatMap((id) => {
        const stream = this.streams.get(id);
        if (!stream || stream.offset === 0 || this.files.has(id)) return [];
        return truncated || !stream.gone ? [stream] : [];
      });
      const last = ended.at(-1);
      if (!last) continue;
      this.log.warn({ file: path, known_offset: last.offset }, RESTARTED);
      const gone = ended.map((stream) => ({ ...stream, gone: true }));
      await this.sink.record(gone, []);
      for (const stream of gone) this.remember(stream);
    }
  }

  /** A stream of its own that begins as another one does up to `at`, in the line that stands there. */
  private async resumed(
    { of, at }: Extract<Decision, { kind: 'resume' }>,
    content: Content,
    place: Pick<FileState, 'source' | 'path' | 'inode' | 'birth' | 'gone'>,
  ): Promise<FileState> {
    const stream = this.streams.get(of) ?? UNREAD;
    // An older copy that ends in half a line: the whole line was taken.
    const ends = !this.files.has(of) && !stream.proofs.some((proof) => proof.at === at);
    const state = await resumedAt(content, stream, at, ends);
    return { ...UNREAD, ...place, id: this.streams.newId(), ...state };
  }

  /** From now on the file holds the stream of `state`. */
  private become(file: TrackedFile, state: FileState): void {
    this.files.delete(file.state.id);
    if (file.state.id !== state.id) this.forgetState(file.state.id);
    file.copy = null;
    file.state = state;
    file.committed = state.offset;
    file.committedVersion = state.finished;
    file.exhausted = state.finished === file.version ? file.version : null;
    file.judged = file.long = file.hole = file.truncated = null;
    this.files.set(state.id, file);
    this.settle(file);
    this.remember(state);
  }

  private becomeCopy(file: TrackedFile, of: number, equal: number, isPart: boolean): void {
    const original = this.files.get(of)?.state;
    if (file.copy?.of !== of)
      this.log.debug({ file: file.state.path, original: original?.path }, 'file is a copy');
    const taken = Math.min(equal, original?.offset ?? 0);
    file.copy = { of, equal, taken, versions: this.versionsOf(file, of, equal) };
    if (!isPart) this.settle(file);
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
    this.advance(original, { ...original.state, proofs: all });
    await this.recordUnlessNew([original.state]);
  }

  private doubt(file: TrackedFile): void {
    file.undecided = true;
    this.undecided.add(file);
  }

  private settle(file: TrackedFile): void {
    file.undecided = false;
    this.undecided.delete(file);
  }

  private remember(state: FileState): void {
    this.streams.put(state, this.files.get(state.id)?.entry === null);
  }

  private forgetState(id: number): void {
    this.recent.forget(id);
    this.streams.remove(id);
  }

  /** Whether what made a file a copy may no longer be so. */
  private isCopyInDoubt(file: TrackedFile): boolean {
    if (!file.copy) return false;
    const { of, equal, versions } = file.copy;
    return versions !== this.versionsOf(file, of, equal);
  }

  /**
   * Changes whenever a copy has to be compared anew: with it, when its original is another, and until all that was compared was taken
   * of it. The original may be rewritten before; from then on that is seen there. A `.gz`, which has to be unpacked for it, is compared
   * when the original has become shorter, and at the end.
   */
  private versionsOf(file: TrackedFile, of: number, equal: number): string {
    const original = this.files.get(of);
    if (!original) return '';
    const isTaken = original.state.offset >= equal;
    const rests = isTaken || (isGzip(file.state.path) && original.size >= equal);
    return `${file.version} ${rests ? isTaken : original.version} ${file.entry === null}`;
  }

  /** Records states, but for files of which nothing was taken: their first batch records them. */
  private async recordUnlessNew(states: readonly FileState[]): Promise<void> {
    const known = states.filter(({ offset }) => offset > 0);
    if (known.length > 0) await this.sink.record(known, []);
  }

  /** Its bytes are not those that were read: it was truncated or replaced, and is met anew. */
  async replaced(file: TrackedFile): Promise<void> {
    const { source, path, inode, birth } = file.state;
    await this.leave([file]);
    const id = this.streams.newId();
    const state = { id, source, path, inode, birth, gone: false, ...UNREAD };
    const truncated = file.state.offset > 0 ? file.state.id : null;
    const fresh = {
      ...file,
      state,
      copy: null,
      exhausted: null,
      judged: null,
      truncated,
      long: null,
      hole: null,
      committed: 0,
      committedVersion: null,
    };
    this.files.set(id, fresh);
    this.remember(state);
    this.doubt(fresh);
  }

  /** Whether a file that no path leads to has been read, and has rested, for long enough to let it go. */
  isOver(file: TrackedFile, deleted: boolean): boolean {
    if (file.entry) return false;
    if (file.undecided) return file.size === 0;
    if (file.copy) return !this.isCopyInDoubt(file);
    if (file.exhausted !== file.version) return false;
    return this.disk.now() - file.changedAt > (deleted ? DELETED_GRACE_MS : MOVED_GRACE_MS);
  }

  /** Lets files go that no path leads to; their streams stay known. Other states are recorded along with theirs. */
  async drop(files: readonly TrackedFile[], others: readonly FileState[] = []): Promise<void> {
    for (const file of files) await this.release(file);
    await this.leave(files, others);
    for (const { state } of files)
      this.log.debug({ file: state.path, offset: state.offset }, 'file removed');
  }

  /** Tracks files no longer, and remembers their streams. */
  private async leave(
    files: readonly TrackedFile[],
    others: readonly FileState[] = [],
  ): Promise<void> {
    const left = files.map((file) => ({ file, gone: { ...file.state, gone: true } }));
    // First: as long as it cannot be recorded the files are tracked, and found so again.
    await this.recordUnlessNew([...others, ...left.map(({ gone }) => gone)]);
    for (const { file, gone } of left) {
      this.files.delete(gone.id);
      this.settle(file);
      if (gone.offset > 0) this.remember(gone);
      else this.forgetState(gone.id);
    }
  }

  /** Reading failed: the file is named, and met again at the next sweep; a `.gz` only when it has changed. */
  async fail(file: TrackedFile, error: NodeJS.ErrnoException): Promise<void> {
    if (isGzip(file.state.path)) return this.refuse(file, unreadable(file.state.path, error));
    await this.untrack(file);
    this.ignored.add(file.state, unreadable(file.state.path, error));
    this.ignored.name();
  }

  private async failed(
    file: TrackedFile,
    error: NodeJS.ErrnoException,
    now: number,
  ): Promise<void> {
    if (error instanceof SinkError) throw error;
    // A .gz that is still being written ends early.
    const incomplete = error.code === 'Z_BUF_ERROR' && file.entry !== null;
    if (!incomplete) return this.fail(file, error);
    // What was unpacked ends there: it is unpacked anew once it has changed.
    await this.release(file);
    file.judged = file.version;
    this.nameIncomplete(file, now);
  }

  private nameIncomplete(file: TrackedFile, now: number): void {
    if (now - file.changedAt > INCOMPLETE_MS)
      this.ignored.add(file.state, 'its gzip data ends early; it is read once it is complete');
  }

  /** Names a file that is not read, and passes it over until it changes. */
  async refuse(file: TrackedFile, reason: string): Promise<void> {
    await this.untrack(file);
    const { source, path } = file.state;
    this.ignored.ignoreUntilChanged({ source, path, version: file.version }, reason);
    this.ignored.name();
  }

  private async untrack(file: TrackedFile): Promise<void> {
    await file.content?.close().catch(() => {});
    file.content = null;
    this.files.delete(file.state.id);
    this.settle(file);
    if (file.state.offset === 0) this.forgetState(file.state.id);
  }

  /** Looks at a tracked file through its handle. */
  async look(file: TrackedFile): Promise<void> {
    if (!file.content) return;
    observe(file, file.content.stat(), this.disk.now());
  }

  /** Notes what a file has become by a batch that is on its way; `taken` ends at the new offset. */
  advance(file: TrackedFile, state: FileState, taken?: Buffer): void {
    if (taken && state.offset > file.state.offset)
      this.recent.note(state.id, file.state.offset, state.offset, taken);
    file.state = state;
    this.remember(state);
  }

  /** The content of a tracked file, opened if need be; null when it cannot be had, or is another file by now. */
  async open(file: TrackedFile): Promise<Content | null> {
    if (file.content) return file.content;
    const content = await this.openPath(file.state);
    if (!content) {
      file.missing = true;
      return null;
    }
    if (!isOf(content, file.state)) {
      await content.close();
      file.missing = true;
      return null;
    }
    file.content = content;
    return content;
  }

  private async openPath(entry: Pick<Entry, 'source' | 'path'>): Promise<Content | null> {
    try {
      return await this.handles.open(entry.path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.ignored.add(entry, `it cannot be opened (${code})`);
      return null;
    }
  }

  /**
   * Forgets a file that its maker has removed for good, so that no copy of it can appear. Gives whether that is done: not
   * before it was let go.
   */
  async forget(path: string): Promise<boolean> {
    const ids = this.streams.at({ source: path.split('/')[0] as Source, path });
    if (ids.some((id) => this.files.has(id))) return false;
    if (ids.length > 0) await this.sink.record([], ids);
    for (const id of ids) this.forgetState(id);
    return true;
  }

  /** Forgets the streams that no file holds beyond so many, those first that were known first. */
  private boundMemory(): void {
    let surplus = this.streams.size - this.files.size - MOST_REMEMBERED;
    for (const id of this.streams.ids()) {
      if (surplus <= 0) return;
      if (this.files.has(id)) continue;
      this.forgetState(id);
      surplus--;
    }
  }

  /** Closes the handle of a file that is still tracked. */
  async release(file: TrackedFile): Promise<void> {
    await file.content?.close();
    file.content = null;
  }

  /** Keeps the number of open handles bounded; the files that have rested longest are closed. */
  async closeIdle(): Promise<void> {
    const surplus = this.handles.surplus();
    if (surplus === 0) return;
    const open = [...this.files.values()].filter((file) => file.content);
    const idle = open.filter(
      (file) => file.entry && (file.copy || file.exhausted === file.version),
    );
    idle.sort((a, b) => a.changedAt - b.changedAt);
    for (const file of idle.slice(0, surplus)) await this.release(file);
  }

  /** Closes a file that was just met, or read to its end, when too many are open. */
  async closeSurplus(file: TrackedFile): Promise<void> {
    if (file.entry && this.handles.surplus() > 0) await this.release(file);
  }

  async close(): Promise<void> {
    for (const file of this.files.values()) await file.content?.close();
    await this.held.close();
    this.files.clear();
  }
}

/** Sorts logs before rotated files before packed ones, so that no copy passes for its original; each oldest first. */
function inOrder(files: readonly TrackedFile[]): TrackedFile[] {
  return files.toSorted(
    (a, b) => rotationRank(a.state.path) - rotationRank(b.state.path) || a.mtimeMs - b.mtimeMs,
  );
}

/** Whether an entry is the file that is tracked: as long as a handle is open its inode is not used again. */
function holds({ content, state, version }: TrackedFile, entry: Entry): boolean {
  if (content) return true;
  return state.birth === '' ? entry.version === version : entry.birth === state.birth;
}

function isOf(content: Content, { inode, birth }: Pick<Place, 'inode' | 'birth'>): boolean {
  const at = content.stat();
  return at.inode === inode && at.birth === birth;
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException): string {
  return `it cannot be ${isGzip(path) ? 'unpacked' : 'read'} (${code ?? message})`;
}
