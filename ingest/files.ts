import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Content } from './content.ts';
import { Handles } from './handles.ts';
import { holds, UNREAD } from './identity.ts';
import { byKinship } from './kinship.ts';
import { isGzip } from './name.ts';
import { RecentBytes } from './recent.ts';
import { Recognition } from './recognition.ts';
import { Refusals } from './refusals.ts';
import { type Found, found as foundBy, type Listing } from './scan.ts';
import { apart, inheritance, isAtRest } from './shadow.ts';
import { metFile, see, type TailedFile } from './tailed-file.ts';
import type { IngestLog, KnownFile, Refusal, Sink } from './types.ts';

/** The sink failed: not the fault of the file that is looked at. */
export class SinkError extends Error {}

/** A writer that keeps a moved file open may still write to it; a deleted one holds disk space. */
const MOVED_GRACE_MS = 60_000;
const DELETED_GRACE_MS = 5_000;

/**
 * Which files there are and which of the known ones they are. States of a known file:
 * followed (a path leads to it; `tailed`), shadow (followed, not read, because the file it is a copy of still holds the
 * bytes), vanished (followed through its handle only), gone (remembered, in case a copy or a `.gz` of it appears).
 */
export class Files {
  readonly tailed = new Map<number, TailedFile>();
  private readonly known = new Map<number, KnownFile>();
  private lastId = 0;
  private readonly recent = new RecentBytes();
  private readonly recognition: Recognition;
  private readonly refusals: Refusals;
  private readonly handles = new Handles();
  private readonly logs: string;
  private readonly sink: Sink;
  private readonly log: IngestLog;

  constructor(logs: string, sink: Sink, log: IngestLog) {
    this.logs = logs;
    this.sink = sink;
    this.log = log;
    this.refusals = new Refusals(log);
    const { known, tailed, recent } = this;
    this.recognition = new Recognition({ known, tailed, recent, newId: () => ++this.lastId });
  }

  get refused(): readonly Refusal[] {
    return this.refusals.current();
  }

  /** Takes the committed states for the truth: at the start, and whenever a batch may not have been stored. */
  async reload(): Promise<void> {
    const committed = new Map((await this.sink.files()).map((file) => [file.id, file]));
    this.known.clear();
    for (const [id, file] of committed) {
      this.known.set(id, file);
      this.lastId = Math.max(this.lastId, id);
    }
    for (const [id, file] of this.tailed) {
      const truth = committed.get(id) ?? { ...file.known, ...UNREAD, shadowOf: null };
      const { source, path, inode } = file.known;
      file.known = { ...truth, source, path, inode };
      file.long = null;
      file.exhausted = null;
      this.known.set(id, file.known);
    }
  }

  /** Brings the followed files in line with what a scan found. */
  async reconcile({ found, refused }: Listing): Promise<void> {
    this.refusals.begin(refused);
    const now = performance.now();
    const claimed = await this.revisit(found, now);
    const others = found.filter(({ inode }) => !claimed.has(inode));
    for (const entry of byKinship(others, this.known.values())) {
      // A second name of a file is passed over: it is read once.
      if (claimed.has(entry.inode)) continue;
      claimed.add(entry.inode);
      await this.meet(entry, now);
    }
    for (const file of [...this.tailed.values()]) {
      if (file.known.shadowOf === null) continue;
      const original = this.tailed.get(file.known.shadowOf);
      if (!original) await this.inherit(file);
      else if (isAtRest(original, now)) await this.partIfLonger(file, original);
    }
    this.recognition.forgetOthers(found);
    this.recent.forgetOld(now);
    this.refusals.name();
  }

  /** Notes where the followed files are now, and which have vanished; gives the inodes that are theirs. */
  private async revisit(found: readonly Found[], now: number): Promise<Set<string>> {
    const claimed = new Set<string>();
    const byInode = new Map<string, Found[]>();
    for (const entry of found) {
      byInode.set(entry.inode, [...(byInode.get(entry.inode) ?? []), entry]);
    }
    for (const file of this.tailed.values()) {
      const here = byInode.get(file.known.inode);
      const at = here?.find((entry) => entry.path === file.known.path) ?? here?.[0] ?? null;
      if (at) {
        claimed.add(at.inode);
        if (at.path !== file.known.path) await this.renamed(file, at);
        file.found = at;
        see(file, at, now);
      } else {
        file.found = null;
        if (!file.content) await this.drop(file);
      }
    }
    return claimed;
  }

  private async renamed(file: TailedFile, at: Found): Promise<void> {
    this.log.debug({ file: file.known.path, to: at.path }, 'a file was renamed');
    this.advance(file, { ...file.known, path: at.path, source: at.source });
    await this.recordUnlessNew(file.known);
  }

  /** Meets a file at a path for the first time: it is a known one, a copy of one, or new. */
  private async meet(entry: Found, now: number): Promise<void> {
    if (this.refusals.isPassedOver(entry)) return;
    const content = await this.openPath(entry);
    if (!content) return;
    let kept = false;
    try {
      // A rotation between the scan and the open: the name is another file's now, and met at the next sweep.
      if ((await inodeOf(content)) !== entry.inode) return;
      const known = await this.recognise(entry, content, now);
      if (!known) return;
      kept = true;
      const file = metFile(known, entry, content, now);
      this.follow(file);
      await this.closeSurplus(file);
    } finally {
      if (!kept) await content.close();
    }
  }

  /** The state of the file that stands at a path, recorded; null while that can not be told, or when it can not be read. */
  private async recognise(entry: Found, content: Content, now: number): Promise<KnownFile | null> {
    let known: KnownFile | null;
    try {
      known = await this.recognition.whichFile(entry, content, now);
    } catch (error) {
      this.refusals.passOver(entry, unreadable(entry.path, error as NodeJS.ErrnoException));
      return null;
    }
    if (!known || known === this.known.get(known.id)) return known;
    await this.recordUnlessNew(known);
    const original = known.shadowOf === null ? undefined : this.known.get(known.shadowOf);
    if (original)
      this.log.debug(
        { file: known.path, original: original.path },
        'a file is a copy of one that is read',
      );
    return known;
  }

  private follow(file: TailedFile): void {
    this.tailed.set(file.known.id, file);
    this.known.set(file.known.id, file.known);
  }

  /** Of a file of which nothing was read there is nothing to remember; its first batch records it. */
  private async recordUnlessNew(known: KnownFile): Promise<void> {
    if (known.offset > 0) await this.sink.record([known], []);
  }

  /** Its bytes are not those that were read: it was truncated or replaced, and begins again as a new file. */
  async replaced(file: TailedFile): Promise<void> {
    const { inode } = file.known;
    const old = await this.leave(file, '');
    this.log.info(
      { file: old.path, offset: old.offset },
      'a file was truncated or replaced, it is read from its start',
    );
    const id = ++this.lastId;
    const known = { ...old, ...UNREAD, id, inode, gone: false, shadowOf: null };
    this.follow({ ...file, known, exhausted: null, judged: null, long: null });
    await this.inheritFrom(old);
  }

  /** Whether a file that no path leads to any more has been read, and been quiet, for long enough to let it go. */
  isOver(file: TailedFile, deleted: boolean): boolean {
    if (file.found) return false;
    if (file.known.shadowOf !== null) return true;
    if (file.exhausted !== file.version) return false;
    return performance.now() - file.changedAt > (deleted ? DELETED_GRACE_MS : MOVED_GRACE_MS);
  }

  /** Lets a vanished file go; it stays known. The inode of a deleted one may be another file's by now. */
  async drop(file: TailedFile, deleted = false): Promise<void> {
    await this.release(file);
    const gone = await this.leave(file, deleted ? '' : file.known.inode);
    this.log.debug({ file: gone.path, offset: gone.offset }, 'a file is gone');
    await this.inheritFrom(gone);
  }

  /** Follows a file no longer, and remembers it with this inode. */
  private async leave(file: TailedFile, inode: string): Promise<KnownFile> {
    const gone: KnownFile = { ...file.known, inode, gone: true };
    // First: as long as it can not be recorded the file is followed, and found so again.
    await this.sink.record([gone], []);
    this.tailed.delete(gone.id);
    this.known.set(gone.id, gone);
    return gone;
  }

  private async inheritFrom(original: KnownFile): Promise<void> {
    for (const file of this.shadowsOf(original.id)) {
      // The first takes the others along.
      if (file.known.shadowOf === original.id) await this.inherit(file);
    }
  }

  /** A shadow that is no copy of what its original holds now is read on by itself. */
  private async partIfLonger(shadow: TailedFile, original: TailedFile): Promise<void> {
    const versions = `${shadow.version} ${original.version}`;
    if (shadow.comparedAt === versions) return;
    // Not by `open`: one that is written anew, and does not hold its bytes now, stays a shadow.
    const opened = shadow.content ? null : await this.openPath(shadow.known);
    const content = shadow.content ?? opened;
    if (!content) return;
    try {
      if ((await inodeOf(content)) !== shadow.known.inode) return;
      const known = await apart(shadow, content, original);
      // What was written to the original and copied since it was seen would be read from both.
      if (!(await this.isAsSeen(original))) return;
      if (known) {
        await this.goOn(shadow, known, original.known);
        this.log.info(
          { file: known.path, original: original.known.path, offset: known.offset },
          'a file has more than the one that it seemed to be a copy of, and is read on by itself',
        );
      }
      shadow.comparedAt = versions;
    } catch (error) {
      if (error instanceof SinkError) throw error;
      await this.fail(shadow, error as NodeJS.ErrnoException);
    } finally {
      await opened?.close();
    }
  }

  private async isAsSeen({ known, version }: TailedFile): Promise<boolean> {
    const stats = await lstat(join(this.logs, known.path), { bigint: true }).catch(() => null);
    return stats !== null && foundBy(known.source, known.path, stats).version === version;
  }

  /** The file that a shadow is a copy of is gone or holds other bytes: the copy goes on where that one was left. */
  private async inherit(shadow: TailedFile): Promise<void> {
    const original = this.known.get(shadow.known.shadowOf ?? -1);
    const content = await this.open(shadow);
    if (!content) return;
    const known = await inheritance(shadow, content, original);
    await this.goOn(shadow, known, original, original ? [original.id] : []);
    this.log.info(
      { file: known.path, offset: known.offset },
      'a copy goes on where its original was left',
    );
  }

  /** A shadow is a shadow no longer; the others of its original are copies of it from now on. */
  private async goOn(
    shadow: TailedFile,
    known: KnownFile,
    original: KnownFile | undefined,
    forgotten: readonly number[] = [],
  ): Promise<void> {
    const heirs = original ? this.shadowsOf(original.id).filter((file) => file !== shadow) : [];
    const states = new Map([[shadow, known]]);
    for (const heir of heirs) states.set(heir, { ...heir.known, shadowOf: known.id });
    await this.sink.record([...states.values()], forgotten);
    for (const [file, state] of states) this.advance(file, state);
    for (const id of forgotten) this.known.delete(id);
    shadow.exhausted = null;
  }

  private shadowsOf(id: number): TailedFile[] {
    return [...this.tailed.values()].filter(({ known }) => known.shadowOf === id);
  }

  /** Reading failed: the file is named, and met again at the next sweep; a `.gz` only when it has changed. */
  async fail(file: TailedFile, error: NodeJS.ErrnoException): Promise<void> {
    if (isGzip(file.known.path)) return this.refuse(file, unreadable(file.known.path, error));
    await this.unfollow(file);
    this.refusals.add(file.known, unreadable(file.known.path, error));
    this.refusals.name();
  }

  /** Names a file that is not read, and passes it over until it changes. */
  async refuse(file: TailedFile, reason: string): Promise<void> {
    await this.unfollow(file);
    const { source, path } = file.known;
    this.refusals.passOver({ source, path, version: file.version }, reason);
    this.refusals.name();
  }

  private async unfollow(file: TailedFile): Promise<void> {
    await file.content?.close().catch(() => {});
    file.content = null;
    this.tailed.delete(file.known.id);
  }

  /** Looks at a followed file through its handle. */
  async look(file: TailedFile): Promise<void> {
    if (!file.content) return;
    const stats = await file.content.handle.stat({ bigint: true });
    see(file, foundBy(file.known.source, file.known.path, stats), performance.now());
  }

  /** Notes what a file has become by a batch that is on its way. */
  advance(file: TailedFile, known: KnownFile, read: Buffer = Buffer.alloc(0)): void {
    this.recent.note(known, file.known.offset, read);
    file.known = known;
    this.known.set(known.id, known);
  }

  /** The content of a followed file, opened if need be; null when it can not be had, or is another file by now. */
  async open(file: TailedFile): Promise<Content | null> {
    if (file.content) return file.content;
    const content = await this.openPath(file.known);
    if (!content) return null;
    if ((await inodeOf(content)) !== file.known.inode) {
      // The name was given to another file since the scan; the next one tells where this one is.
      await content.close();
      file.exhausted = file.version;
      return null;
    }
    try {
      if (!(await holds(content, file.known))) {
        await content.close();
        await this.replaced(file);
        return null;
      }
    } catch (error) {
      await content.close();
      if (error instanceof SinkError) throw error;
      await this.fail(file, error as NodeJS.ErrnoException);
      return null;
    }
    file.content = content;
    return content;
  }

  private async openPath(entry: Pick<Found, 'source' | 'path'>): Promise<Content | null> {
    try {
      return await this.handles.open(join(this.logs, entry.path));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.refusals.add(entry, `it can not be opened (${code})`);
      return null;
    }
  }

  /**
   * Forgets a file that its maker has removed for good, so that no copy of it can appear. Gives whether that is done: not
   * before it was let go.
   */
  async forget(path: string): Promise<boolean> {
    const states = [...this.known.values()].filter((file) => file.path === path);
    if (states.some(({ id }) => this.tailed.has(id))) return false;
    const ids = states.map(({ id }) => id);
    if (ids.length > 0) await this.sink.record([], ids);
    for (const id of ids) this.known.delete(id);
    return true;
  }

  /** Closes the handle of a file that is still followed. */
  async release(file: TailedFile): Promise<void> {
    await file.content?.close();
    file.content = null;
  }

  /** Keeps the number of open handles bounded; the files that have been quiet longest are closed. */
  async closeIdle(): Promise<void> {
    const surplus = this.handles.surplus();
    if (surplus === 0) return;
    const open = [...this.tailed.values()].filter((file) => file.content);
    const idle = open.filter((file) => file.found && file.exhausted === file.version);
    idle.sort((a, b) => a.changedAt - b.changedAt);
    for (const file of idle.slice(0, surplus)) await this.release(file);
  }

  /** Closes a file that was just met, or read to its end, when too many are open. */
  async closeSurplus(file: TailedFile): Promise<void> {
    if (file.found && this.handles.surplus() > 0) await this.release(file);
  }

  async close(): Promise<void> {
    for (const file of this.tailed.values()) await file.content?.close();
    this.tailed.clear();
  }
}

async function inodeOf({ handle }: Content): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return `${dev}:${ino}`;
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException): string {
  return `it can not be ${isGzip(path) ? 'unpacked' : 'read'} (${code ?? message})`;
}
