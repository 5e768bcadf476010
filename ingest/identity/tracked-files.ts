import type { Content } from '../files/content.ts';
import type { Disk } from '../files/disk.ts';
import type { Handles } from '../files/handles.ts';
import type { Ignored } from '../files/ignored.ts';
import type { Entry } from '../files/scan.ts';
import type { Source } from '../source.ts';
import type { FileState, IngestLog, Sink } from '../types.ts';
import { UNREAD } from './proofs.ts';
import { RecentBytes } from './recent-bytes.ts';
import { createStreams, type Place, type Streams } from './streams.ts';
import { observe, type TrackedFile, trackedFile } from './tracked-file.ts';

/** The first bytes of a stream that no file holds: what was read of it tells it from others. */
const NOTHING = Buffer.alloc(0);

/** Streams that no file holds are remembered, the last ones first. */
const MOST_REMEMBERED = 100_000;

export interface TrackedFilesOptions {
  readonly disk: Pick<Disk, 'now'>;
  readonly handles: Handles;
  readonly ignored: Ignored;
  readonly sink: Pick<Sink, 'files' | 'record'>;
  readonly log: IngestLog;
}

/** The files that are tracked, with their handles, and the streams that they and others held. What changes here is recorded in the sink. */
export class TrackedFiles {
  /** Streams of tracked files too, as the batches on their way will leave them. */
  readonly streams: Streams = createStreams();
  readonly recent = new RecentBytes();
  private readonly byId = new Map<number, TrackedFile>();
  /** The files that are `undecided`, so that nobody looks through all for them. */
  private readonly doubted = new Set<TrackedFile>();
  private readonly disk: Pick<Disk, 'now'>;
  private readonly handles: Handles;
  private readonly ignored: Ignored;
  private readonly sink: Pick<Sink, 'files' | 'record'>;
  private readonly log: IngestLog;

  constructor({ disk, handles, ignored, sink, log }: TrackedFilesOptions) {
    this.disk = disk;
    this.handles = handles;
    this.ignored = ignored;
    this.sink = sink;
    this.log = log;
  }

  values(): IterableIterator<TrackedFile> {
    return this.byId.values();
  }

  get(id: number): TrackedFile | undefined {
    return this.byId.get(id);
  }

  /** Whether no more files should be opened. */
  isFull(): boolean {
    return this.handles.isFull();
  }

  undecided(): ReadonlySet<TrackedFile> {
    return this.doubted;
  }

  /** Tracks a file that was met, to be decided on. */
  track(entry: Entry, content: Content | null, now: number): TrackedFile {
    const { source, path, inode, birth } = entry;
    const id = this.streams.newId();
    const state = { id, source, path, inode, birth, gone: false, ...UNREAD };
    const file = trackedFile(state, entry, now);
    this.hand(file, content);
    this.byId.set(id, file);
    this.doubt(file);
    this.remember(state);
    return file;
  }

  /** Takes the committed states for the truth: at the start, and whenever a batch may not have been stored. */
  async reload(): Promise<void> {
    const committed = new Map((await this.sink.files()).map((state) => [state.id, state]));
    for (const id of this.streams.ids())
      if (!committed.has(id) && !this.byId.has(id)) this.forgetState(id);
    for (const state of committed.values()) {
      if (!this.byId.has(state.id)) this.remember(state);
    }
    for (const [id, file] of this.byId) {
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
      const file = this.byId.get(id);
      if (!file) continue;
      file.committed = offset;
      file.committedVersion = finished;
    }
  }

  /** From now on the file holds the stream of `state`. */
  become(file: TrackedFile, state: FileState): void {
    this.byId.delete(file.state.id);
    if (file.state.id !== state.id) this.forgetState(file.state.id);
    file.copy = null;
    file.state = state;
    file.committed = state.offset;
    file.committedVersion = state.finished;
    file.exhausted = state.finished === file.version ? file.version : null;
    file.judged = file.waiting = file.long = file.hole = file.truncated = null;
    this.byId.set(state.id, file);
    this.settle(file);
    this.remember(state);
  }

  /** Its bytes are not those that were read: it was truncated or replaced, and is met anew. */
  async replaced(file: TrackedFile): Promise<void> {
    await this.leave([file]);
    this.meetAgain(file).truncated = file.state.offset > 0 ? file.state.id : null;
  }

  /** Tracks a file as one that was just met: another file holds its stream, or none. */
  meetAgain(file: TrackedFile): TrackedFile {
    if (this.byId.get(file.state.id) === file) this.byId.delete(file.state.id);
    this.settle(file);
    const id = this.streams.newId();
    const { source, path, inode, birth } = file.state;
    const state = { id, source, path, inode, birth, gone: false, ...UNREAD };
    const fresh = {
      ...file,
      state,
      copy: null,
      exhausted: null,
      judged: null,
      waiting: null,
      truncated: null,
      long: null,
      hole: null,
      committed: 0,
      committedVersion: null,
    };
    this.byId.set(id, fresh);
    this.remember(state);
    this.doubt(fresh);
    return fresh;
  }

  /** Lets files go that no path leads to; their streams stay known. Other states are recorded along with theirs. */
  async drop(files: readonly TrackedFile[], others: readonly FileState[] = []): Promise<void> {
    for (const file of files) await this.release(file);
    await this.leave(files, others);
    for (const { state } of files)
      this.log.debug({ file: state.path, offset: state.offset }, 'file removed');
  }

  /** Tracks files no longer, and remembers their streams. */
  async leave(files: readonly TrackedFile[], others: readonly FileState[] = []): Promise<void> {
    const left = files.map((file) => ({ file, gone: { ...file.state, gone: true } }));
    // First: as long as it cannot be recorded the files are tracked, and found so again.
    await this.recordUnlessNew([...others, ...left.map(({ gone }) => gone)]);
    for (const { file, gone } of left) {
      this.byId.delete(gone.id);
      this.settle(file);
      this.streams.begin(gone.id, NOTHING);
      if (gone.offset > 0) this.remember(gone);
      else this.forgetState(gone.id);
    }
  }

  async untrack(file: TrackedFile): Promise<void> {
    await file.content?.close().catch(() => {});
    file.content = null;
    this.byId.delete(file.state.id);
    this.settle(file);
    this.streams.begin(file.state.id, NOTHING);
    if (file.state.offset === 0) this.forgetState(file.state.id);
  }

  /** Reading failed: the file is named, and met again at the next sweep; a `.gz` only when it has changed. */
  async fail(file: TrackedFile, error: NodeJS.ErrnoException): Promise<void> {
    if (file.packed) return this.refuse(file, unreadable(file, error));
    await this.untrack(file);
    this.ignored.add(file.state, unreadable(file, error));
    this.ignored.name();
  }

  /** Names a file that is not read, and passes it over until it changes. */
  async refuse(file: TrackedFile, reason: string): Promise<void> {
    await this.untrack(file);
    const { source, path } = file.state;
    this.ignored.ignoreUntilChanged({ source, path, version: file.version }, reason);
    this.ignored.name();
  }

  /** Notes what a file has become by a batch that is on its way; `taken` ends at the new offset. */
  advance(file: TrackedFile, state: FileState, taken?: Buffer): void {
    if (taken && state.offset > file.state.offset)
      this.recent.note(state.id, file.state.offset, state.offset, taken);
    file.state = state;
    this.remember(state);
  }

  /** Looks at a tracked file through its handle. */
  async look(file: TrackedFile): Promise<void> {
    if (!file.content) return;
    observe(file, file.content.stat(), this.disk.now());
  }

  /** Notes the first bytes of a file, 1024 of them or all. */
  begin(file: TrackedFile, start: Uint8Array): void {
    file.begun = file.version;
    this.streams.begin(file.state.id, start);
  }

  doubt(file: TrackedFile): void {
    if (!file.undecided) file.undecidedSince = this.disk.now();
    file.undecided = true;
    this.doubted.add(file);
  }

  settle(file: TrackedFile): void {
    file.undecided = false;
    this.doubted.delete(file);
  }

  isTracked(entry: Place): boolean {
    return this.streams.ofFile(entry).some((id) => this.byId.has(id));
  }

  knownBy(place: Place & { readonly id?: number }): ReturnType<Streams['known']> {
    return this.streams.known(place, place.id ?? null);
  }

  remember(state: FileState): void {
    this.streams.put(state);
  }

  forgetState(id: number): void {
    this.recent.forget(id);
    this.streams.remove(id);
  }

  /**
   * Forgets a file that its maker has removed for good, so that no copy of it can appear. Gives whether that is done: not
   * before it was let go.
   */
  async forget(path: string): Promise<boolean> {
    const ids = this.streams.at({ source: path.split('/')[0] as Source, path });
    if (ids.some((id) => this.byId.has(id))) return false;
    if (ids.length > 0) await this.sink.record([], ids);
    for (const id of ids) this.forgetState(id);
    return true;
  }

  /** Forgets the streams that no file holds beyond so many, those first that were known first. */
  boundMemory(): void {
    let surplus = this.streams.size - this.byId.size - MOST_REMEMBERED;
    for (const id of this.streams.ids()) {
      if (surplus <= 0) return;
      if (this.byId.has(id)) continue;
      this.forgetState(id);
      surplus--;
    }
  }

  /** Records states, but for files of which nothing was taken: their first batch records them. */
  async recordUnlessNew(states: readonly FileState[]): Promise<void> {
    const known = states.filter(({ offset }) => offset > 0);
    if (known.length > 0) await this.sink.record(known, []);
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
    this.hand(file, content);
    return content;
  }

  private hand(file: TrackedFile, content: Content | null): void {
    file.content = content;
    file.packed = content?.packed ?? file.packed;
  }

  /** Opens a file at a path that is not listed, if a handle is left for it. Its stream remembers the path. */
  async openStray(file: TrackedFile, path: string): Promise<void> {
    if (this.isFull()) return;
    const content = await this.openPath({ source: file.state.source, path });
    if (!content) return;
    if (!isOf(content, file.state)) return content.close();
    this.hand(file, content);
    this.log.info({ file: path }, 'file moved away; reading it to its end');
    this.advance(file, { ...file.state, path });
  }

  async openPath(entry: Pick<Entry, 'source' | 'path'>): Promise<Content | null> {
    try {
      return await this.handles.open(entry.path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.ignored.add(entry, `it cannot be opened (${code})`);
      return null;
    }
  }

  /** Closes the handle of a file that is still tracked. */
  async release(file: TrackedFile): Promise<void> {
    await file.content?.close();
    file.content = null;
  }

  /** Keeps the number of open handles bounded, with `room` for so many more. Closes the files that have rested longest. */
  async closeIdle(room = 0): Promise<void> {
    const surplus = this.handles.surplus(room);
    if (surplus === 0) return;
    const open = [...this.byId.values()].filter((file) => file.content);
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
    for (const file of this.byId.values()) await file.content?.close();
    this.byId.clear();
  }
}

function isOf(content: Content, { inode, birth }: Pick<Place, 'inode' | 'birth'>): boolean {
  const at = content.stat();
  return at.inode === inode && at.birth === birth;
}

function unreadable({ packed }: TrackedFile, { code, message }: NodeJS.ErrnoException): string {
  return `it cannot be ${packed ? 'unpacked' : 'read'} (${code ?? message})`;
}
