import { once } from 'node:events';
import { Transform, type TransformCallback } from 'node:stream';
import { type CreateUnpacker, createZstdDecompress, type Unpacker } from './packed-kinds.ts';

/**
 * Unpacks data of several frames, one behind another, as `zstd` and `cat` write them. Node.js ends after the first frame of zstd, and drops what
 * is behind it without an error.
 */
export class FramesUnpacker extends Transform {
  /** Packed bytes that were given so far. */
  bytesWritten = 0;
  readonly #create: () => Unpacker;
  #unpacker: Unpacker;
  #ended: Promise<unknown> = Promise.resolve();

  /** `create` makes a decompressor of one frame. */
  constructor(create: () => Unpacker) {
    super();
    this.#create = create;
    this.#unpacker = this.#begin();
  }

  #begin(): Unpacker {
    const unpacker = this.#create();
    unpacker.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) unpacker.pause();
    });
    unpacker.on('error', (error) => this.destroy(error));
    this.#ended = once(unpacker, 'end');
    this.#ended.catch(() => {});
    return unpacker;
  }

  override _read(size: number): void {
    this.#unpacker.resume();
    super._read(size);
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    this.bytesWritten += chunk.length;
    this.#take(chunk).then(() => callback(), callback);
  }

  override _flush(callback: TransformCallback): void {
    this.#unpacker.end();
    this.#ended.then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#unpacker.destroy();
    callback(error);
  }

  async #take(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      const unpacker = this.#unpacker;
      const before = unpacker.bytesWritten;
      await new Promise<void>((resolve, reject) =>
        unpacker.write(rest, (error) => (error ? reject(error) : resolve())),
      );
      rest = rest.subarray(unpacker.bytesWritten - before);
      if (rest.length === 0) return;
      // A frame that takes nothing would take nothing for ever.
      if (unpacker.bytesWritten === 0) throw new Error('bytes behind the packed data');
      await this.#ended;
      this.#unpacker = this.#begin();
    }
  }
}

/** A window of a frame of zstd is at most 16 MiB; `zstd --long` may ask for more. `ZSTD_d_windowLogMax`, which older types do not have. */
const ZSTD_PARAMS = { 100: 24 };

/** Makes a decompressor of zstd; null where Node.js has none. */
export const createZstdUnpacker = withZstd(createZstdDecompress);

function withZstd(
  create: CreateUnpacker | undefined,
): ((chunkSize: number) => FramesUnpacker) | null {
  if (!create) return null;
  return (chunkSize) => new FramesUnpacker(() => create({ chunkSize, params: ZSTD_PARAMS }));
}
