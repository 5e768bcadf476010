import { constants, fstatSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type CreateUnpacker, KIND_BYTES, kindOf, type Unpacker } from './packed-kinds.ts';
import { type FileStat, fileStat } from './scan.ts';
import { unpackedBytes } from './unpacked-bytes.ts';

/** The bytes of one open file, unpacked if they are gzip or zstd data, whatever happens to its name meanwhile. */
export interface Content {
  readonly packed: boolean;
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
  /** Tells whether its packed data ended early when it was read last: it is still being packed, or was torn. It ends there until it grows. */
  isTorn(): boolean;
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
    const start = Buffer.alloc(KIND_BYTES);
    const { bytesRead } = await handle.read(start, 0, KIND_BYTES, 0);
    const unpack = kindOf(start.subarray(0, bytesRead))?.unpack;
    return unpack ? unpacked(handle, unpack, readBytes) : plain(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function plain(handle: FileHandle): Content {
  return {
    packed: false,
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
    isTorn: () => false,
    close: () => handle.close(),
  };
}

function hasBytes({ fd }: FileHandle, bytes: Uint8Array, position: number, size: number) {
  const there = Buffer.allocUnsafe(bytes.length);
  const read = readSync(fd, there, 0, there.length, position);
  return read === there.length && there.equals(bytes) && fstatSync(fd).size >= size;
}

const CHUNK_BYTES = 64 * 1024;

/** A packed file as it is unpacked: one frame of it, from its byte `from` on. */
interface Unpacking {
  readonly from: number;
  readonly packed: Readable;
  readonly unpacker: Unpacker;
  readonly chunks: AsyncIterator<Buffer>;
}

/**
 * Unpacks a file as it is read. Reading on is cheap, and so is a read from a position that is kept. Any other read unpacks the file from
 * its start again. Throws zlib's errors.
 */
function unpacked(handle: FileHandle, unpack: CreateUnpacker, readBytes: number): Content {
  let bytes = unpackedBytes(readBytes);
  let unpacking: Unpacking | undefined;
  /** The size of the file when its packed data ended early. */
  let tornAt: number | null = null;

  const stop = () => {
    unpacking?.packed.destroy();
    unpacking?.unpacker.destroy();
  };
  const unpackFrom = (from: number) => {
    stop();
    const packed = Readable.from(packedBytes(handle, from));
    const unpacker = packed.pipe(unpack({ chunkSize: CHUNK_BYTES }));
    packed.on('error', (error) => unpacker.destroy(error));
    const chunks = unpacker[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    unpacking = { from, packed, unpacker, chunks };
    return unpacking;
  };
  const restart = () => {
    bytes = unpackedBytes(readBytes);
    tornAt = null;
    return unpackFrom(0);
  };
  const next = async ({ chunks }: Unpacking): Promise<IteratorResult<Buffer>> => {
    const { size } = fstatSync(handle.fd);
    if (tornAt !== null) return { done: true, value: undefined };
    try {
      return await chunks.next();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'Z_BUF_ERROR') throw error;
      tornAt = size;
      return { done: true, value: undefined };
    }
  };
  /** The next frame, where the one that was unpacked has another behind it: zstd's are unpacked one by one. */
  const nextFrame = async ({ from, unpacker }: Unpacking) => {
    const end = from + unpacker.bytesWritten;
    const start = Buffer.alloc(KIND_BYTES);
    const { bytesRead } = await handle.read(start, 0, KIND_BYTES, end);
    const isFrame = kindOf(start.subarray(0, bytesRead))?.unpack === unpack;
    if (isFrame) return unpackFrom(end);
    await refuseMore(handle, end);
    return null;
  };

  return {
    packed: true,
    stat: () => fileStat(fstatSync(handle.fd, { bigint: true })),
    // Nobody writes to a packed file but the one who packs it.
    has: () => true,
    async read(target, position) {
      const hasGrown = tornAt !== null && fstatSync(handle.fd).size !== tornAt;
      let open = hasGrown || !unpacking ? restart() : unpacking;
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
        const { done, value } = await next(open);
        if (!done) bytes.push(value);
        else if (tornAt !== null) return filled;
        else {
          const frame = await nextFrame(open);
          if (!frame) return filled;
          open = frame;
        }
      }
    },
    pin: (position) => bytes.pin(position),
    isTorn: () => tornAt !== null,
    async close() {
      stop();
      await handle.close();
    },
  };
}

/** Decompressors pass over whatever follows their data. Throws when that is anything but NULs. */
async function refuseMore(handle: FileHandle, from: number): Promise<void> {
  for await (const bytes of packedBytes(handle, from))
    if (bytes.some((byte) => byte !== 0)) throw new Error('bytes behind its packed data');
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
