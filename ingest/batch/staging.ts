import { constants, writeFileSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A file of no more bytes than this is written in one go and on the event loop: a write of some KiB waits for libuv's
 * thread pool ten times as long as it takes. Filling nine such files took 18 ms, of which 13 were waiting.
 */
const AT_ONCE_BYTES = 64 * 1024;

/** The staging file could not be written: not the fault of the file that is being read. */
export class StagingError extends Error {}

/** Where batches are staged. */
export interface Staging {
  /** Begins the file of that name, in place of whatever is there. */
  begin(name: string): StagingFile;
  /** Removes a file by its path, if it is there. */
  remove(path: string): Promise<void>;
  /** Removes the files whose names begin so. A backup that is being made is in the same folder. */
  removeAll(prefix: string): Promise<void>;
}

/** Stages in a folder. */
export function stagingFolder(folder: string): Staging {
  const remove = (path: string) => rm(path, { force: true });
  return {
    begin: (name) => stagingFile(join(folder, name)),
    remove,
    async removeAll(prefix) {
      for (const name of await readdir(folder))
        if (name.startsWith(prefix)) await remove(join(folder, name));
    },
  };
}

/** A staging file that is being written. Every method throws StagingError. */
export interface StagingFile {
  readonly path: string;
  /** Bytes written so far. */
  readonly size: number;
  /** Returns null if the bytes are taken at once. */
  write(bytes: Uint8Array): Promise<void> | null;
  /** Writes a text of so many bytes of UTF-8. Returns null if it is taken at once. */
  writeText(text: string, bytes: number): Promise<void> | null;
  /** Forgets all but the first `size` bytes. */
  cut(size: number): void;
  /** The bytes are in the file from then on. */
  close(): Promise<void>;
}

function stagingFile(path: string): StagingFile {
  /** Bytes from `flushed` on. Lines that are written anew come one by one. */
  const held = Buffer.allocUnsafe(AT_ONCE_BYTES);
  let output: FileHandle | null = null;
  let size = 0;
  let flushed = 0;
  let written = 0;

  const guarded = async (action: () => Promise<void>) => {
    try {
      await action();
    } catch (cause) {
      throw new StagingError(`${path} could not be written`, { cause });
    }
  };
  const append = async (bytes: Uint8Array) => {
    output ??= await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await output.write(bytes, done, bytes.length - done, flushed + done);
      done += bytesWritten;
    }
    flushed += bytes.length;
    written = Math.max(written, flushed);
  };
  const flush = () => append(held.subarray(0, size - flushed));

  const write = (bytes: Uint8Array): Promise<void> | null => {
    if (size - flushed + bytes.length <= AT_ONCE_BYTES) {
      held.set(bytes, size - flushed);
      size += bytes.length;
      return null;
    }
    return guarded(async () => {
      await flush();
      if (bytes.length > AT_ONCE_BYTES) await append(bytes);
      else held.set(bytes);
      size += bytes.length;
    });
  };

  return {
    path,
    get size() {
      return size;
    },
    write,
    writeText: (text, bytes) => {
      if (size - flushed + bytes > AT_ONCE_BYTES) return write(Buffer.from(text));
      held.write(text, size - flushed);
      size += bytes;
      return null;
    },
    cut(to) {
      size = to;
      flushed = Math.min(flushed, to);
    },
    close: () =>
      guarded(async () => {
        if (!output) return writeFileSync(path, held.subarray(0, size), { mode: 0o600 });
        try {
          await flush();
          if (written > size) await output.truncate(size);
        } finally {
          await output.close();
        }
      }),
  };
}
