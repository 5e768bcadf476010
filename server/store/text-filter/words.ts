/**
 * Which words may stand in each part of a block of rows, told by a Bloom filter of its words: runs of ASCII letters, digits and underscores, in small
 * letters. Parts of words are told by grams of the long ones: pieces of six characters, of which the one with the least hash of each four
 * consecutive ones is kept (winnowing), so that each part of nine characters has one at least that every text around it has, too.
 */

/** A text that is looked for. */
export interface SoughtText {
  readonly text: string;
  /** It is a part of a string in the metadata's JSON, however that is written. */
  readonly escaped: boolean;
  /** No word goes on before it, … */
  readonly begins?: boolean;
  /** … or behind it. Else its first and last word may be parts of others. */
  readonly ends?: boolean;
}

/** Bits of a word and of a gram. A question has several grams, if any. */
const WORD_BITS = 6;
const GRAM_BITS = 2;
/** Bits of the filter by bits of a word that are set in it: one in a hundred words that are not there seems to be, then. */
const ROOM = 10 / WORD_BITS;
/** Characters of a gram, and how many consecutive ones give one. */
const GRAM = 6;
const WINDOW = 4;
const LEAST_PART = GRAM + WINDOW - 1;
/** The filter is kept in slices, so that a question reads those alone that its bits stand in. */
export const SLICES = 16;
const SLICE_BITS = 4;
/** Parts of a block, which have a bit each at every place of the filter, and how many rows each has. */
export const MOST_PARTS = 16;
export const PART_ROWS = 2048;
const PLACE_BYTES = MOST_PARTS / 8;
/** Places of a slice: 2 MB for all slices. */
const MOST_PLACES = 1 << 16;
/** Words and grams that a question looks for, at most, the longest words first: after some, more do not tell more. */
const MOST_WORDS = 4;
const MOST_GRAMS = 8;

const END = 0x7fffffff;
const MINUS = 0x2d;
const [LONG_S, KELVIN] = [0x17f, 0x212a];
/** The small letter of each character of words; 0 for others, 1 for the one that parts long words only. */
const LETTERS = new Uint8Array(128);
for (const letter of 'abcdefghijklmnopqrstuvwxyz0123456789_') {
  LETTERS[letter.charCodeAt(0)] = letter.charCodeAt(0);
  LETTERS[letter.toUpperCase().charCodeAt(0)] = letter.charCodeAt(0);
}
LETTERS[MINUS] = 1;

/** A place of the filter: that of a slice, modulo how many this has. */
export interface Place {
  readonly slice: number;
  readonly place: number;
}

export interface WordFilter {
  /** Adds a text of a row in this part of the block, from 0. */
  add(part: number, text: string): void;
  /** Adds JSON as it is written, and the strings in it as they are read. */
  addJson(part: number, text: string): void;
  /** Returns the filter: `SLICES` slices of one length, with a bit of each part at each place, the first part's highest. */
  slices(): Uint8Array[];
}

/** Entries of the words that were met last, each at the place that its hash gives, and of the runs. */
const MET_WORDS = 1 << 18;
const MET_RUNS = 1 << 16;
/** Differs in each process, so that nobody can write two runs that count for one here. */
const SEED = Math.floor(Math.random() * 2 ** 30) * 2 + 1;
/** A filter is full when it has so many words and grams. */
const MOST_MET = 1 << 21;

export function createWordFilter(): WordFilter {
  const [words, partOfWord] = [new Int32Array(MET_WORDS), new Int8Array(MET_WORDS).fill(-1)];
  const [runs, seededRuns] = [new Int32Array(MET_RUNS), new Int32Array(MET_RUNS)];
  const [wordsMet, gramsMet] = [createHashes(), createHashes()];
  let part = 0;
  const addWord = (hash: number) => {
    const at = (hash ^ Math.imul(part, 0x9e3779b1)) & (MET_WORDS - 1);
    // All bits are of the hash: two words with one need them once.
    if (words[at] === hash && partOfWord[at] === part) return;
    words[at] = hash;
    partOfWord[at] = part;
    wordsMet.add(hash, part);
  };
  const addGram = (hash: number) => gramsMet.add(hash, part);
  const addRun = (text: string, from: number, to: number) => {
    let [hash, seeded] = [part, SEED];
    for (let at = from; at < to; at++) {
      const letter = letterOf(text.charCodeAt(at));
      hash = Math.imul(hash ^ letter, 0x01000193);
      seeded = Math.imul(seeded ^ letter, SEED);
    }
    seeded = Math.imul(seeded ^ part, SEED);
    const at = (hash ^ (hash >>> 16)) & (MET_RUNS - 1);
    if (runs[at] === hash && seededRuns[at] === seeded) return;
    runs[at] = hash;
    seededRuns[at] = seeded;
    eachGram(text, from, to, addGram);
  };
  const add = (of: number, text: string) => {
    part = of;
    eachWord(text, addWord, addRun);
  };
  return {
    add,
    addJson(of, text) {
      add(of, text);
      if (!text.includes('\\')) return;
      add(of, text.replaceAll(ESCAPE, unescaped));
      // A word ends beside an escape, whatever that is of.
      if (ESCAPED_LETTER.test(text)) add(of, text.replaceAll(ESCAPE, ' '));
    },
    slices() {
      const set = wordsMet.most() * WORD_BITS + gramsMet.most() * GRAM_BITS;
      const isFull = wordsMet.isFull() || gramsMet.isFull();
      const places = isFull ? 1 : Math.min(MOST_PLACES, Math.ceil((set * ROOM) / SLICES) + 1);
      const length = places * PLACE_BYTES;
      const slices = Array.from({ length: SLICES }, () =>
        new Uint8Array(length).fill(isFull ? 0xff : 0),
      );
      const fill = (bits: number) => (hash: number, of: number) => {
        for (let i = 0; i < bits; i++) {
          const mixed = bitOf(hash, i);
          const byte = (placeOf(mixed) % places) * PLACE_BYTES + (of >>> 3);
          const slice = slices[sliceOf(mixed)] as Uint8Array;
          slice[byte] = (slice[byte] as number) | (0x80 >>> (of & 7));
        }
      };
      wordsMet.each(fill(WORD_BITS));
      gramsMet.each(fill(GRAM_BITS));
      return slices;
    },
  };
}

/** Collects hashes of several parts. */
function createHashes() {
  let hashes = new Int32Array(1 << 12);
  let parts = new Uint8Array(1 << 12);
  let count = 0;
  const counts = new Int32Array(MOST_PARTS);
  return {
    add(hash: number, part: number) {
      if (count === MOST_MET) return;
      if (count === hashes.length) {
        const [wider, widerParts] = [new Int32Array(2 * count), new Uint8Array(2 * count)];
        wider.set(hashes);
        widerParts.set(parts);
        [hashes, parts] = [wider, widerParts];
      }
      hashes[count] = hash;
      parts[count++] = part;
      counts[part] = (counts[part] as number) + 1;
    },
    /** Returns how many the part has that has most. */
    most: () => Math.max(...counts),
    isFull: () => count === MOST_MET,
    each(take: (hash: number, part: number) => void) {
      for (let i = 0; i < count; i++) take(hashes[i] as number, parts[i] as number);
    },
  };
}

const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gis;
const ESCAPED_LETTER = /\\u00[3-7]/i;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(_: string, hex: string | undefined, character: string): string {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return CONTROLS[character] ?? character;
}

/**
 * Returns places at which the filter has the bit of each part that has a text in which `text` stands, in whatever letter case; none where
 * nothing is known of such texts.
 */
export function placesOf({
  text,
  begins = false,
  ends = false,
}: Omit<SoughtText, 'escaped'>): Place[] {
  const words: { hash: number; length: number }[] = [];
  const grams = new Set<number>();
  eachWord(
    text,
    (hash, from, to) => {
      if ((from > 0 || begins) && (to < text.length || ends))
        words.push({ hash, length: to - from });
    },
    (_, from, to) => eachGram(text, from, to, (gram) => grams.add(gram)),
  );
  words.sort((a, b) => b.length - a.length);
  return [
    ...words.slice(0, MOST_WORDS).map(({ hash }) => ({ hash, bits: WORD_BITS })),
    ...[...grams].slice(0, MOST_GRAMS).map((hash) => ({ hash, bits: GRAM_BITS })),
  ]
    .flatMap(({ hash, bits }) => Array.from({ length: bits }, (_, i) => bitOf(hash, i)))
    .map((mixed) => ({ slice: sliceOf(mixed), place: placeOf(mixed) }));
}

function sliceOf(mixed: number): number {
  return mixed >>> (32 - SLICE_BITS);
}

function placeOf(mixed: number): number {
  return mixed & ((1 << (32 - SLICE_BITS)) - 1);
}

/** Returns one of the bits of a hash, as a number whose highest bits tell its slice, and the others its place. */
function bitOf(hash: number, i: number): number {
  let mixed = hash + Math.imul(i, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Calls `takeWord` with the hash of each word and where it stands, and `takeRun` with each run of words with nothing but `-` between them. */
function eachWord(
  text: string,
  takeWord: (hash: number, from: number, to: number) => void,
  takeRun: (text: string, from: number, to: number) => void,
): void {
  const end = text.length;
  for (let at = 0; at < end; at++) {
    let letter = letterOf(text.charCodeAt(at));
    if (letter === 0) continue;
    const run = at;
    do {
      const word = at;
      let hash = 0x811c9dc5;
      while (letter > 1) {
        hash = Math.imul(hash ^ letter, 0x01000193);
        letter = ++at < end ? letterOf(text.charCodeAt(at)) : 0;
      }
      if (at > word) takeWord(hash, word, at);
      if (letter === 1) letter = ++at < end ? letterOf(text.charCodeAt(at)) : 0;
    } while (letter > 0);
    if (at - run >= LEAST_PART) takeRun(text, run, at);
  }
}

/** Two letters beyond ASCII equal `s` and `k` where letter case does not count. */
function letterOf(code: number): number {
  if (code < 128) return LETTERS[code] as number;
  return code === LONG_S ? 0x73 : code === KELVIN ? 0x6b : 0;
}

function eachGram(text: string, from: number, to: number, take: (gram: number) => void): void {
  // The last six characters: the first two of them, and the other four.
  let [first, last] = [0, 0];
  let [a, b, c, taken] = [END, END, END, END];
  for (let at = from; at < to; at++) {
    first = ((first << 8) | (last >>> 24)) & 0xffff;
    last = (last << 8) | letterOf(text.charCodeAt(at));
    let hash = Math.imul(first, 0x85ebca6b) ^ Math.imul(last, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash ^= hash >>> 13;
    const least = smaller(smaller(a, b), smaller(c, hash));
    [a, b, c] = [b, c, hash];
    if (at - from + 1 < LEAST_PART || least === taken) continue;
    taken = least;
    take(least);
  }
}

function smaller(a: number, b: number): number {
  return a < b ? a : b;
}
