import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Text of a write: runs of one character are their number. */
type Text = readonly (string | readonly [character: string, count: number])[];

/** What a program did to a file; `file` stands for what it opened. Paths are relative to its folder. */
type Step =
  | {
      readonly op: 'open';
      readonly file: number;
      readonly path: string;
      readonly append: boolean;
      readonly create: boolean;
      readonly truncate: boolean;
      readonly exclusive: boolean;
    }
  | { readonly op: 'write'; readonly file: number; readonly text: Text; readonly at?: number }
  | { readonly op: 'write'; readonly file: number; readonly base64: string; readonly at?: number }
  | {
      readonly op: 'truncate';
      readonly file?: number;
      readonly path?: string;
      readonly size: number;
    }
  | { readonly op: 'rename' | 'link'; readonly from: string; readonly to: string }
  | { readonly op: 'symlink'; readonly target: string; readonly path: string }
  | { readonly op: 'unlink' | 'mkdir' | 'rmdir'; readonly path: string }
  | { readonly op: 'close'; readonly file: number }
  | { readonly op: 'rest' };

const TAPES = join(__dirname, '../tapes/tapes');

/** The names of the tapes, which test/tapes/README.md lists. */
export function tapes(): string[] {
  return readdirSync(TAPES)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.slice(0, -'.jsonl'.length));
}

const ID = /"id":"([^"]+)"[^\n]*\n/g;

/** Does in a folder, step by step, what a program did there when its tape was recorded. */
export class TapePlayer {
  readonly name: string;
  /** The ids of the lines that were written. */
  readonly written = new Set<string>();
  private readonly folder: string;
  private readonly steps: readonly Step[];
  private next = 0;
  private readonly open = new Map<number, number>();
  /** The last line of each file, as long as its end has not come. */
  private readonly tails = new Map<number, string>();

  constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.steps = readFileSync(join(TAPES, `${name}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Step);
  }

  get isOver(): boolean {
    return this.next >= this.steps.length;
  }

  /** Plays so many steps, or fewer: none that destroys the only bytes of a line that is not `stored`. */
  play(count: number, stored: ReadonlySet<string>): void {
    for (let n = 0; n < count && !this.isOver; n++) {
      const step = this.steps[this.next] as Step;
      if (this.destroys(step, stored)) return;
      this.take(step);
      this.next++;
    }
  }

  /** The ids of lines that stand in files whose paths are those of logs. */
  standing(isLog: (path: string) => boolean): ReadonlySet<string> {
    return new Set(
      this.paths()
        .filter(isLog)
        .flatMap((path) => this.idsIn(path)),
    );
  }

  close(): void {
    for (const handle of this.open.values()) closeSync(handle);
    this.open.clear();
  }

  private take(step: Step): void {
    const { op } = step;
    if (op === 'open') this.open.set(step.file, openSync(this.at(step.path), flagsOf(step), 0o644));
    else if (op === 'write') this.write(step);
    else if (op === 'truncate') this.truncate(step);
    else if (op === 'rename') renameSync(this.at(step.from), this.at(step.to));
    else if (op === 'link') linkSync(this.at(step.from), this.at(step.to));
    else if (op === 'symlink') symlinkSync(step.target, this.at(step.path));
    else if (op === 'unlink') unlinkSync(this.at(step.path));
    else if (op === 'mkdir') mkdirSync(this.at(step.path));
    else if (op === 'rmdir') rmdirSync(this.at(step.path));
    else if (op === 'close') {
      closeSync(this.handle(step.file));
      this.open.delete(step.file);
    }
  }

  private truncate({ file, path = '', size }: Extract<Step, { op: 'truncate' }>): void {
    if (file === undefined) truncateSync(this.at(path), size);
    else ftruncateSync(this.handle(file), size);
  }

  private write(step: Extract<Step, { op: 'write' }>): void {
    const { file, at = null } = step;
    if ('base64' in step) {
      writeSync(this.handle(file), Buffer.from(step.base64, 'base64'), 0, undefined, at);
      return;
    }
    const text = step.text
      .map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1])))
      .join('');
    writeSync(this.handle(file), text, at);
    const all = (this.tails.get(file) ?? '') + text;
    for (const [, id = ''] of all.matchAll(ID)) this.written.add(id);
    this.tails.set(file, all.slice(all.lastIndexOf('\n') + 1));
  }

  private destroys(step: Step, stored: ReadonlySet<string>): boolean {
    const paths = this.destroyedBy(step);
    if (paths.length === 0) return false;
    const kept = new Set<string>();
    for (const path of this.paths())
      if (!paths.includes(path)) for (const id of this.idsIn(path)) kept.add(id);
    return paths
      .flatMap((path) => this.idsIn(path))
      .some((id) => this.written.has(id) && !stored.has(id) && !kept.has(id));
  }

  /** The paths whose files a step empties or removes. */
  private destroyedBy(step: Step): string[] {
    if (step.op === 'unlink') return [step.path];
    if (step.op === 'rename') return [step.to];
    if (step.op === 'open' && step.truncate) return [step.path];
    if (step.op !== 'truncate') return [];
    if (step.path !== undefined) return [step.path];
    const { ino } = statSync(`/proc/self/fd/${this.handle(step.file ?? -1)}`);
    return this.paths().filter((path) => statSync(this.at(path)).ino === ino);
  }

  private paths(): string[] {
    return readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.folder.length + 1));
  }

  private idsIn(path: string): string[] {
    if (!existsSync(this.at(path))) return [];
    const bytes = readFileSync(this.at(path));
    try {
      const text = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
      return [...text.toString().matchAll(ID)].map(([, id = '']) => id);
    } catch {
      // It is still being packed.
      return [];
    }
  }

  private at(path: string): string {
    return join(this.folder, path);
  }

  private handle(file: number): number {
    const handle = this.open.get(file);
    if (handle === undefined) throw new Error(`${this.name}: nothing is open as ${file}`);
    return handle;
  }
}

function flagsOf(step: Extract<Step, { op: 'open' }>): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_TRUNC, O_EXCL } = constants;
  return (
    O_RDWR |
    (step.append ? O_APPEND : 0) |
    (step.create ? O_CREAT : 0) |
    (step.truncate ? O_TRUNC : 0) |
    (step.exclusive ? O_EXCL : 0)
  );
}
