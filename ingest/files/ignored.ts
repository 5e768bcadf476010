import type { IgnoredFile, IngestLog } from '../types.ts';
import type { Entry } from './scan.ts';

/** The files that are not read, and why: as of the last sweep, and those that are passed over until they change. */
export class Ignored {
  private list: IgnoredFile[] = [];
  private readonly passed = new Map<string, { version: string; reason: string }>();
  private readonly named = new Set<string>();
  private readonly log: IngestLog;

  constructor(log: IngestLog) {
    this.log = log;
  }

  current(): readonly IgnoredFile[] {
    return this.list;
  }

  /** A sweep begins, with what the scan refused. */
  begin(refused: readonly IgnoredFile[]): void {
    this.list = [...refused];
  }

  add({ source, path }: Pick<IgnoredFile, 'source' | 'path'>, reason: string): void {
    this.list.push({ source, path, reason });
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

  /** Logs each refusal once, for as long as it lasts. */
  name(): void {
    const current = new Set(this.list.map(keyOf));
    for (const refusal of this.list) {
      const key = keyOf(refusal);
      if (this.named.has(key)) continue;
      this.named.add(key);
      this.log.warn({ file: refusal.path, reason: refusal.reason }, 'this is not read');
    }
    for (const key of this.named) if (!current.has(key)) this.named.delete(key);
  }
}

function keyOf({ path, reason }: IgnoredFile): string {
  return `${path}\n${reason}`;
}
