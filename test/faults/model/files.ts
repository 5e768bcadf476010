import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Source } from '../../../ingest/index.ts';

/** A log and how a rotation names its files; the nth is the nth that was made, or counts from the newest. */
interface Log {
  readonly source: Source;
  readonly path: string;
  /** `shift`: app.log → app.log.1 → app.log.2; `date`: each under a name of its own, for good. */
  readonly naming: 'shift' | 'date';
  /** A line that files of this log may begin with, always the same bytes. */
  readonly header: string;
}

const log = (source: Source, path: string, naming: Log['naming']): Log => ({
  source,
  path,
  naming,
  header: `{"id":"header of ${path}","timestamp":"${momentOf(0)}","project":"p","event_message":"the same in every file"}\n`,
});

export const LOGS: readonly Log[] = [
  log('edge_logs', 'edge_logs/a.log', 'shift'),
  log('edge_logs', 'edge_logs/deep/b.ndjson', 'date'),
  log('auth_logs', 'auth_logs/c.log', 'shift'),
];

/** Lines are a second apart, so that `logs.all` can be asked for a part of them; headers are of the first second. */
export function momentOf(sequence: number): string {
  return new Date(Date.UTC(2026, 10, 1) + sequence * 1000).toISOString();
}

/** A file on the disk and in the model, which knows every byte of it. */
export interface ModelFile {
  readonly log: number;
  /** Below the logs folder. */
  path: string;
  /** What stands in it, unpacked, without NULs. */
  text: string;
  /** Where its writer writes next; what is reserved behind that, or left out before it, is NULs. */
  end: number;
  /** It ends in a part of a line, and room that its writer has left behind: what comes next is a line of its own. */
  torn: boolean;
  packed: boolean;
  /** It was made by copying or packing, not by a writer. */
  readonly copy: boolean;
  /** The rest of a line that was begun in it. */
  rest: string;
  /** The run of the service that has it open for certain; 0: none. */
  openIn: number;
  /** The service has met it, and knows what it is. */
  met: boolean;
  /** A copy that is shorter than what its original had come to when that was truncated, and may not be known as one yet. */
  short: boolean;
}

/** The files of all logs, newest first; what is done to them is done on the disk and in the model. */
export class ModelFiles {
  private readonly files: ModelFile[][] = LOGS.map(() => []);
  /** The last save of each log: on the disk and in the model. */
  private readonly saved: ({ text: string; bytes: Buffer } | undefined)[] = [];
  private readonly logs: string;
  private dates = 0;

  constructor(logs: string) {
    this.logs = logs;
    for (const { path } of LOGS) mkdirSync(dirname(join(logs, path)), { recursive: true });
  }

  all(): ModelFile[] {
    return this.files.flat();
  }

  /** The file that is written, or the nth newest rotated one. */
  at(log: number, nth: number): ModelFile | undefined {
    const files = this.files[log] ?? [];
    const current = this.current(log);
    return nth === 0 ? current : files.filter((file) => file !== current)[nth - 1];
  }

  /** Under the log's own name, unless another `path` is given. */
  create(log: number, text = '', path = (LOGS[log] as Log).path): ModelFile {
    const file: ModelFile = {
      log,
      path,
      text,
      end: text.length,
      torn: false,
      packed: false,
      copy: false,
      rest: '',
      openIn: 0,
      met: false,
      short: false,
    };
    writeFileSync(this.on(file), text, { flag: 'wx' });
    this.files[log]?.unshift(file);
    return file;
  }

  append(file: ModelFile, text: string): void {
    const descriptor = openSync(this.on(file), 'r+');
    writeSync(descriptor, text, file.end);
    closeSync(descriptor);
    file.text += file.torn ? `\n${text}` : text;
    file.torn = false;
    file.end += text.length;
  }

  /** Reserves room behind what stands in the file; `leave`: its writer goes on behind it. */
  reserve(file: ModelFile, bytes: number, leave: boolean): void {
    truncateSync(this.on(file), file.end + bytes);
    if (leave) file.end += bytes;
  }

  /** `hole`: its writer goes on where it was, as one without O_APPEND does. */
  truncate(file: ModelFile, hole = false): void {
    truncateSync(this.on(file), 0);
    file.text = '';
    file.torn = false;
    if (!hole) file.end = 0;
  }

  /** Another log's file that has a name as a rotation of this one's would have. */
  twin(log: number, number: number): ModelFile | undefined {
    return this.files[log]?.find(({ path }) => path === twinPath(log, number));
  }

  createTwin(log: number, number: number, text: string): ModelFile {
    return this.create(log, text, twinPath(log, number));
  }

  save(log: number): void {
    const file = this.current(log);
    if (file) this.saved[log] = { text: file.text, bytes: readFileSync(this.on(file)) };
  }

  /** Puts what was saved in the place of the log, which is not there any more. */
  putBack(log: number): ModelFile | null {
    const saved = this.saved[log];
    if (!saved) return null;
    const file = this.create(log);
    writeFileSync(this.on(file), saved.bytes);
    file.text = saved.text;
    file.end = saved.bytes.length;
    return file;
  }

  /** The rotated files beyond so many, oldest first. */
  beyond(log: number, keep: number): ModelFile[] {
    const rotated = (this.files[log] ?? []).filter(
      (file) => file !== this.current(log) && !isTwin(file),
    );
    return rotated.slice(keep).reverse();
  }

  delete(file: ModelFile): void {
    unlinkSync(this.on(file));
    this.files[file.log] = (this.files[file.log] ?? []).filter((other) => other !== file);
  }

  /** Moves the rotated files out of the way, and the file that is written to the newest rotated name. */
  rename(file: ModelFile): void {
    this.move(file, this.rotatedName(file.log));
  }

  /** Copies the file to the newest rotated name, as logrotate's `copytruncate` does first. */
  copy(file: ModelFile): ModelFile {
    const copy = {
      ...file,
      path: this.rotatedName(file.log),
      copy: true,
      rest: '',
      openIn: 0,
      met: false,
    };
    copyFileSync(this.on(file), this.on(copy));
    this.files[file.log]?.splice(1, 0, copy);
    return copy;
  }

  /** Packs a rotated file beside itself, as gzip does first. */
  pack(file: ModelFile): ModelFile {
    const path = `${file.path}.gz`;
    const packed = { ...file, path, copy: true, packed: true, rest: '', openIn: 0, met: false };
    writeFileSync(this.on(packed), gzipSync(readFileSync(this.on(file))));
    const files = this.files[file.log] ?? [];
    files.splice(files.indexOf(file) + 1, 0, packed);
    return packed;
  }

  private current(log: number): ModelFile | undefined {
    return this.files[log]?.find((file) => file.path === LOGS[log]?.path);
  }

  private rotatedName(log: number): string {
    const { path, naming } = LOGS[log] as Log;
    if (naming === 'date') {
      const date = `-202611${String(10 + this.dates++).padStart(2, '0')}`;
      return path.replace(/\.\w+$/, (extension) => date + extension);
    }
    const rotated = this.files[log]?.filter((file) => file.path !== path && !isTwin(file)) ?? [];
    for (const file of rotated.toReversed())
      this.move(
        file,
        file.path.replace(/\.(\d+)(?=$|\.gz$)/, (_, number) => `.${Number(number) + 1}`),
      );
    return `${path}.1`;
  }

  private move(file: ModelFile, to: string): void {
    const from = this.on(file);
    file.path = to;
    renameSync(from, this.on(file));
  }

  private on({ path }: ModelFile): string {
    return join(this.logs, path);
  }
}

function twinPath(log: number, number: number): string {
  const { path } = LOGS[log] as Log;
  return path.replace(/\.\w+$/, (extension) => `-${number}${extension}`);
}

function isTwin({ path }: ModelFile): boolean {
  return /-\d\.\w+(?:\.gz)?$/.test(path);
}
