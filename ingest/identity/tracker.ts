import type { Content } from '../files/content.ts';
import type { Disk } from '../files/disk.ts';
import { Handles } from '../files/handles.ts';
import { HeldFiles } from '../files/held-open.ts';
import { Ignored } from '../files/ignored.ts';
import type { Entry, Listing } from '../files/scan.ts';
import type { FileState, IgnoredFile, IngestLog, Sink } from '../types.ts';
import type { IngestWaits } from '../waits.ts';
import { Decisions } from './decisions.ts';
import { isIntact } from './facts.ts';
import { HEAD_BYTES } from './proofs.ts';
import { observe, type TrackedFile } from './tracked-file.ts';
import { TrackedFiles } from './tracked-files.ts';

/** A listing is made anew so often while files come during it. */
const MOST_LISTINGS = 3;
/** After a start, so many files that were moved to names that are not read are opened in a sweep, where all handles are taken. */
const STRAYS_AT_ONCE = 50;

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
  readonly files: TrackedFiles;
  readonly held: HeldFiles;
  private readonly decisions: Decisions;
  private readonly ignored: Ignored;
  private readonly disk: Disk;
  private readonly log: IngestLog;
  private readonly waits: IngestWaits;
  /** The streams whose files may have been moved while nothing ran; null before the first sweep. */
  private strays: number[] | null = null;

  constructor(
    disk: Disk,
    sink: Pick<Sink, 'files' | 'record'>,
    log: IngestLog,
    waits: IngestWaits,
  ) {
    this.disk = disk;
    this.log = log;
    this.waits = waits;
    const handles = new Handles(disk);
    this.ignored = new Ignored(log);
    this.files = new TrackedFiles({ disk, handles, ignored: this.ignored, sink, log });
    this.held = new HeldFiles(disk, handles, (entry) => this.files.isTracked(entry));
    this.decisions = new Decisions({ files: this.files, ignored: this.ignored, sink, log, waits });
  }

  get refused(): readonly IgnoredFile[] {
    return this.ignored.current();
  }

  /** Whether there are files with bytes that are not decided yet. */
  get hasUndecided(): boolean {
    for (const { size } of this.files.undecided()) if (size > 0) return true;
    return false;
  }

  /** Decides what those files are that can be told by now, and looks at the copies. */
  decideAll(): Promise<void> {
    return this.decisions.decideAll(this.disk.now());
  }

  /** Brings the tracked files in line with what is on the disk. */
  async sweep(): Promise<void> {
    // A restart is named after a listing that began later: the copy that was made before a truncation is in it.
    const restarts = this.decisions.restarted;
    const { listing, before } = await this.list();
    this.ignored.begin(listing.refused);
    const listed = listing.found.filter((entry) => !this.ignored.isIgnored(entry));
    // First: once it is open a file can be read to its end, however soon it is removed.
    if (!this.files.isFull())
      for (const entry of listed) if (!this.files.isTracked(entry)) await this.held.hold(entry);
    const deleted = await this.deleted();
    const found = listed.filter(({ inode }) => !deleted.has(inode));
    const inodes = new Set(listing.found.map(({ inode }) => inode));
    for (const inode of deleted) inodes.delete(inode);
    const now = this.disk.now();
    const claimed = await this.revisit(found, now);
    await this.verify();
    // A second name of a file is passed over: it is read once, by the name that is known if there is one.
    const others = found.filter(({ inode }) => !claimed.has(inode));
    const byInode = new Map(others.toReversed().map((entry) => [entry.inode, entry]));
    for (const entry of others) if (this.files.knownBy(entry).path) byInode.set(entry.inode, entry);
    for (const entry of byInode.values()) this.files.track(entry, this.held.take(entry), now);
    const unlinked = new Set([...before, ...deleted]);
    for (const { entry, content } of await this.held.unlinked(unlinked, inodes))
      this.files.track(entry, content, now).entry = null;
    await this.followStrays(inodes, now);
    await this.decisions.decideAll(now);
    await this.decisions.nameRestarts(restarts);
    this.files.boundMemory();
    this.ignored.name();
  }

  /**
   * Lists the files, and what was held before. Files come and go while folders are listed: what took the place of what is told by another
   * listing then. Where they do so all the time, the last one has to do: what came meanwhile may stand where it was listed already, and
   * what was held before and is not in it has moved away.
   */
  private async list(): Promise<{ listing: Listing; before: ReadonlySet<string> }> {
    for (let times = 1; ; times++) {
      const before = this.held.inodes();
      const listing = await this.disk.scan();
      const [held, deleted] = [await this.held.links(), await this.deleted()];
      const missing = new Set(held.keys());
      for (const { inode } of listing.found) missing.delete(inode);
      const hasCome = [...missing].some((inode) => !before.has(inode) && !deleted.has(inode));
      const hasGone = listing.found.some(({ inode }) => deleted.has(inode));
      if ((!hasCome && !hasGone) || times === MOST_LISTINGS) return { listing, before };
    }
  }

  /** The inodes of open files that have no name by now: of those the kernel tells, whatever was listed. */
  private async deleted(): Promise<Set<string>> {
    const deleted = new Set<string>();
    for (const [inode, links] of await this.held.links()) if (links === 0) deleted.add(inode);
    for (const { content, state } of this.files.values())
      if (content?.stat().links === 0) deleted.add(state.inode);
    return deleted;
  }

  /** Whether a file that no path leads to has been read, and has rested, for long enough to let it go. */
  isOver(file: TrackedFile, deleted: boolean): boolean {
    if (file.entry) return false;
    if (file.undecided) return file.size === 0;
    if (file.copy) return !this.decisions.isCopyInDoubt(file);
    if (file.exhausted !== file.version) return false;
    return this.disk.now() - file.changedAt > (deleted ? this.waits.deleted : this.waits.moved);
  }

  async close(): Promise<void> {
    await this.held.close();
    await this.files.close();
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
        const { version } = file;
        observe(file, at, now);
        if (file.version === version) file.unchanged++;
      } else if (file.content) {
        observe(file, file.content.stat(), now);
        this.files.remember(file.state);
      } else {
        gone.push(file);
      }
    }
    const strays = await this.findStrays(gone, now);
    await this.files.drop(
      gone.filter((file) => !strays.has(file)),
      moved,
    );
    return claimed;
  }

  /**
   * Looks for files whose names are no longer listed, as `app.log.old` is not. Opens those that have something to be read, for which those
   * that were read give their handles back. Returns the files that are there, some of which may wait for a handle.
   */
  private async findStrays(gone: readonly TrackedFile[], now: number): Promise<Set<TrackedFile>> {
    const strays = new Set<TrackedFile>();
    if (gone.length === 0) return strays;
    const read = this.files.isFull() ? [...this.files.values()].filter(isReadAndUnlisted) : [];
    const inodes = [...gone, ...read].map(({ state }) => state.inode);
    const found = await this.disk.find(new Set(inodes));
    for (const file of [...read, ...gone]) {
      const there = found.get(file.state.inode);
      if (there?.birth !== file.state.birth) continue;
      strays.add(file);
      observe(file, there, now);
      if (file.state.path !== there.path)
        this.files.advance(file, { ...file.state, path: there.path });
      if (file.exhausted === file.version) await this.files.release(file);
      else await this.files.openStray(file, there.path);
    }
    return strays;
  }

  /** Meets, after a start, the files whose logs were moved to such names while nothing ran. */
  private async followStrays(listed: ReadonlySet<string>, now: number): Promise<void> {
    this.strays ??= [...this.files.streams.ids()].filter((id) => {
      const stream = this.files.streams.get(id);
      return stream && !stream.gone && !this.files.get(id) && !listed.has(stream.inode);
    });
    if (this.strays.length === 0) return;
    await this.files.closeIdle(STRAYS_AT_ONCE);
    if (this.files.isFull()) return;
    const streams = this.strays.flatMap((id) => this.files.streams.get(id) ?? []);
    const found = await this.disk.find(new Set(streams.map(({ inode }) => inode)));
    this.strays = [];
    for (const { id, source, inode, birth, offset } of streams) {
      const there = found.get(inode);
      if (!there || there.birth !== birth || there.size === offset) continue;
      if (this.files.get(id) || this.files.isTracked({ ...there, source })) continue;
      if (this.files.isFull()) {
        this.strays.push(id);
        continue;
      }
      const file = this.files.track({ source, ...there }, null, now);
      await this.files.openStray(file, there.path);
      if (file.content) file.entry = null;
      else await this.files.untrack(file);
    }
  }

  /**
   * Looks whether the files that have changed hold what was read of them. Before others are met: what was truncated and written anew
   * may be the original of a copy that was made of it since.
   */
  private async verify(): Promise<void> {
    for (const file of [...this.files.values()]) {
      const { copy, undecided, version, exhausted, state, packed } = file;
      if (copy || undecided || version === exhausted || packed) continue;
      if (state.offset === 0 && file.begun === version) continue;
      const content = await this.files.open(file);
      if (!content) continue;
      if (state.offset > 0 && !(await isIntact(file, content))) await this.files.replaced(file);
      else if (state.offset < HEAD_BYTES && file.begun !== version) await this.begin(file, content);
      else await this.files.closeSurplus(file);
    }
  }

  /** A log of which little was read may have been rewritten: another file may be a copy of what it holds now. */
  private async begin(file: TrackedFile, content: Content): Promise<void> {
    const start = Buffer.alloc(HEAD_BYTES);
    const length = await content.read(start, 0);
    this.files.begin(file, start.subarray(0, length));
    await this.files.closeSurplus(file);
  }

  private renamed(file: TrackedFile, { source, path, birth }: Entry): FileState {
    this.log.debug({ file: file.state.path, to: path }, 'file renamed');
    this.files.advance(file, { ...file.state, source, path, birth });
    return file.state;
  }
}

function isReadAndUnlisted({ entry, content, undecided, exhausted, version }: TrackedFile) {
  return !entry && content !== null && !undecided && exhausted === version;
}

/** Whether an entry is the file that is tracked: as long as a handle is open its inode is not used again. */
function holds({ content, state, version }: TrackedFile, entry: Entry): boolean {
  if (content) return true;
  return state.birth === '' ? entry.version === version : entry.birth === state.birth;
}
