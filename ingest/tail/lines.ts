import { isUtf8 } from 'node:buffer';
import { HEAD_OF_LONG_LINE, type OpenBatch } from '../batch/batch.ts';
import type { LongLineBudget } from '../batch/long-line-budget.ts';
import type { LineReader } from '../types.ts';
import { isTooDeep, MAX_DEPTH } from './nesting.ts';

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CARRIAGE_RETURN = 0x0d;
/** Fewer NULs within a line are a part of it; a writer reserves whole blocks of the disk. */
const ROOM_BYTES = 64;

/** Where the lines stand that are to be taken. */
export interface Place {
  readonly file: string;
  /** Offset in the file of the first byte. */
  readonly offset: number;
  /** Whether the first line goes on from one that was taken before its newline came. */
  readonly continues: boolean;
  /** Bytes of the longest line that is taken whole, and of the longest entry of several lines. */
  readonly maxLine: number;
  /** No line that may follow the block goes on its last entry. */
  readonly isLast: boolean;
  /** Bytes behind the block that were read with it, and end in no newline. */
  readonly behind: number;
  readonly reader: LineReader;
  readonly budget: LongLineBudget;
}

/** The part of a block that was taken. */
export interface Taken {
  readonly bytes: number;
  /** An entry was left that may go on behind the block. */
  readonly isHeld: boolean;
}

/**
 * Takes the whole lines that fill `block` into the batch, as many as it has room for: lines are staged in normal form, or rejected. Nothing but a line that begins with `{` and ends with `}` may reach
 * `read_ndjson`: other lines make it throw, or void their good neighbours (docs/decisions/0002). The block stays as it is; its bytes tell which file this is.
 */
export async function takeLines(block: Buffer, place: Place, batch: OpenBatch): Promise<Taken> {
  const clean = isUtf8(block) && !block.includes('\\ud') && !block.includes('\\uD');
  const hasNuls = block.includes(0);
  const room = batch.room();
  const stage = (from: number, to: number) =>
    from < to ? batch.stage(block.subarray(from, to), place.file, place.offset + from) : null;
  const texts = new LineTexts(block);
  const isNormal = place.reader.normalIn(block);
  let unstaged = 0;
  let start = 0;
  let isHeld = false;
  for (let taken = 0; start < block.length && taken < room; taken++) {
    const newline = block.indexOf(NEWLINE, start);
    const torn = hasNuls ? tornEnd(block, start, newline) : null;
    if (torn !== null) {
      const text = Buffer.concat([block.subarray(start, torn), Buffer.from('\n')]);
      await stage(unstaged, start);
      const part = {
        ...place,
        offset: place.offset + start,
        continues: place.continues && start === 0,
        isLast: true,
        behind: 0,
      };
      if ((await takeLines(text, part, batch)).bytes < text.length) {
        unstaged = start;
        break;
      }
      batch.bytes -= text.length;
      unstaged = start = torn;
      continue;
    }
    const ordinary =
      clean &&
      block[start] === OPEN_BRACE &&
      block[newline - 1] === CLOSE_BRACE &&
      !place.continues;
    const plain =
      ordinary &&
      newline - start <= place.maxLine &&
      !isTooDeep(block, start, newline) &&
      isNormal(start, newline);
    const end = plain ? newline : entryEnd(texts, start, newline, place);
    if (end === null) {
      isHeld = true;
      break;
    }
    const length = end - start;
    if (!batch.admits(length) || place.budget.waits(length)) break;
    if (plain && place.budget.takes(length)) {
      batch.count(length);
    } else {
      const text = clean && end === newline ? texts.known(start) : null;
      const line = block.subarray(start, end);
      const verdict = judge(line, text, place, place.continues && start === 0, clean);
      const first = start + verdict.first;
      // A promise takes longer than a short line.
      const staging = stage(unstaged, start);
      if (staging) await staging;
      unstaged = verdict.kind === 'whole' ? first : end + 1;
      if (verdict.kind === 'rejected') {
        const { reason, length, line } = verdict;
        const offset = place.offset + first;
        batch.reject({ file: place.file, offset, length, reason, line: Buffer.from(line) });
      } else if (verdict.kind !== 'blank') {
        batch.count(length);
      }
      if (verdict.kind === 'rewritten') {
        if (verdict.repaired) batch.repaired++;
        if (verdict.isUndated) batch.undated++;
        const { text, bytes } = verdict;
        const staging = batch.stageText(text, bytes, place.file, place.offset + first);
        if (staging) await staging;
      }
    }
    start = end + 1;
  }
  await stage(unstaged, start);
  batch.bytes += start;
  return { bytes: start, isHeld };
}

/** Returns the texts of lines of a block. A line is asked for twice: as one that may go on an entry, and as the first of its own. */
class LineTexts {
  readonly block: Buffer;
  #last = { start: -1, text: '' };
  #before = this.#last;

  constructor(block: Buffer) {
    this.block = block;
  }

  of(start: number, newline: number): string {
    if (start !== this.#last.start) {
      this.#before = this.#last;
      this.#last = { start, text: this.block.toString('utf8', start, newline) };
    }
    return this.#last.text;
  }

  /** Returns the text of the line at `start` if it is one of the last two that were asked for. */
  known(start: number): string | null {
    if (start === this.#before.start) return this.#before.text;
    return start === this.#last.start ? this.#last.text : null;
  }
}

/** Returns where the entry ends that begins with the line from `start` to `newline`: there, or at a later newline. Null if it may go on behind the block. */
function entryEnd(
  texts: LineTexts,
  start: number,
  newline: number,
  { reader, maxLine, continues, isLast, behind }: Place,
): number | null {
  if (!reader.entry || (continues && start === 0)) return newline;
  const { block } = texts;
  const blanks = leadingBlanks(block, start, newline);
  const entry = start + blanks < newline && reader.entry(texts.of(start, newline));
  if (!entry) return newline;
  let end = newline;
  for (let at = newline + 1; at < block.length; ) {
    const next = block.indexOf(NEWLINE, at);
    if (at + leadingBlanks(block, at, next) < next) {
      if (next - start > maxLine || !entry.goesOn(texts.of(at, next))) return end;
      end = next;
    }
    at = next + 1;
  }
  // It would become too long.
  return isLast || block.length - start + behind > maxLine ? end : null;
}

/**
 * Where a line ends that was torn: NULs of room that was reserved stand behind its beginning, and then the next line. Null when it is
 * whole; NULs within a line are a part of it.
 */
function tornEnd(block: Buffer, start: number, newline: number): number | null {
  const first = start + leadingBlanks(block, start, newline);
  const nul = block.indexOf(0, first);
  if (nul < 0 || nul >= newline) return null;
  let end = nul;
  while (block[end] === 0) end++;
  return end - nul >= ROOM_BYTES && block[end] === OPEN_BRACE ? nul : null;
}

/** The last line of a text that no newline closes: what stands behind the room before which others were torn. */
export function lastLine(text: Buffer): Buffer {
  const torn = tornEnd(text, 0, text.length);
  if (torn === null) return text;
  return lastLine(text.subarray(torn + leadingBlanks(text, torn, text.length)));
}

/** What becomes of a line; `first` is where its text begins in it. */
type Verdict =
  | { kind: 'blank'; first: number }
  | { kind: 'whole'; first: number }
  | {
      kind: 'rewritten';
      first: number;
      text: string;
      bytes: number;
      repaired: boolean;
      isUndated: boolean;
    }
  | { kind: 'rejected'; first: number; reason: string; length: number; line: Buffer };

/** `known`: the text of the line, where it is known and valid UTF-8. */
function judge(
  line: Buffer,
  known: string | null,
  { maxLine, reader, budget }: Place,
  continues: boolean,
  clean: boolean,
): Verdict {
  const first = leadingBlanks(line, 0, line.length);
  const to = line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
  const end = withoutTrailingBlanks(line, first, to);
  const rejected = (reason: string, until = end): Verdict => {
    const kept = line.subarray(
      first,
      reason === tooLong(maxLine) ? first + HEAD_OF_LONG_LINE : until,
    );
    return { kind: 'rejected', first, reason, length: until - first, line: kept };
  };

  if (first >= to) return { kind: 'blank', first };
  if (to - first > maxLine) return rejected(tooLong(maxLine), to);
  if (continues) return rejected('it continues a line that was taken before its newline came');
  if (line[first] === OPEN_BRACE && isTooDeep(line, first, end)) return rejected(TOO_DEEP);
  const isNormal = clean && line[first] === OPEN_BRACE && reader.normalIn(line)(first, end);
  if (isNormal) return budget.takes(end - first) ? { kind: 'whole', first } : rejected(TOO_MUCH);
  const isKnown = known !== null && first === 0 && end === line.length;
  const { text: whole, repaired } = isKnown
    ? { text: known, repaired: false }
    : repair(line.subarray(first, end), clean);
  const read = reader.read(whole.includes('\r\n') ? whole.replaceAll('\r\n', '\n') : whole);
  if (read.kind === 'rejected') return rejected(read.reason);
  const { text, isUndated } = read;
  const bytes = Buffer.byteLength(text);
  // A text in an object has escapes, which the line itself does not have.
  if (bytes > LEAST_LIMIT + 2 * maxLine) return rejected(tooLong(maxLine));
  if (!budget.takes(bytes)) return rejected(TOO_MUCH);
  return { kind: 'rewritten', first, text, bytes, repaired: repaired || read.repaired, isUndated };
}

/** Names and marks of a line in normal form take less. */
const LEAST_LIMIT = 1024;

/** Returns the text of a line in valid UTF-8, and without lone surrogates. */
function repair(line: Buffer, clean: boolean): { text: string; repaired: boolean } {
  const text = line.toString('utf8');
  if (clean) return { text, repaired: false };
  const whole = line[0] === OPEN_BRACE ? text.replace(LONE_SURROGATE, keepPairs) : text;
  return { text: whole, repaired: whole !== text || !isUtf8(line) };
}

/** The reason given for a line beyond the limit. */
export function tooLong(maxLine: number): string {
  return `it is longer than ${maxLine} bytes (TAILPOND_MAX_LINE)`;
}

const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH} levels`;

/** The reason given for a line that the sink has no memory for. */
const TOO_MUCH =
  'it is too long for the memory, alone or with the long lines before it (TAILPOND_MEMORY)';

/** An escaped character of a JSON string: a pair of surrogates, one alone, or any other, which is left as it is. */
const LONE_SURROGATE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs;

function keepPairs(escaped: string): string {
  return escaped.length === 6 ? '\\ufffd' : escaped;
}

/** Returns how many bytes from `from` on are NULs or blanks: they stand before a line, and are not a part of it. */
export function leadingBlanks(block: Buffer, from: number, to: number): number {
  let end = from;
  while (end < to && (block[end] === 0 || isBlank(block[end]))) end++;
  return end - from;
}

function withoutTrailingBlanks(block: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && isBlank(block[end - 1])) end--;
  return end;
}

/** What DuckDB skips between lines: tab, vertical tab, form feed, carriage return, space. */
function isBlank(byte: number | undefined): boolean {
  return (
    byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c || byte === CARRIAGE_RETURN
  );
}
