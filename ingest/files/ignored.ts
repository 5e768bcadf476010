import type { IgnoredFile, IngestLog } from '../types.ts';
import type { Entry } from './scan.ts';

/** A refusal that comes again within this time is not logged again. */
const FORGET_MS = 600_000;

/** The files that are not read, and why: as of the last sweep, and those that are passed over until they change. */
export class Ignored {
  private list = new Map<string, IgnoredFile>();
  private readonly passed = new Map<string, { version: string; reason: string }>();
  /** When each refusal that was logged stood last, on the monotonic clock in ms. */
  private readonly named = new Map<string, number>();
  private readonly log: IngestLog;

  constructor(log: IngestLog) {
    this.log = log;
  }

  current(): readonly IgnoredFile[] {
    return [...this.list.values()];
  }

  /** A sweep begins, with what the scan refused. */
  begin(refused: readonly IgnoredFile[]): void {
    this.list = new Map(refused.map((each) => [keyOf(each), each]));
  }

  add({ source, path }: Pick<IgnoredFile, 'source' | 'path'>, reason: string): void {
    const refusal = { source, path, reason };
    this.list.set(keyOf(refusal), refusal);
  }

  /** Refuses a file in this sweep and in those that follow, until its version changes. */
  ignoreUntilChanged(entry: Pick<Entry, 'source' | 'path' | 'version'>, reason: string): void {
    this.passed.set(entry.path, { version: entry.version, reason });
    this.add(entry, reason);
  }

  /** Whether a file was passed over and has not changed since; it is refused again then. */
  isIgnored(entry: Entry): boolean {
    const passed = this.passed.get(entry.path);
    if (passed?.version !== entry.version) return false;
    this.add(entry, passed.reason);
    return true;
  }

  /** Logs each refusal once, for as long as it lasts. A file that is rewritten now and then is empty for moments. */
  name(): void {
    const now = performance.now();
    for (const [key, refusal] of this.list) {
      if (!this.named.has(key))
        this.log.warn({ file: refusal.path, reason: refusal.reason }, 'this is not read');
      this.named.set(key, now);
    }
    for (const [key, last] of this.named) if (now - last > FORGET_MS) this.named.delete(key);
  }
}

function keyOf({ path, reason }: IgnoredFile): string {
  return `${path}\n${reason}`;
}
