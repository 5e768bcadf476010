import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { createZstdUnpacker, KIND_BYTES, kindOf } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import type { Holding } from './memory.ts';

/** Bytes of a body as it is sent: Logflare's limit. Vector sends at most 10 MB. */
const MAX_SENT_BYTES = 12e6;
/** Bytes of a body once it is unpacked. Log lines pack to a tenth, a bomb to a thousandth. */
const MAX_UNPACKED_BYTES = 32e6;
const SENT_LIMIT = `${MAX_SENT_BYTES} bytes as it is sent`;
const CHUNK_BYTES = 64 * 1024;
/** Memory of a decompressor beside its chunk. */
const GZIP_BYTES = 64 * 1024;
/** The windows of brotli and zstd grow with what they unpack, up to this. */
const WINDOW_BYTES = 16 * 1024 * 1024;
/** Where the length of a body is not known, its buffer begins with this. */
const FIRST_BYTES = 256 * 1024;
const LINGER_MS = 5000;

/**
 * Reads a body and unpacks it, also where only its first bytes say how it is packed. Yields chunks of 64 KiB, whatever the pieces that it comes in: a million small buffers would take a hundred
 * times their bytes. Whoever takes the chunks may change them. Throws `BODY_TOO_LARGE`, `ENCODING_UNKNOWN`,
 * `PUSH_OVERLOADED`, or `REQUEST_INVALID` where it cannot be read.
 */
export async function* chunksOf(
  request: IncomingMessage,
  holding: Holding,
): AsyncGenerator<Buffer, void> {
  const declared = request.headers['content-length'];
  if (Number(declared) > MAX_SENT_BYTES) throw tooLarge(SENT_LIMIT);
  const { unpacker, source } = await openBody(request);
  holding.add(Math.min(Number(declared ?? CHUNK_BYTES), CHUNK_BYTES) + (unpacker ? GZIP_BYTES : 0));
  const maxBytes = unpacker ? MAX_UNPACKED_BYTES : MAX_SENT_BYTES;
  let [size, window] = [0, 0];
  const filling = createFilling(Number(declared ?? CHUNK_BYTES));
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes)
        throw unpacker ? tooLarge(`${maxBytes} bytes unpacked`) : tooLarge(SENT_LIMIT);
      if (unpacker) checkSent(unpacker);
      if (unpacker?.hasWindow && window < WINDOW_BYTES) {
        holding.add(chunk.length);
        window += chunk.length;
      }
      yield* filling.take(chunk);
    }
    if (unpacker) checkSent(unpacker);
    yield* filling.end();
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(request, unpacker, error);
  } finally {
    if (unpacker) request.unpipe(unpacker.stream);
    unpacker?.stream.destroy();
  }
}

/** Copies pieces into chunks. The first chunk is no longer than `first` bytes. */
function createFilling(first: number) {
  let chunk = Buffer.alloc(0);
  let filled = 0;
  let next = Math.max(1, Math.min(first, CHUNK_BYTES));
  return {
    *take(piece: Buffer): Generator<Buffer, void> {
      for (let from = 0; from < piece.length; ) {
        if (filled === chunk.length) {
          chunk = Buffer.allocUnsafeSlow(next);
          next = CHUNK_BYTES;
          filled = 0;
        }
        const copied = piece.copy(chunk, filled, from);
        filled += copied;
        from += copied;
        if (filled === chunk.length) yield chunk;
      }
    },
    *end(): Generator<Buffer, void> {
      if (filled < chunk.length) yield chunk.subarray(0, filled);
    },
  };
}

/** Reads a body into one buffer. Throws as `chunksOf` does. */
export async function wholeOf(
  request: IncomingMessage,
  chunks: AsyncIterable<Buffer>,
  holding: Holding,
): Promise<Buffer> {
  const declared = isPacked(request) ? undefined : request.headers['content-length'];
  const length = Number(declared ?? MAX_UNPACKED_BYTES);
  const sizes = [Math.min(length, FIRST_BYTES), Math.min(length, MAX_UNPACKED_BYTES)];
  let whole: Buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of chunks) {
    holding.add(chunk.length);
    if (size + chunk.length > whole.length) {
      // The system gives memory to those pages alone that are written to.
      const larger = Buffer.allocUnsafeSlow(
        sizes.find((each) => each >= size + chunk.length) ?? MAX_UNPACKED_BYTES,
      );
      whole.copy(larger, 0, 0, size);
      whole = larger;
    }
    chunk.copy(whole, size);
    size += chunk.length;
  }
  return whole.subarray(0, size);
}

/**
 * Reads a refused request on for up to 5 s and drops its bytes: a client that still sends would meet a closed connection, and not see why
 * it was refused.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const closed = new Promise((resolve) => request.once('close', resolve));
  request.resume();
  await Promise.race([closed, delay(LINGER_MS, undefined, { ref: false })]);
}

/** `limit`: what a body may have at most, such as `12 bytes as it is sent`. */
export function tooLarge(limit: string): AppError {
  return new AppError('BODY_TOO_LARGE', {
    detail: `Expected a body of at most ${limit}, got a larger one: send it in parts.`,
  });
}

interface Unpacker {
  readonly stream: Transform & { readonly bytesWritten: number };
  readonly hasWindow: boolean;
  /** Why the body is taken to be packed so. */
  readonly reason: string;
}

const OPTIONS = { chunkSize: CHUNK_BYTES };
const zstd = createZstdUnpacker;
const UNPACKERS: Readonly<Record<string, () => Unpacker['stream']>> = {
  gzip: () => createGunzip(OPTIONS),
  deflate: () => createInflate(OPTIONS),
  br: () => createBrotliDecompress(OPTIONS),
  ...(zstd && { zstd: () => zstd(CHUNK_BYTES) }),
};

function encodingOf(header: string | undefined): string {
  const encoding = (header ?? '').trim().toLowerCase();
  return encoding === 'identity' ? '' : encoding;
}

function isPacked({ headers }: IncomingMessage): boolean {
  return encodingOf(headers['content-encoding']) !== '';
}

interface OpenBody {
  readonly unpacker: Unpacker | null;
  /** The bytes, unpacked. */
  readonly source: AsyncIterable<Buffer>;
}

/** Looks at how a body is packed, by its header or else by its first bytes. Throws `ENCODING_UNKNOWN`. */
async function openBody(request: IncomingMessage): Promise<OpenBody> {
  const encoding = encodingOf(request.headers['content-encoding']);
  if (encoding !== '') {
    const unpacker = unpackerOf(encoding, `packed by ${encoding}, as its Content-Encoding says`, [
      `the Content-Encoding ${Object.keys(UNPACKERS).join(', ')} or none`,
      JSON.stringify(encoding.slice(0, 100)),
    ]);
    return { unpacker, source: withoutEnd(unpacked(request, request, unpacker)) };
  }
  const pieces = withoutEnd(request)[Symbol.asyncIterator]();
  const start = await startOf(request, pieces);
  const kind = kindOf(start);
  const rest = rejoined(start, pieces);
  if (!kind) return { unpacker: null, source: rest };
  try {
    const unpacker = unpackerOf(kind.name, `packed by ${kind.name}, as it begins like that`, [
      `a body that is not packed, or by ${Object.keys(UNPACKERS).join(', ')}`,
      `one that begins like ${kind.name}`,
    ]);
    const packed = Readable.from(rest, { objectMode: false });
    packed.once('error', (error) => unpacker.stream.destroy(error));
    return { unpacker, source: withoutEnd(unpacked(request, packed, unpacker)) };
  } catch (error) {
    await pieces.return?.();
    throw error;
  }
}

function unpackerOf(
  encoding: string,
  reason: string,
  [expected, got]: readonly [string, string],
): Unpacker {
  const make = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (make) return { stream: make(), hasWindow: encoding === 'br' || encoding === 'zstd', reason };
  throw new AppError('ENCODING_UNKNOWN', { detail: `Expected ${expected}, got ${got}.` });
}

/** The pieces of a stream, which is not destroyed when a reader stops. */
function withoutEnd(stream: Readable): AsyncIterable<Buffer> {
  return stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** Reads pieces until they tell how the body is packed, or end. */
async function startOf(request: IncomingMessage, pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  try {
    while (start.length < KIND_BYTES) {
      const { done, value } = await pieces.next();
      if (done) break;
      start = start.length === 0 ? value : Buffer.concat([start, value]);
    }
  } catch (error) {
    throw unreadable(request, null, error);
  }
  return start;
}

async function* rejoined(
  start: Buffer,
  pieces: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  try {
    if (start.length > 0) yield start;
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return?.();
  }
}

/** `pipe` alone would leave a reader waiting for ever when the client has gone. */
function unpacked(request: IncomingMessage, packed: Readable, { stream }: Unpacker): Readable {
  request.once('close', () => {
    if (!request.complete) stream.destroy(new Error('aborted'));
  });
  return packed.pipe(stream);
}

function checkSent({ stream }: Unpacker): void {
  if (stream.bytesWritten > MAX_SENT_BYTES) throw tooLarge(SENT_LIMIT);
}

function unreadable(request: IncomingMessage, unpacker: Unpacker | null, cause: unknown): AppError {
  const detail =
    !request.complete || !unpacker
      ? 'The client has gone.'
      : `Expected the body to be ${unpacker.reason}, got something else.`;
  return new AppError('REQUEST_INVALID', { detail, cause });
}
