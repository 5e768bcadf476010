import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Content, openContent } from './content.ts';
import { mayBecomeCopy, originalOf, readToEnd } from './copies.ts';
import { digest, holds, identify } from './identity.ts';
import { isGzip, isRotated } from './name.ts';
import { RecentBytes } from './recent.ts';
import { Refusals } from './refusals.ts';
import { type Found, found as foundBy, type Listing } from './scan.ts';
import type { LongLine } from './tail.ts';
import type { IngestLog, KnownFile, Refusal, Sink } from './types.ts';

/** A file that is being followed. Its handle outlives its name, so that a deleted file is read to its end. */
export interface TailedFile {
  known: KnownFile;
  /** As last seen at a path; null once no path leads to it. */
  found: Found | null;
  content: Content | null;
  size: number;
  version: string;
  /** The version that was read to its end: until it changes there is nothing to take. */
  exhausted: string | null;
  /** The version whose last line, without a newline, was looked at after a quiet time. */
  judged: string | null;
  long: LongLine | null;
  mtimeMs: number;
  /** When it was last seen to change, on the monotonic clock in ms. */
  changedAt: number;
  /** When it was last seen to grow; a file that was old when it was first seen has not grown yet. */
  grewAt: number;
}

/** The sink failed: not the fault of the file that is looked at. */
export class SinkError extends Error {}

/** A rotated name may be a copy that is still being written, and matches nothing yet. */
const SETTLE_MS = 1000;
/** A file first seen this soon after its last change is one that grows now. */
const FRESH_MS = 10_000;
/** A writer that keeps a moved file open may still write to it; a deleted one holds disk space. */
const MOVED_GRACE_MS = 60_000;
const DELETED_GRACE_MS = 5_000;
/** Handles beyond this many are closed; such a file is opened again by path, and identified anew. */
const MAX_OPEN = 500;
/** Of the handles that the process may have, log files take no more than this part: requests and the engine need some. */
const SHARE_OF_HANDLES = 0.25;

/**
 * Which files there are and which of the known ones they are. States of a known file:
 * followed (a path leads to it; `tailed`), shadow (followed, not read, because the file it is a copy of still holds the
 * bytes), vanished (followed through its handle only), gone (remembered, in case a copy or a `.gz` of it appears).
 */
export class Files {
  readonly tailed = new Map<number, TailedFile>();
  private readonly known = new Map<number, KnownFile>();
  private readonly recent = new RecentBytes();
  private readonly refusals: Refusals;
  private readonly waiting = new Map<string, { version: string; since: number }>();
  private lastId = 0;
  private handles = 0;
  private readonly maxOpen = Math.min(MAX_OPEN, Math.floor(handleLimit() * SHARE_OF_HANDLES));
  private readonly logs: string;
  private readonly sink: Sink;
  private readonly log: IngestLog;

  constructor(logs: string, sink: Sink, log: IngestLog) {
    this.logs = logs;
    this.sink = sink;
    this.log = log;
    this.refusals = new Refusals(log);
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
      const truth = committed.get(id) ?? { ...file.known, ...unread(), shadowOf: null };
      file.known = {
        ...truth,
        path: file.known.path,
        source: file.known.source,
        inode: file.known.inode,
      };
      file.long = null;
      file.exhausted = null;
      this.known.set(id, file.known);
    }
  }

  /** Notes what a file has become by a batch that is on its way. */
  advance(file: TailedFile, known: KnownFile, read: Buffer = Buffer.alloc(0)): void {
    this.recent.note(known, file.known.offset, read);
    file.known = known;
    this.known.set(known.id, known);
  }

  /** Brings the followed files in line with what a scan found. */
  async reconcile(listing: Listing): Promise<void> {
    this.refusals.begin(listing.refused);
    const now = performance.now();
    const claimed = new Set<string>();
    const byInode = new Map<string, Found[]>();
    for (const entry of listing.found) {
      byInode.set(entry.inode, [...(byInode.get(entry.inode) ?? []), entry]);
    }

    for (const file of this.tailed.values()) {
      const here = byInode.get(file.known.inode);
      const at = here?.find((entry) => entry.path === file.known.path) ?? here?.[0] ?? null;
      if (at) {
        claimed.add(at.inode);
        if (at.path !== file.known.path) await this.renamed(file, at);
        file.found = at;
        this.see(file, at, now);
      } else {
        file.found = null;
        if (!file.content) await this.drop(file);
      }
    }
    for (const entry of this.byKinship(listing.found.filter(({ inode }) => !claimed.has(inode)))) {
      // A second name of a file is passed over: it is read once.
      if (claimed.has(entry.inode)) continue;
      claimed.add(entry.inode);
      await this.meet(entry, now);
    }
    for (const file of [...this.tailed.values()]) {
      if (file.known.shadowOf !== null && !this.tailed.has(file.known.shadowOf))
        await this.inherit(file);
    }
    for (const path of this.waiting.keys()) {
      if (!listing.found.some((entry) => entry.path === path)) this.waiting.delete(path);
    }
    this.recent.forgetOld(now);
    this.refusals.name();
  }

  /** Looks at a followed file through its handle. */
  async look(file: TailedFile): Promise<void> {
    if (!file.content) return;
    const stats = await file.content.handle.stat({ bigint: true });
    this.see(file, foundBy(file.known.source, file.known.path, stats), performance.now());
  }

  /** The content of a followed file, opened if need be; null when it can not be had, or is another file by now. */
  async open(file: TailedFile): Promise<Content | null> {
    if (file.content) return file.content;
    const content = await this.openPath(file.known);
    if (!content) return null;
    const { dev, ino } = await content.handle.stat({ bigint: true });
    if (`${dev}:${ino}` !== file.known.inode) {
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

  /** Its bytes are not those that were read: it was truncated or replaced, and begins again as a new file. */
  async replaced(file: TailedFile): Promise<void> {
    const old: KnownFile = { ...file.known, inode: '', gone: true };
    this.tailed.delete(old.id);
    this.known.set(old.id, old);
    await this.sink.record([old], []);
    this.log.info(
      { file: old.path, offset: old.offset },
      'a file was truncated or replaced, it is read from its start',
    );
    const known: KnownFile = {
      ...old,
      ...unread(),
      id: ++this.lastId,
      inode: file.known.inode,
      gone: false,
      shadowOf: null,
    };
    this.follow({ ...file, known, exhausted: null, judged: null, long: null });
    for (const shadow of [...this.tailed.values()]) {
      if (shadow.known.shadowOf === old.id) await this.inherit(shadow);
    }
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
    this.tailed.delete(file.known.id);
    const inode = deleted ? '' : file.known.inode;
    const gone: KnownFile = { ...file.known, inode, gone: true };
    this.known.set(gone.id, gone);
    await this.sink.record([gone], []);
    this.log.debug({ file: gone.path, offset: gone.offset }, 'a file is gone');
    for (const shadow of [...this.tailed.values()]) {
      if (shadow.known.shadowOf === gone.id) await this.inherit(shadow);
    }
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

  /** Closes the handle of a file that is still followed. */
  async release(file: TailedFile): Promise<void> {
    await file.content?.close();
    file.content = null;
  }

  /** Keeps the number of open handles bounded; the files that have been quiet longest are closed. */
  async closeIdle(): Promise<void> {
    if (this.handles <= this.maxOpen) return;
    const open = [...this.tailed.values()].filter((file) => file.content);
    const idle = open.filter((file) => file.found && file.exhausted === file.version);
    idle.sort((a, b) => a.changedAt - b.changedAt);
    for (const file of idle.slice(0, this.handles - this.maxOpen)) await this.release(file);
  }

  /** Closes a file that was just met, or read to its end, when too many are open. */
  async closeSurplus(file: TailedFile): Promise<void> {
    if (file.found && this.handles > this.maxOpen) await this.release(file);
  }

  async close(): Promise<void> {
    for (const file of this.tailed.values()) await file.content?.close();
    this.tailed.clear();
  }

  /** Meets a file at a path for the first time: it is a known one, a copy of one, or new. */
  private async meet(entry: Found, now: number): Promise<void> {
    if (this.refusals.isPassedOver(entry)) return;
    const content = await this.openPath(entry);
    if (!content) return;
    let kept = false;
    try {
      // A rotation between the scan and the open: the name is another file's now, and met at the next sweep.
      const { dev, ino } = await content.handle.stat({ bigint: true });
      if (`${dev}:${ino}` !== entry.inode) return;
      const known = await this.whichFile(entry, content, now);
      if (!known) return;
      kept = true;
      this.waiting.delete(entry.path);
      const recent = Date.now() - entry.mtimeMs < FRESH_MS;
      const { size, version, mtimeMs } = entry;
      this.follow({
        known,
        found: entry,
        content,
        size,
        version,
        mtimeMs,
        exhausted: known.finished === version ? version : null,
        judged: null,
        long: null,
        changedAt: now,
        grewAt: recent ? now : Number.NEGATIVE_INFINITY,
      });
      const file = this.tailed.get(known.id);
      if (file) await this.closeSurplus(file);
    } finally {
      if (!kept) await content.close();
    }
  }

  /** The state of the file that stands at a path; null while that can not be told. */
  private async whichFile(entry: Found, content: Content, now: number): Promise<KnownFile | null> {
    let match: KnownFile | null;
    try {
      match = await identify(entry, content, this.known.values());
      if (match) return await this.recognise(entry, match);
      if (!isRotated(entry.path)) return this.newFile(entry);
      // A copy that is still being written, or whose original is not read so far, matches nothing yet.
      if (mayBecomeCopy(entry, this.known.values()) && !this.hasSettled(entry, now)) return null;
      return (await this.shorterCopy(entry, content)) ?? this.newFile(entry);
    } catch (cause) {
      if (cause instanceof SinkError) throw cause;
      const error = cause as NodeJS.ErrnoException;
      // A .gz that is still being written ends early.
      if (error.code === 'Z_BUF_ERROR' && !this.hasSettled(entry, now)) return null;
      this.refusals.passOver(entry, unreadable(entry.path, error));
      return null;
    }
  }

  /** The state of a copy of which every byte was read through its original; null when it is none. */
  private async shorterCopy(entry: Found, content: Content): Promise<KnownFile | null> {
    const contentOf = ({ id }: KnownFile) => this.tailed.get(id)?.content ?? null;
    const known = this.known.values();
    const found = await originalOf(entry, content, known, this.recent, contentOf);
    if (!found) return null;
    const { original, size } = found;
    const { source, path, inode } = entry;
    const copy: KnownFile = {
      ...original,
      ...(await readToEnd(content, size)),
      id: ++this.lastId,
      source,
      path,
      inode,
      shadowOf: this.tailed.has(original.id) ? original.id : null,
      gone: false,
      openLine: false,
    };
    await this.sink.record([copy], []);
    return copy;
  }

  /**
   * The order to meet files in: known inodes, known paths, then the rest, so that a copy does not pass for the file
   * that it is a copy of; the oldest first. Of several links to a known inode the one at its known path comes first: a
   * link in the folder of another source must not make the file that source's.
   */
  private byKinship(entries: Found[]): Found[] {
    const files = [...this.known.values()].filter((file) => !file.gone);
    const inodes = new Set(files.map((file) => file.inode));
    const paths = new Set(files.map((file) => file.path));
    const rank = (entry: Found) => {
      const isKnownPath = paths.has(entry.path);
      if (inodes.has(entry.inode)) return isKnownPath ? 0 : 1;
      if (isKnownPath) return 2;
      return isRotated(entry.path) ? 4 : 3;
    };
    return entries.sort((a, b) => rank(a) - rank(b) || a.mtimeMs - b.mtimeMs);
  }

  private async recognise(entry: Found, match: KnownFile): Promise<KnownFile> {
    const { source, path, inode } = entry;
    const original = this.tailed.get(match.id);
    if (!original) {
      const back: KnownFile = { ...match, source, path, inode, gone: false };
      if (match.path !== path || match.inode !== inode || match.gone)
        await this.sink.record([back], []);
      return back;
    }
    const shadow: KnownFile = {
      ...match,
      id: ++this.lastId,
      source,
      path,
      inode,
      shadowOf: match.id,
      finished: null,
    };
    await this.sink.record([shadow], []);
    this.log.debug({ file: path, original: match.path }, 'a file is a copy of one that is read');
    return shadow;
  }

  private newFile(entry: Found): KnownFile {
    const { source, path, inode } = entry;
    return { id: ++this.lastId, source, path, inode, shadowOf: null, gone: false, ...unread() };
  }

  /** The file that a shadow is a copy of is gone or holds other bytes: the copy goes on where that one was left. */
  private async inherit(shadow: TailedFile): Promise<void> {
    const original = this.known.get(shadow.known.shadowOf ?? -1);
    const { id, source, path, inode } = shadow.known;
    let known: KnownFile = { ...shadow.known, shadowOf: null };
    const content = await this.open(shadow);
    if (!content) return;
    if (original && (await holds(content, original).catch(() => false))) {
      known = { ...original, id, source, path, inode, gone: false, shadowOf: null, finished: null };
    } else if (original && !content.gzip && shadow.size < original.offset) {
      // An older, shorter copy: every byte of it was read through the original.
      known = { ...known, ...(await readToEnd(content, shadow.size)) };
    }
    this.advance(shadow, known);
    const heirs = [...this.tailed.values()].filter(
      (file) => file !== shadow && file.known.shadowOf === original?.id,
    );
    for (const heir of heirs) this.advance(heir, { ...heir.known, shadowOf: id });
    shadow.exhausted = null;
    if (original) this.known.delete(original.id);
    await this.sink.record(
      [known, ...heirs.map((heir) => heir.known)],
      original ? [original.id] : [],
    );
    this.log.info(
      { file: path, offset: known.offset },
      'a copy goes on where its original was left',
    );
  }

  private async renamed(file: TailedFile, at: Found): Promise<void> {
    this.log.debug({ file: file.known.path, to: at.path }, 'a file was renamed');
    this.advance(file, { ...file.known, path: at.path, source: at.source });
    if (file.known.offset > 0) await this.sink.record([file.known], []);
  }

  private see(file: TailedFile, at: Found, now: number): void {
    if (at.version === file.version) return;
    if (at.size > file.size) file.grewAt = now;
    if (file.long && at.size < file.long.scanned) file.long = null;
    file.size = at.size;
    file.version = at.version;
    file.mtimeMs = at.mtimeMs;
    file.changedAt = now;
  }

  private follow(file: TailedFile): void {
    this.tailed.set(file.known.id, file);
    this.known.set(file.known.id, file.known);
  }

  private hasSettled(entry: Found, now: number): boolean {
    const seen = this.waiting.get(entry.path);
    if (seen?.version === entry.version) return now - seen.since >= SETTLE_MS;
    this.waiting.set(entry.path, { version: entry.version, since: now });
    return false;
  }

  private async unfollow(file: TailedFile): Promise<void> {
    await file.content?.close().catch(() => {});
    file.content = null;
    this.tailed.delete(file.known.id);
  }

  private async openPath(entry: {
    source: Found['source'];
    path: string;
  }): Promise<Content | null> {
    try {
      const content = await openContent(join(this.logs, entry.path));
      this.handles++;
      return {
        ...content,
        close: () => {
          this.handles--;
          return content.close();
        },
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.refusals.add(entry, `it can not be opened (${code})`);
      return null;
    }
  }
}

/** How many handles the process may have, as Linux tells it; Infinity elsewhere, and without a limit. */
function handleLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function unread() {
  const nothing = digest(Buffer.alloc(0));
  return { offset: 0, head: nothing, anchor: nothing, openLine: false, finished: null };
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException): string {
  return `it can not be ${isGzip(path) ? 'unpacked' : 'read'} (${code ?? message})`;
}
