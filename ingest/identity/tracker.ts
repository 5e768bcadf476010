import type { Disk } from '../files/disk.ts';
import { Handles } from '../files/handles.ts';
import { HeldFiles } from '../files/held-open.ts';
import { Ignored } from '../files/ignored.ts';
import type { Entry, Listing } from '../files/scan.ts';
import type { FileState, IgnoredFile, IngestLog, Sink } from '../types.ts';
import type { IngestWaits } from '../waits.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { HEAD_BYTES, stillHolds } from './proofs.ts';
import type { TrackedFile } from './tracked-file.ts';
import { TrackedFiles } from './tracked-files.ts';

/** A listing is made anew so often while files come during it. */
const MOST_LISTINGS = 3;
const TORN = 'its packed data ends early; the rest is read once it is complete';

/**
 * Keeps track of which files there are, and which stream each holds. A tracked file is
 *
 *   undecided   met, and holds nothing yet that could tell which file it is
 *   read        its stream is read on from `state.offset`
 *   a copy      of one that is read (`copy`); not read
 *   unlinked    no path leads to it (`entry` is null): read through its handle, let go when it has rested
 *   a stray     only a path leads to it that is not read (`isStray`): let go when it has rested
 *
 * `identify` decides between them when a file is met, and again whenever that decision has lost its ground: the file was truncated or
 * replaced, the original of a copy is gone, or both go on differently.
 */
export class Tracker {
  readonly files: TrackedFiles;
  readonly held: HeldFiles;
  private readonly decisions: Decisions;
  private readonly ignored: Ignored;
  private hasStarted = false;
  private readonly disk: Disk;
  private readonly log: IngestLog;
  private readonly waits: IngestWaits;

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
    const { files, ignored } = this;
    this.decisions = createDecisions({ files, ignored, sink, log, waits });
  }

  get refused(): readonly IgnoredFile[] {
    return this.ignored.current();
  }

  /** Whether there are files with bytes that are not decided yet. */
  get hasUndecided(): boolean {
    return [...this.files.undecided].some(({ size }) => size > 0);
  }

  /** Decides what those files are that can be told by now, and looks at the copies. */
  decideAll(): Promise<void> {
    return this.decisions.decideAll(this.disk.now());
  }

  /** Brings the tracked files in line with what is on the disk. */
  async sweep(): Promise<void> {
    // A restart is named after a listing that began later: the copy that was made before a truncation is in it.
    const restarts = this.decisions.restarted();
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
    for (const entry of others)
      if (this.files.streams.known(entry, null).path) byInode.set(entry.inode, entry);
    for (const entry of byInode.values()) this.files.track(entry, this.held.take(entry), now);
    const unlinked = new Set([...before, ...deleted]);
    for (const { entry, content } of await this.held.unlinked(unlinked, inodes))
      this.files.track(entry, content, now).entry = null;
    await this.meetStrays(inodes, now);
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

  /** Tells whether a file that is no longer listed has been read, and has rested, for long enough to let it go. */
  isOver(file: TrackedFile): boolean {
    if (file.entry && !file.isStray) return false;
    if (file.undecided) return file.size === 0;
    if (file.copy) return !this.decisions.isCopyInDoubt(file);
    if (file.exhausted !== file.version) return false;
    const isDeleted = file.content?.stat().links === 0;
    return this.disk.now() - file.changedAt > (isDeleted ? this.waits.deleted : this.waits.moved);
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
    const byInode = new Map<string, readonly Entry[]>();
    for (const entry of found)
      byInode.set(entry.inode, [...(byInode.get(entry.inode) ?? []), entry]);
    const strays = await this.strays(byInode);
    for (const file of this.files.values()) {
      const { source, inode, path } = file.state;
      const names = (byInode.get(inode) ?? []).filter((entry) => holds(file, entry));
      const listed = names.find((entry) => entry.path === path) ?? names[0];
      const found = file.content || listed ? undefined : strays.get(inode);
      file.isStray = found !== undefined && holds(file, { source, ...found });
      const at = listed ?? (found && file.isStray ? { source, ...found } : null);
      file.entry = at;
      file.missing = false;
      if (at) {
        claimed.add(inode);
        if (at.path !== path) {
          const { source, path: to, birth } = at;
          this.files.advance(file, { ...file.state, source, path: to, birth });
          if (file.isStray)
            this.log.info({ file: path, to }, 'file moved away; reading it to its end');
          else this.log.debug({ file: path, to }, 'file renamed');
          moved.push(file.state);
        }
        const { version } = file;
        this.files.observe(file, at);
        if (file.version === version) file.unchanged++;
        if (file.torn === file.version && now - file.changedAt > this.waits.incomplete)
          this.ignored.add(file.state, TORN);
      } else if (file.content) {
        await this.files.look(file);
      } else {
        gone.push(file);
      }
    }
    await this.files.drop(gone, moved);
    return claimed;
  }

  /** Finds, by inode, the files without a handle whose names are no longer listed: `app.log.old` is none of a log. */
  private strays(byInode: ReadonlyMap<string, readonly Entry[]>) {
    const unlisted = [...this.files.values()].filter(
      (file) => !file.content && !byInode.get(file.state.inode)?.some((at) => holds(file, at)),
    );
    return this.disk.find(new Set(unlisted.map(({ state }) => state.inode)));
  }

  /** Meets, after a start, the files whose logs were moved to such names while nothing ran. */
  private async meetStrays(listed: ReadonlySet<string>, now: number): Promise<void> {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const { streams } = this.files;
    const missing = [...streams.ids()].flatMap((id) => {
      const stream = this.files.get(id) ? undefined : streams.get(id);
      return stream && !stream.gone && !listed.has(stream.inode) ? [stream] : [];
    });
    if (missing.length === 0) return;
    const found = await this.disk.find(new Set(missing.map(({ inode }) => inode)));
    for (const { source, inode, birth, offset } of missing) {
      const there = found.get(inode);
      if (!there || there.birth !== birth || there.size === offset) continue;
      const entry = { source, ...there };
      if (!this.files.isTracked(entry)) this.files.track(entry, null, now).isStray = true;
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
      if (state.offset > 0 && !(await stillHolds(content, state))) {
        await this.files.replaced(file);
        continue;
      }
      // A log of which little was read may have been rewritten: another file may be a copy of what it holds now.
      if (state.offset < HEAD_BYTES && file.begun !== version) {
        const start = Buffer.alloc(HEAD_BYTES);
        this.files.begin(file, start.subarray(0, await content.read(start, 0)));
      }
      await this.files.closeSurplus(file);
    }
  }
}

/** Whether an entry is the file that is tracked: as long as a handle is open its inode is not used again. */
function holds({ content, state, version }: TrackedFile, entry: Entry): boolean {
  if (content) return true;
  return state.birth === '' ? entry.version === version : entry.birth === state.birth;
}
