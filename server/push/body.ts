import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../errors.ts';
import { type ArraySplitter, createCutter } from './array-splitter.ts';

/** Bytes of a body as it is sent: what Logflare takes; Vector sends batches of 10 MB at most. */
export const MAX_SENT_BYTES = 12e6;
/** Bytes that it may hold once it is unpacked; log lines pack to a tenth, a bomb to a thousandth. */
export const MAX_UNPACKED_BYTES = 32e6;
/** Bytes of a body that are held at a time, whatever the size of the pieces that it comes in. */
const BLOCK_BYTES = 64 * 1024;
const LINGER_MS = 5000;

/** How many bytes of bodies may be held at a time, those that wait for the disk included. */
export interface Memory {
  /** Throws `PUSH_OVERLOADED` when they are not there. */
  take(bytes: number): void;
  give(bytes: number): void;
}

export function createMemory(maxBytes: number): Memory {
  let left = maxBytes;
  return {
    take(bytes) {
      if (bytes > left) throw new AppError('PUSH_OVERLOADED');
      left -= bytes;
    },
    give(bytes) {
      left += bytes;
    },
  };
}

/** A body in pieces, as whole lines where these were asked for. `release` must be called once it is of no use any more. */
export interface PushedLines {
  readonly blocks: readonly Buffer[];
  release(): void;
}

/**
 * Reads a body, unpacks it, and makes lines of it as it comes in. Throws `BODY_TOO_LARGE`, `ENCODING_UNKNOWN`,
 * `PUSH_OVERLOADED`, or `REQUEST_INVALID` when it cannot be read.
 */
export async function readLines(
  request: IncomingMessage,
  memory: Memory,
  { keepsObject = false, isLogpush = false } = {},
): Promise<PushedLines & { readonly object: string | null; readonly areLines: boolean }> {
  const type = request.headers['content-type'] ?? '';
  // Whatever its first byte is. Logpush calls its lines plain text.
  const areLines =
    /^application\/x-ndjson\b/i.test(type) || (isLogpush && !/^application\/json\b/i.test(type));
  const cutter = createCutter(areLines, keepsObject);
  const { take, end } = cutter;
  const lines = await readBlocks(request, memory, { take, end, last: Buffer.from('\n') });
  return { ...lines, object: cutter.object, areLines };
}

/** Reads a body and unpacks it. Throws as `readLines` does. */
export function readBody(request: IncomingMessage, memory: Memory): Promise<PushedLines> {
  return readBlocks(request, memory, { take() {}, end() {}, last: null });
}

/** What becomes of a body as it comes in. */
interface Reading extends Pick<ArraySplitter, 'take' | 'end'> {
  /** What stands behind a body that is not empty. */
  readonly last: Buffer | null;
}

async function readBlocks(
  request: IncomingMessage,
  memory: Memory,
  reading: Reading,
): Promise<PushedLines> {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  const unpacker = unpackerOf(request.headers['content-encoding']);
  if (length > MAX_SENT_BYTES) throw tooLarge(MAX_SENT_BYTES, 'as it is sent');

  const blocks: Buffer[] = [];
  let block = Buffer.alloc(0);
  let [held, filled, size] = [0, 0, 0];
  const addBlock = () => {
    // With room for the newline behind the last line.
    const bytes = unpacker ? BLOCK_BYTES : Math.min(BLOCK_BYTES, length - size + 1 || BLOCK_BYTES);
    memory.take(bytes);
    held += bytes;
    block = Buffer.allocUnsafeSlow(bytes);
    blocks.push(block);
    filled = 0;
  };
  const add = (bytes: Buffer) => {
    for (let from = 0; from < bytes.length; ) {
      if (filled === block.length) addBlock();
      const copied = bytes.copy(block, filled, from);
      reading.take(block.subarray(filled, filled + copied));
      filled += copied;
      size += copied;
      from += copied;
    }
  };

  const source: Readable = unpacker ? unpacked(request, unpacker) : request;
  const maxBytes = unpacker ? MAX_UNPACKED_BYTES : MAX_SENT_BYTES;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      if (size + chunk.length > maxBytes)
        throw tooLarge(maxBytes, unpacker ? 'unpacked' : 'as it is sent');
      add(chunk);
      if (unpacker) checkSent(unpacker);
    }
    if (unpacker) checkSent(unpacker);
    reading.end([...blocks.slice(0, -1), block.subarray(0, filled)]);
    if (size > 0 && reading.last) add(reading.last);
    if (blocks.length > 0) blocks[blocks.length - 1] = block.subarray(0, filled);
    return { blocks, release: () => memory.give(held) };
  } catch (error) {
    memory.give(held);
    throw error instanceof AppError ? error : unreadable(request, error);
  } finally {
    if (unpacker) request.unpipe(unpacker.stream);
    unpacker?.stream.destroy();
  }
}

/**
 * Reads on to the end of a request that is refused, for a while, and keeps nothing of it: a client that is still sending
 * would meet a closed connection, and not see why.
 */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const closed = new Promise((resolve) => request.once('close', resolve));
  request.resume();
  await Promise.race([closed, delay(LINGER_MS, undefined, { ref: false })]);
}

interface Unpacker {
  readonly stream: ReturnType<typeof createGunzip>;
  readonly encoding: string;
}

const OPTIONS = { chunkSize: BLOCK_BYTES };
const UNPACKERS: Readonly<Record<string, () => Unpacker['stream']>> = {
  gzip: () => createGunzip(OPTIONS),
  deflate: () => createInflate(OPTIONS),
  br: () => createBrotliDecompress(OPTIONS),
};

function unpackerOf(header: string | undefined): Unpacker | null {
  const encoding = (header ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return null;
  const make = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (make) return { stream: make(), encoding };
  const detail = `Expected the Content-Encoding ${Object.keys(UNPACKERS).join(', ')} or none, got ${JSON.stringify(encoding.slice(0, 100))}.`;
  throw new AppError('ENCODING_UNKNOWN', { detail });
}

/** `pipe` alone would leave a reader waiting for ever when the client has gone. */
function unpacked(request: IncomingMessage, { stream }: Unpacker): Readable {
  request.once('close', () => {
    if (!request.complete) stream.destroy(new Error('aborted'));
  });
  return request.pipe(stream);
}

function checkSent({ stream }: Unpacker): void {
  if (stream.bytesWritten > MAX_SENT_BYTES) throw tooLarge(MAX_SENT_BYTES, 'as it is sent');
}

function tooLarge(maxBytes: number, when: string): AppError {
  return new AppError('BODY_TOO_LARGE', {
    detail: `Expected a body of at most ${maxBytes} bytes ${when}, got a larger one.`,
  });
}

function unreadable(request: IncomingMessage, cause: unknown): AppError {
  const encoding = request.headers['content-encoding'];
  const detail = !request.complete
    ? 'The client has gone.'
    : `Expected the body to be packed by ${encoding}, as its Content-Encoding says, got something else.`;
  return new AppError('REQUEST_INVALID', { detail, cause });
}
