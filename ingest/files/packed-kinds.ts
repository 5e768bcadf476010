import * as zlib from 'node:zlib';

/** A decompressor, with how many packed bytes it has taken. */
export type Unpacker = zlib.Gunzip;
export type CreateUnpacker = (options: {
  readonly chunkSize: number;
  readonly params?: Readonly<Record<number, number>>;
}) => Unpacker;

/** Node.js has zstd from 22.15 on. */
export const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: CreateUnpacker };

interface Kind {
  readonly name: string;
  /** The first bytes of such a file; null stands for any byte. */
  readonly magic: readonly (number | null)[];
  /** Unpacks one frame or more. Without it, such files are not read. */
  readonly unpack?: CreateUnpacker | undefined;
}

const KINDS: readonly Kind[] = [
  { name: 'gzip', magic: [0x1f, 0x8b], unpack: zlib.createGunzip },
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], unpack: createZstdDecompress },
  { name: 'zip', magic: [0x50, 0x4b, 0x03, 0x04] },
  { name: 'bzip2', magic: [0x42, 0x5a, 0x68, null, 0x31, 0x41] },
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
];

/** So many first bytes tell the kind. */
export const KIND_BYTES = 6;

/** Returns how a file that begins with these bytes is packed; null if it is not. */
export function kindOf(start: Uint8Array): Kind | null {
  return KINDS.find(({ magic }) => start.length >= magic.length && agrees(start, magic)) ?? null;
}

/** Tells whether more bytes could make this the start of a packed file. */
export function mayBePacked(start: Uint8Array): boolean {
  return KINDS.some(({ magic }) => start.length < magic.length && agrees(start, magic));
}

function agrees(start: Uint8Array, magic: Kind['magic']): boolean {
  return magic.every((byte, i) => i >= start.length || byte === null || start[i] === byte);
}
