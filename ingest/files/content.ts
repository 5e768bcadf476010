import { constants, fstatSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { isGzip } from './names.ts';
import { type FileStat, fileStat } from './scan.ts';
import { unpackedBytes } from './unpacked-bytes.ts';

/** The bytes of one open file, or of what a `.gz` holds, whatever happens to its name meanwhile. */
export interface Content {
  readonly gzip: boolean;
  /** On the event loop, as `has`: what is open is known to the kernel. */
  stat(): FileStat;
  /** Fills `target` from `position` on; fewer bytes than asked for, or 0, mean that the end is there. */
  read(target: Uint8Array, position: number): Promise<number>;
  /**
   * Whether it has these bytes at `position` still, and `size` bytes at least. On the event loop, for bytes that have just been read:
   * the thread pool would take tens of times as long.
   */
  has(bytes: Uint8Array, position: number, size: number): boolean;
  /** Says that reads begin at `position` again, so that what was unpacked from there on is kept. */
  pin(position: number): void;
  close(): Promise<void>;
}

/**
 * Opens a regular file for reading. `readBytes`: how far behind the last byte that was read a read may begin. Throws what `open` throws,
 * `ELOOP` for a symbolic link.
 * Non-blocking, because the open of a FIFO that took the name since the scan would wait for ever.
 */
export async function openContent(path: string, readBytes: number): Promise<Content> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(handle.fd).isFile()) throw new Error(`${path} is not a regular file`);
    return isGzip(path) ? gunzipped(handle, readBytes) : plain(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function plain(handle: FileHandle): Content {
  return {
    gzip: false,
    stat: () => fileStat(fstatSync(handle.fd, { bigint: true })),
    has: (bytes, position, size) => hasBytes(handle, bytes, position, size),
    async read(target, position) {
      let filled = 0;
      while (filled < target.length) {
        const { bytesRead } = await handle.read(
          target,
          filled,
          target.length - filled,
          position + filled,
        );
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    },
    pin() {},
    close: () => handle.close(),
  };
}

function hasBytes({ fd }: FileHandle, bytes: Uint8Array, position: number, size: number) {
  const there = Buffer.allocUnsafe(bytes.length);
  const read = readSync(fd, there, 0, there.length, position);
  return read === there.length && there.equals(bytes) && fstatSync(fd).size >= size;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Unpacks a gzip file as it is read. Reading on is cheap, and so is a read from a position that is kept. Any other read unpacks the file from
 * its start again. Throws zlib's error (`Z_BUF_ERROR` for a file that ends early, `Z_DATA_ERROR` for a broken one).
 */
function gunzipped(handle: FileHandle, readBytes: number): Content {
  let bytes = unpackedBytes(readBytes);
  let stream: { packed: Readable; unpacked: Gunzip; chunks: AsyncIterator<Buffer> } | undefined;

  const stop = () => {
    stream?.packed.destroy();
    stream?.unpacked.destroy();
  };
  const restart = () => {
    stop();
    const packed = Readable.from(packedBytes(handle));
    const unpacked = packed.pipe(createGunzip({ chunkSize: CHUNK_BYTES }));
    packed.on('error', (error) => unpacked.destroy(error));
    stream = {
      packed,
      unpacked,
      chunks: unpacked[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
    };
    bytes = unpackedBytes(readBytes);
    return stream;
  };

  return {
    gzip: true,
    stat: () => fileStat(fstatSync(handle.fd, { bigint: true })),
    // Nobody writes to a packed file but the one who packs it.
    has: () => true,
    async read(target, position) {
      let open = stream ?? restart();
      for (let filled = 0; ; ) {
        const copied = bytes.copy(target.subarray(filled), position + filled);
        if (copied === null && position + filled < bytes.end) {
          open = restart();
          continue;
        }
        filled += copied ?? 0;
        if (filled === target.length) return filled;
        // A part that was pinned ends before what is kept begins.
        if (position + filled < bytes.end) continue;
        const next = await open.chunks.next();
        if (next.done) {
          await refuseMore(handle, open.unpacked.bytesWritten);
          return filled;
        }
        bytes.push(next.value);
      }
    },
    pin: (position) => bytes.pin(position),
    async close() {
      stop();
      await handle.close();
    },
  };
}

/** zlib passes over NULs behind a gzip member, and over whatever follows them. Throws when that is anything but NULs. */
async function refuseMore(handle: FileHandle, from: number): Promise<void> {
  for await (const bytes of packedBytes(handle, from))
    if (bytes.some((byte) => byte !== 0)) throw new Error('bytes behind its gzip data');
}

/** Not `createReadStream`: to destroy that closes the handle, whatever `autoClose` says. */
async function* packedBytes(handle: FileHandle, from = 0): AsyncGenerator<Buffer> {
  for (let position = from; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
