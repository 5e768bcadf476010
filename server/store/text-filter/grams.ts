/**
 * Which texts may stand in a block of rows, told by a bitmap of its grams: pieces of six characters, in small letters. The one with the least hash of
 * each four consecutive ones is kept (winnowing), so that every text of nine characters or more has one at least that
 * each text around it has, too.
 */

/** Characters of a gram, and how many consecutive ones give one. */
const GRAM = 6;
const WINDOW = 4;
/** A bitmap is kept in parts, so that a question reads those alone that its grams stand in. */
export const SLICES = 16;
const SLICE_BITS = 4;
/** Bits of a slice before it is folded: 1 MB for all. */
const MOST_BITS = 1 << 19;
const LEAST_BYTES = 64;
/** A bitmap is folded in half as long as no more of its bits are set than these. */
const SPARSE = 1 / 8;

const END = 0x7fffffff;

export interface GramBitmap {
  add(text: string): void;
  /** Adds JSON as it is written, and the strings in it as they are read. */
  addJson(text: string): void;
  /** The bitmap, as long as it must be: `SLICES` parts of one length, a power of two. */
  slices(): Uint8Array[];
}

export function createGramBitmap(): GramBitmap {
  const length = MOST_BITS / 8;
  const whole = new Uint8Array(SLICES * length);
  const set = (gram: number) => {
    const { slice, place } = placeOf(gram);
    const bit = place % MOST_BITS;
    const byte = slice * length + (bit >>> 3);
    whole[byte] = (whole[byte] as number) | (0x80 >>> (bit & 7));
  };
  return {
    add: (text) => eachGram(text, set),
    addJson(text) {
      eachGram(text, set);
      if (text.includes('\\')) eachGram(text.replaceAll(ESCAPE, unescaped), set);
    },
    slices() {
      const parts = Array.from({ length: SLICES }, (_, i) =>
        whole.subarray(i * length, (i + 1) * length),
      );
      return folded(parts);
    },
  };
}

const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gis;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(_: string, hex: string | undefined, character: string): string {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return CONTROLS[character] ?? character;
}

/** The grams that every text has in which `text` stands, in whatever letter case; none when it is too short. */
export function gramsOf(text: string): number[] {
  const grams = new Set<number>();
  // A letter beyond ASCII may stand there in another case.
  for (const part of text.split(/[^\0-\x7f]+/)) eachGram(part, (gram) => grams.add(gram));
  return [...grams];
}

/** Where a gram stands: its slice, and the bit in it, modulo the slice's length. Bits are counted from a byte's highest, as the engine does. */
export function placeOf(gram: number): { readonly slice: number; readonly place: number } {
  return { slice: gram >>> (32 - SLICE_BITS), place: gram & (MOST_BITS - 1) };
}

function eachGram(text: string, take: (gram: number) => void): void {
  // The last six characters: the first two of them, and the other four.
  let [first, last, count] = [0, 0, 0];
  let [a, b, c, taken] = [END, END, END, END];
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code >= 65 && code <= 90) code += 32;
    // Two letters beyond ASCII equal `s` and `k` where letter case does not count.
    else if (code === 0x17f) code = 115;
    else if (code === 0x212a) code = 107;
    else if (code > 127) {
      count = 0;
      continue;
    }
    first = ((first << 8) | (last >>> 24)) & 0xffff;
    last = (last << 8) | code;
    count++;
    let hash = Math.imul(first, 0x85ebca6b) ^ Math.imul(last, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash ^= hash >>> 13;
    const least = smaller(smaller(a, b), smaller(c, hash));
    [a, b, c] = [b, c, hash];
    if (count < GRAM + WINDOW - 1 || least === taken) continue;
    taken = least;
    // The least of several is small: mixed again, its bits are spread.
    const mixed = Math.imul(least ^ (least >>> 16), 0x297a2d39);
    take((mixed ^ (mixed >>> 15)) >>> 0);
  }
}

function smaller(a: number, b: number): number {
  return a < b ? a : b;
}

/** Half as long as long as that keeps it sparse. */
function folded(slices: readonly Uint8Array[]): Uint8Array[] {
  const bytes = slices[0]?.length ?? 0;
  const set = slices.reduce((sum, slice) => sum + ones(slice), 0);
  if (set > SPARSE * bytes * 8 * SLICES || bytes <= LEAST_BYTES) return [...slices];
  return folded(
    slices.map((slice) =>
      slice.subarray(0, bytes / 2).map((byte, i) => byte | (slice[bytes / 2 + i] as number)),
    ),
  );
}

function ones({ buffer, byteOffset, byteLength }: Uint8Array): number {
  let sum = 0;
  for (let word of new Uint32Array(buffer, byteOffset, byteLength / 4)) {
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    sum += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return sum;
}
