import type { Source } from './source.ts';

/**
 * Shows that bytes were taken: the `length` bytes before offset `at` have a SHA-1 that begins with `hash` (hex). Two contents that
 * agree in a proof are taken for the same bytes there.
 */
export interface Proof {
  readonly at: number;
  readonly length: number;
  readonly hash: string;
  /** A copy of the stream ends here: the proof stays, however close to others. */
  readonly endsCopy?: true;
}

/**
 * A stream of bytes of which those before `offset` were taken, and the file that held it last. Offsets count bytes of the file, or of
 * what a `.gz` holds. `proofs` are sorted by `at`; unless `offset` is 0 the last of them is at `offset`.
 */
export interface FileState {
  readonly id: number;
  readonly source: Source;
  /** Relative to the logs folder, with `/`. */
  readonly path: string;
  /** `device:inode`. */
  readonly inode: string;
  /** When the inode was made, in ns since the epoch; empty where that is not known. */
  readonly birth: string;
  /** Every byte before it has become a row, a rejected line, or nothing (blank). */
  readonly offset: number;
  readonly proofs: readonly Proof[];
  /** The bytes before `offset` end in a line that was taken although its newline had not come. */
  readonly unterminated: boolean;
  /** No file holds it any more; kept so that a copy or a `.gz` that appears later is recognised. */
  readonly gone: boolean;
  /** The version of a `.gz` that was read to its end: unchanged, it need not be unpacked again. */
  readonly finished: string | null;
}

/** A line that does not become a row. `line` holds its bytes, the first 4 KiB when it is beyond the limit. */
export interface RejectedLine {
  readonly file: string;
  readonly offset: number;
  /** Bytes of the whole line, without its newline. */
  readonly length: number;
  readonly reason: string;
  readonly line: Uint8Array;
}

/** A run of a staging file and where its first byte stands in the file it came from; byte n follows byte n. */
export interface Slice {
  readonly file: string;
  readonly offset: number;
  readonly staged: number;
}

/** A field that looks like a moment, and the form of its text that cannot be read: digits as 0. */
export interface UndatedForm {
  readonly field: string;
  readonly form: string;
}

/** How many undated rows have a form. */
export interface CountedForm extends UndatedForm {
  readonly rows: number;
}

/** The result of reading a line. */
export type ReadLine =
  /** `text` is the line in normal form, a newline behind it. */
  | {
      readonly kind: 'row';
      readonly text: string;
      /** It could not be read as it stood, but has one meaning alone. */
      readonly repaired: boolean;
      /** It names no moment that can be read. */
      readonly isUndated: boolean;
      /** Its moment is more than a day ahead. */
      readonly isFuture: boolean;
      /** It, or an object in it, has two members of one name. */
      readonly isDoubled: boolean;
      /** The field of an undated line that looks like its moment; null if there is none. */
      readonly undatedForm: UndatedForm | null;
    }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Tells which lines go on an entry, such as those of a stack trace. It is made for one entry. */
export interface EntryLines {
  /** Tells whether the next line that is not blank belongs to the entry. */
  goesOn(line: string): boolean;
}

/** Reads the lines of a file. The server supplies it. */
export interface LineReader {
  /** Begins an entry with its first line. Returns null if that line is all of it. A reader without it has entries of one line. */
  entry?(first: string): EntryLines | null;
  /** Returns what tells whether a JSON object of a block, without blanks around it, can be stored as it stands. */
  normalIn(block: Buffer): (from: number, to: number) => boolean;
  /** Reads an entry of valid UTF-8, without blanks around it; its lines have `\n` between them. */
  read(line: string): ReadLine;
}

/**
 * Whole lines of one source, ready to be stored: one transaction takes its rows, its rejected lines and the new states
 * of its files, or nothing of it.
 */
export interface Batch {
  readonly source: Source;
  /** Path of the staging file: every line in it is blank, or in normal form (`LineReader`). */
  readonly staging: string;
  /** Bytes in the staging file. */
  readonly staged: number;
  /** Lines in the staging file that are not blank. */
  readonly lines: number;
  /** Where the staged bytes come from, in the order of `staged`. */
  readonly slices: readonly Slice[];
  readonly rejected: readonly RejectedLine[];
  /** Bytes of the files that the batch takes, newlines, blank and rejected lines included. */
  readonly bytes: number;
  /** Lines whose text was repaired: of invalid UTF-8, or of broken JSON that has one meaning alone. */
  readonly repaired: number;
  /** Lines that name no moment that can be read. */
  readonly undated: number;
  /** The forms of moments that they have instead, at most 20. */
  readonly undatedForms: readonly CountedForm[];
  /** Lines whose moment is more than a day ahead. */
  readonly future: number;
  /** Lines that have two members of one name, in themselves or in an object. */
  readonly doubled: number;
  /** What the files are once the batch is stored. */
  readonly files: readonly FileState[];
}

/** What a sink has memory for. Longer lines do not become rows. */
export interface Capacity {
  /** It reads so many rows at once, those that follow one another, … */
  readonly vectorRows: number;
  /** … which may have so many bytes together. */
  readonly vectorBytes: number;
  /** A batch may have so many bytes that has too long lines to be one of 122,880. */
  readonly partBytes: number;
  /** A line may have so many bytes, and so may those of a batch that are beyond 64 KiB, together. */
  readonly longBytes: number;
}

/** Where batches go. The server supplies it; it must keep rows and files together, in one transaction. */
export interface Sink {
  /**
   * How many full batches of one source the sink stores side by side when one `append` has them all; fewer gain nothing.
   * So when the files of a source hold enough for this many, ingest fills them all before it hands them over; otherwise,
   * and always with 1, it fills one.
   */
  readonly parallelism: number;
  readonly capacity: Capacity;
  /** Bytes of the newest rows of a source, `capacity.vectorRows` of them. */
  newestBytes(source: Source): Promise<number>;
  /** Every file as last committed. */
  files(): Promise<FileState[]>;
  /**
   * Stores batches, of one source each. Each is stored whole or not at all; when it rejects some may have been, or it
   * is in doubt: then `files` tells the truth.
   */
  append(batches: readonly Batch[]): Promise<void>;
  /** Replaces the states of some files and forgets others, without lines. */
  record(files: readonly FileState[], forgotten: readonly number[]): Promise<void>;
  /**
   * Why nothing can be stored at present, in a sentence; null when it can. Asked before each round of work, and with the
   * `bytes` of more staging than a batch or two.
   */
  room(bytes?: number): Promise<string | null>;
  /** Called when nothing is waiting to be stored. */
  idle(): Promise<void>;
}

/** Something that is not read, and why: `reason` completes the sentence "this is not read: …". */
export interface IgnoredFile {
  readonly source: Source | null;
  readonly path: string;
  readonly reason: string;
}

/** What the tail of one source looks like now, from memory. Bytes count files that are there. */
export interface SourceStatus {
  readonly source: Source;
  readonly files: number;
  /** Bytes that are not committed yet. */
  readonly pendingBytes: number;
  /** How long the longest of them have waited, since they were seen; a last line without its newline does not wait. */
  readonly lagMs: number;
  /** Files that are not read because another one holds their bytes. */
  readonly copies: readonly { readonly path: string; readonly of: string }[];
}

/** The events that ingest reports; a pino logger is one. */
export interface IngestLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
