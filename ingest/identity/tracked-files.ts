import type { Content } from '../files/content.ts';
import type { Disk } from '../files/disk.ts';
import type { Handles } from '../files/handles.ts';
import type { Ignored } from '../files/ignored.ts';
import type { Entry, FileStat } from '../files/scan.ts';
import type { Source } from '../source.ts';
import type { FileState, IngestLog, Sink } from '../types.ts';
import { HEAD_BYTES, UNREAD } from './proofs.ts';
import { RecentBytes } from './recent-bytes.ts';
import { createStreams, type Place, type Streams } from './streams.ts';
import { nothingTaken, observe, type TrackedFile, trackedFile } from './tracked-file.ts';

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
  readonly undecided: ReadonlySet<TrackedFile> = this.doubted;
  private readonly given: TrackedFilesOptions;

  constructor(given: TrackedFilesOptions) {
    this.given = given;
  }

  values(): IterableIterator<TrackedFile> {
    return this.byId.values();
  }

  get(id: number): TrackedFile | undefined {
    return this.byId.get(id);
  }

  /** Whether no more files should be opened. */
  isFull(): boolean {
    return this.given.handles.isFull();
  }

  /** Tracks a file that was met, to be decided on. */
  track(entry: Entry, content: Content | null, now: number): TrackedFile {
    const { source, path, inode, birth } = entry;
    const file = trackedFile(this.newState({ source, path, inode, birth }), entry, now);
    if (content) this.hand(file, content);
    return this.add(file);
  }

  private newState(place: Place): FileState {
    return { id: this.streams.newId(), ...place, gone: false, ...UNREAD };
  }

  private add(file: TrackedFile): TrackedFile {
    this.byId.set(file.state.id, file);
    this.doubt(file);
    this.streams.put(file.state);
    return file;
  }

  /** Takes the committed states for the truth: at the start, and whenever a batch may not have been stored. */
  async reload(): Promise<void> {
    const committed = new Map((await this.given.sink.files()).map((state) => [state.id, state]));
    for (const id of this.streams.ids())
      if (!committed.has(id) && !this.byId.has(id)) this.forgetState(id);
    for (const state of committed.values()) {
      if (!this.byId.has(state.id)) this.streams.put(state);
    }
    for (const [id, file] of this.byId) {
      const { source, path, inode, birth } = file.state;
      const truth = committed.get(id) ?? { ...file.state, ...UNREAD };
      file.committed = truth.offset;
      file.committedVersion = truth.finished;
      file.long = file.hole = file.exhausted = null;
      file.isHeld = false;
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
    Object.assign(file, nothingTaken(state));
    if (state.finished === file.version) file.exhausted = file.version;
    this.byId.set(state.id, file);
    this.settle(file);
    this.streams.put(state);
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
    const { source, path, inode, birth } = file.state;
    const state = this.newState({ source, path, inode, birth });
    return this.add({ ...file, ...nothingTaken(state) });
  }

  /** Lets files go that no path leads to; their streams stay known. Other states are recorded along with theirs. */
  async drop(files: readonly TrackedFile[], others: readonly FileState[] = []): Promise<void> {
    for (const file of files) await this.release(file);
    await this.leave(files, others);
    for (const { state } of files)
      this.given.log.debug({ file: state.path, offset: state.offset }, 'file removed');
  }

  /** Tracks files no longer, and remembers their streams. */
  async leave(files: readonly TrackedFile[], others: readonly FileState[] = []): Promise<void> {
    const left = files.map((file) => ({ file, gone: { ...file.state, gone: true } }));
    // First: as long as it cannot be recorded the files are tracked, and found so again.
    await this.recordUnlessNew([...others, ...left.map(({ gone }) => gone)]);
    for (const { file, gone } of left) {
      this.forsake(file);
      if (gone.offset > 0) this.streams.put(gone);
    }
  }

  async untrack(file: TrackedFile): Promise<void> {
    await file.content?.close().catch(() => {});
    file.content = null;
    this.forsake(file);
  }

  private forsake(file: TrackedFile): void {
    this.byId.delete(file.state.id);
    this.settle(file);
    // Its proofs tell it from others.
    this.streams.begin(file.state.id, Buffer.alloc(0));
    if (file.state.offset === 0) this.forgetState(file.state.id);
  }

  /** Reading failed: the file is named, and met again at the next sweep; a `.gz` only when it has changed. */
  async fail(file: TrackedFile, error: NodeJS.ErrnoException): Promise<void> {
    if (file.packed) return this.refuse(file, unreadable(file, error));
    await this.untrack(file);
    this.given.ignored.add(file.state, unreadable(file, error));
    this.given.ignored.name();
  }

  /** Names a file that is not read, and passes it over until it changes. */
  async refuse(file: TrackedFile, reason: string): Promise<void> {
    await this.untrack(file);
    const { source, path } = file.state;
    this.given.ignored.ignoreUntilChanged({ source, path, version: file.version }, reason);
    this.given.ignored.name();
  }

  /** Notes what a file has become by a batch that is on its way; `taken` ends at the new offset. */
  advance(file: TrackedFile, state: FileState, taken?: Buffer): void {
    if (taken && state.offset > file.state.offset)
      this.recent.note(state.id, file.state.offset, state.offset, taken);
    file.state = state;
    this.streams.put(state);
  }

  /** Looks at a tracked file through its handle. */
  async look(file: TrackedFile): Promise<void> {
    if (file.content) this.observe(file, file.content.stat());
  }

  /** Notes what a file looks like now. If it had too few bytes to take anything, it is decided on again. */
  observe(file: TrackedFile, at: FileStat): void {
    const { size, version, copy, state } = file;
    observe(file, at, this.given.disk.now());
    if (file.version !== version && size < HEAD_BYTES && !copy && state.offset === 0)
      this.doubt(file);
  }

  /** Notes the first bytes of a file, 1024 of them or all. */
  begin(file: TrackedFile, start: Uint8Array): void {
    file.begun = file.version;
    this.streams.begin(file.state.id, start);
  }

  doubt(file: TrackedFile): void {
    if (!file.undecided) file.undecidedSince = this.given.disk.now();
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
    if (ids.length > 0) await this.given.sink.record([], ids);
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
    if (known.length > 0) await this.given.sink.record(known, []);
  }

  /** The content of a tracked file, opened if need be; null when it cannot be had, or is another file by now. */
  async open(file: TrackedFile): Promise<Content | null> {
    if (file.content) return file.content;
    const { path, inode, birth } = file.state;
    try {
      const content = await this.given.handles.open(path);
      const at = content.stat();
      if (at.inode === inode && at.birth === birth) return this.hand(file, content);
      await content.close();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.given.ignored.add(file.state, `it cannot be opened (${code})`);
    }
    file.missing = true;
    return null;
  }

  private hand(file: TrackedFile, content: Content): Content {
    file.packed = content.packed;
    file.content = content;
    return content;
  }

  /** Closes the handle of a file that is still tracked. */
  async release(file: TrackedFile): Promise<void> {
    await file.content?.close();
    file.content = null;
  }

  /** Keeps the number of open handles bounded. Closes the files that have rested longest. */
  async closeIdle(): Promise<void> {
    const surplus = this.given.handles.surplus();
    if (surplus === 0) return;
    const rests = (file: TrackedFile) => file.copy || file.exhausted === file.version;
    const idle = [...this.byId.values()].filter(
      (file) => file.content && file.entry && rests(file),
    );
    idle.sort((a, b) => a.changedAt - b.changedAt);
    for (const file of idle.slice(0, surplus)) await this.release(file);
  }

  /** Closes a file that was just met, or read to its end, when too many are open. */
  async closeSurplus(file: TrackedFile): Promise<void> {
    if (file.entry && this.given.handles.surplus() > 0) await this.release(file);
  }

  async close(): Promise<void> {
    for (const file of this.byId.values()) await file.content?.close();
    this.byId.clear();
  }
}

function unreadable({ packed }: TrackedFile, { code, message }: NodeJS.ErrnoException): string {
  return `it cannot be ${packed ? 'unpacked' : 'read'} (${code ?? message})`;
}
