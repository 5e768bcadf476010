import { statfs } from 'node:fs/promises';
import { allSources, type IngestLog, type Source } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import type { Waits } from '../waits.ts';
import type { SpoolCleanup } from './spool-cleanup.ts';
import { createPushFile, createSeparateFile, type PushFile } from './spool-file.ts';

export interface PushFiles {
  /**
   * Resolves when the lines are on the disk, in a file that is tailed. Lines that come while others are written share the
   * next write. Throws `STORAGE_UNAVAILABLE`; then some of the lines may be there, and are stored.
   */
  append(source: Source, lines: readonly Buffer[]): Promise<void>;
  /** Opens a file for the lines of one large body, which need not be held then. Throws `STORAGE_UNAVAILABLE`, as its methods do. */
  openSeparate(source: Source): Promise<SeparateFile>;
  /** Ends with the lines that are on their way. */
  close(): Promise<void>;
}

/** A file of the lines of one body: all of them are stored once it is published, and none before. */
export interface SeparateFile {
  append(lines: readonly Buffer[]): Promise<void>;
  publish(): Promise<void>;
  /** Removes the file, unless it was published. */
  discard(): Promise<void>;
}

export interface PushFilesOptions {
  /** The drop folder. */
  readonly logs: string;
  /** Bytes that must stay free on its disk; 0: the lines themselves must fit. */
  readonly minFree: number;
  readonly log: Pick<IngestLog, 'warn' | 'info'>;
  /** What becomes of files that nothing is written to any more. */
  readonly removal: Pick<SpoolCleanup, 'add' | 'bytes'>;
  readonly waits: Pick<Waits, 'pushSeal' | 'pushLook'>;
}

/** A file is sealed at this size, or at the age `waits.pushSeal`, so that it is removed soon after its lines are stored. */
const SEAL_BYTES = 64 * 1024 * 1024;
/** Whatever `minFree`: a write that does not fit is not begun, because its first lines would be stored, and again when repeated. */
const SPARE_BYTES = 4 * 1024 * 1024;

/** Opens the files that pushed lines go to; one is made for a source when the first lines come. */
export function openPushFiles(options: PushFilesOptions): PushFiles {
  let isClosed = false;
  const separate = new Set<{ readonly size: number }>();
  const kept = (): number =>
    [...writers.values(), ...separate].reduce(
      (sum, { size }) => sum + size,
      options.removal.bytes(),
    );
  const room: Room = (bytes) => checkRoom(options, kept() + bytes);
  const writers: ReadonlyMap<Source, Writer> = new Map(
    allSources().map((source) => [source, new Writer(source, options, room)]),
  );
  const timer = setInterval(() => {
    for (const writer of writers.values()) writer.sealOld();
  }, options.waits.pushLook).unref();
  return {
    append(source, lines) {
      const writer = writers.get(source);
      if (!writer) throw new Error(`BUG: ${source} has no writer`);
      return writer.append(lines);
    },
    async openSeparate(source) {
      if (isClosed) throw new AppError('DRAINING');
      const file = await unlessUnavailable(() => createSeparateFile(options.logs, source));
      separate.add(file);
      return {
        append: (lines) =>
          unlessUnavailable(async () => {
            await room(lines.reduce((sum, block) => sum + block.length, 0));
            await file.append(lines);
          }),
        publish: () =>
          unlessUnavailable(async () => {
            options.removal.add(await file.publish());
            separate.delete(file);
          }),
        async discard() {
          separate.delete(file);
          await file.discard();
        },
      };
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.all([...writers.values()].map((writer) => writer.close()));
    },
  };
}

/** Throws `STORAGE_UNAVAILABLE` unless so many more bytes fit on the disk. */
type Room = (bytes: number) => Promise<void>;

async function checkRoom({ logs, minFree }: PushFilesOptions, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(logs);
  // The lines that are here must have room in the store, or their files would never go.
  const needed = Math.max(minFree, SPARE_BYTES) + bytes;
  if (bavail * bsize >= needed) return;
  throw new AppError('STORAGE_UNAVAILABLE', {
    detail: `The disk of the log files is nearly full: ${bavail * bsize} bytes are free, and ${needed} must be.`,
  });
}

async function unlessUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof AppError ? cause : new AppError('STORAGE_UNAVAILABLE', { cause });
  }
}

interface Waiting {
  readonly lines: readonly Buffer[];
  readonly stored: () => void;
  readonly failed: (error: unknown) => void;
}

/** Writes what is pushed to one source: one write and one flush at a time, for all requests that wait by then. */
class Writer {
  private readonly source: Source;
  private readonly options: PushFilesOptions;
  private readonly room: Room;
  private waiting: Waiting[] = [];
  private running: Promise<void> | null = null;
  private file: PushFile | null = null;
  private failing = false;
  private closed = false;

  constructor(source: Source, options: PushFilesOptions, room: Room) {
    this.source = source;
    this.options = options;
    this.room = room;
  }

  /** Bytes of the file that is written to. */
  get size(): number {
    return this.file?.size ?? 0;
  }

  append(lines: readonly Buffer[]): Promise<void> {
    if (this.closed) throw new AppError('DRAINING');
    return new Promise((stored, failed) => {
      this.waiting.push({ lines, stored, failed });
      this.start(() => this.writeAll());
    });
  }

  sealOld(): void {
    if (this.file && this.isFull(this.file)) this.start(() => this.seal());
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.running;
    await this.seal();
  }

  private start(work: () => Promise<void>): void {
    this.running ??= work()
      .catch((error) => this.note(error))
      .finally(() => {
        this.running = null;
        if (this.waiting.length > 0) this.start(() => this.writeAll());
      });
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      try {
        await this.write(group.flatMap(({ lines }) => lines));
        for (const { stored } of group) stored();
        this.note(null);
      } catch (cause) {
        const error =
          cause instanceof AppError ? cause : new AppError('STORAGE_UNAVAILABLE', { cause });
        for (const { failed } of group) failed(error);
        this.note(cause);
      }
    }
  }

  private async write(lines: readonly Buffer[]): Promise<void> {
    await this.room(lines.reduce((sum, block) => sum + block.length, 0));
    if (this.file && this.isFull(this.file)) await this.seal();
    this.file ??= await createPushFile(this.options.logs, this.source);
    try {
      await this.file.append(lines);
    } catch (error) {
      // It may end in half a line, or in lines that are stored although their client was told otherwise: what comes next must
      // not follow them. Nor may they be cut off, because tailing may have read them.
      await this.seal();
      throw error;
    }
  }

  private async seal(): Promise<void> {
    const { file } = this;
    this.file = null;
    if (file) this.options.removal.add(await file.seal());
  }

  private isFull({ size, bornAt }: PushFile): boolean {
    return size >= SEAL_BYTES || performance.now() - bornAt >= this.options.waits.pushSeal;
  }

  private note(error: unknown): void {
    const { log } = this.options;
    const { source } = this;
    if (error !== null && !this.failing)
      log.warn({ source, err: error }, 'pushed lines cannot be written');
    if (error === null && this.failing) log.info({ source }, 'pushed lines are written again');
    this.failing = error !== null;
  }
}
