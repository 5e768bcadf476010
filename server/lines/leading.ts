/**
 * Finds a moment or a word of severity at the beginning of a text. It looks at the first 256 characters alone, as lines have up to
 * megabytes, and it knows no format.
 */
import { momentOf } from './moments.ts';

/** Characters of a line that are looked at. The longest head seen, of a Java service with trace ids, has about 200. */
export const HEAD_CHARS = 256;

/** A part of a text: its characters without what stands around them, and the index behind all of it. */
export interface Part {
  readonly text: string;
  readonly end: number;
}

/** A word of severity. `isPlain` is false where it may be a word of the message, too, such as in `Error: timeout`. */
export interface SeverityPart extends Part {
  readonly isPlain: boolean;
}

/** An ANSI colour, such as ESC[31m. */
const ESCAPE = '\\x1b';
const COLOUR = `${ESCAPE}\\[[\\d;]{0,12}m`;
/** Colours, blanks, and the signs that loggers put between parts. */
const GAP = new RegExp(String.raw`(?:${COLOUR}|[\s|]|(?:-{1,3}|[:,]) )*`, 'y');
const MAY_BE_MOMENT =
  /\d{4}[-/.]?\d\d?[-/.]?\d\d?(?:[T_ :,\t\d]|-\d\d\.)|\d\d?[-/. ](?:\d\d?|[a-z]{3,9})[-/. ]\d{4}|\d\d(?:[a-z]{3}\d{4}|\/\d\d\/\d\d),? |(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6},? |1\d{9}\.\d/iy;
/** Seconds of an epoch. Without a bracket or a fraction, ten digits may as well be an amount. */
const EPOCH =
  /\[(?<whole>1\d{9}(?:\.\d{1,9})?)\]|(?<fraction>1\d{9}\.\d{3,9})(?![\w.])|(?<colon>1\d{9})(?=: )/y;
const WORD = new RegExp(`[^\\s|${ESCAPE}]{1,40}`, 'y');
/** A moment of syslog, which has no year. */
const YEARLESS =
  /(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?(?![\w.]|:\S| \d{4}\b| [A-Z]{3,4} \d{4}\b)/y;
/** Words of the longest form: `Fri, 20 Nov 2026 10:00:00 GMT`. Its zone is found as such. */
const MOST_WORDS = 6;
const CLOCK = /\d:\d\d|\dT\d{4}/i;
const ZONE_WORD =
  /[ ]?(?:[AP]\.?M\.?|[+-]\d\d(?::?\d\d)?|m=[+-][\d.]{1,30}|\[[A-Za-z_]{1,20}\/[A-Za-z_/]{1,30}\]|[A-Z][a-z]{2,12}\/[A-Z][A-Za-z_/]{1,30}|Z|[A-Z]{2,5}(?:[+-]\d{1,2})?)(?![\w/])/y;

const NAMES =
  'trace|trce|trac|trc|debug|debg|debu|dbug|dbg|verbose|vrb|silly|info|information|inf|notice|success|warn|warning|wrn|erro|error|err|severe|crit|critical|crt|alert|emerg|emergency|fatal|fata|ftl|fail';
/** Written in capitals alone: in small letters they are words of messages. */
const CAPITALS = 'FINEST|FINER|FINE|CONFIG|LOG|PANIC|DPANIC';
/** `[warn]`, `<error>`, `(info)`, `[E]`. */
const IN_BRACKETS = new RegExp(
  `(?:\\[ {0,5}(${NAMES}|note|[tdiwefvc]) {0,5}\\]|<(${NAMES})>|\\((${NAMES})\\)):?`,
  'iy',
);
const WORD_OF_CAPITALS = new RegExp(
  `((?:${NAMES.toUpperCase()}|${CAPITALS})(?:[+-]\\d{1,2})?)(?=\\s|\\x1b|[:|\\]>)/,]|$)(?!, \\w+ \\w)[:,]?`,
  'y',
);
/** As winston's `simple` and zap's console write it: a colon, a tab or a column is behind it. */
const WORD_OF_SMALLS = new RegExp(`(${NAMES})(?:${COLOUR})?(?::(?=\\s)|(?=\\t|  | - | ?\\|))`, 'y');
const OTHER_WORD = new RegExp(`(${NAMES}|panic):(?=\\s|$)`, 'iy');

/** A word of severity begins so. One look saves four. */
const MAY_BE_SEVERITY = new RegExp(`[[<(]|${NAMES}|${CAPITALS}|panic`, 'iy');

const BRACKETS = '[<(';

/** Returns the match of a sticky expression at an index. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Returns the index behind blanks, colours and separators. */
export function behindGap(text: string, at: number): number {
  GAP.lastIndex = at;
  return GAP.test(text) ? GAP.lastIndex : at;
}

/** Returns the moment that begins at an index, in brackets or not, as it was written, or null. A time of day alone is not a moment. */
export function leadingMoment(text: string, at = 0): Part | null {
  const head = text.slice(0, HEAD_CHARS);
  const epoch = head[at] === '[' || head[at] === '1' ? matchAt(EPOCH, head, at) : null;
  if (epoch) {
    const { whole, fraction, colon } = epoch.groups ?? {};
    const seconds = whole ?? fraction ?? colon ?? '';
    return { text: seconds, end: at + epoch[0].length };
  }
  if (head[at] !== '[' && head[at] !== '(') return bareMoment(head, at);
  const inner = bareMoment(head, at + 1);
  const close = head[at] === '[' ? ']' : ')';
  return inner && head[inner.end] === close ? { text: inner.text, end: inner.end + 1 } : null;
}

/** Moments of Snort, `11/20-10:00:00.123456`, and short ones with the year first, of MySQL, CockroachDB and HDFS: `261120 10:00:00`. */
const [SNORT, SHORT] = [
  /\d\d\/\d\d-\d\d:\d\d:\d\d\.\d{6}(?= )/y,
  /(\d\d)([01]\d)([0-3]\d) {1,2}(\d{1,2}:\d\d:\d\d(?:\.\d{1,9})?(?=\s)|\d{6}(?= \d{1,10} [A-Z]{4,5} ))/y,
];

/** Returns the moment without a century or a year that a line begins with, with the century. */
function shortMoment(head: string, at: number): Part | null {
  const short = matchAt(SHORT, head, at);
  if (short) {
    const [whole, year, month, day, clock = ''] = short;
    const text = `20${year}${month}${day} ${clock.padStart(8, clock.includes(':') ? '0' : '')}`;
    return momentOf(text) === null ? null : { text, end: at + whole.length };
  }
  const snort = matchAt(SNORT, head, at);
  return snort && { text: snort[0], end: at + snort[0].length };
}

/** A moment behind other words. */
const INNER =
  /(?<=[\s[(|,;])(?:(?<full>\d{4}([-/.])\d\d\2\d\d(?:[T_\t,]| {1,2}| - )\d\d?:\d\d|\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d|\d\d?\/\d\d?\/\d{4}(?:,? | - )\d\d?:\d\d)|(?<=audit\()(?<audit>1\d{9}\.\d{3}):\d)/g;
/** Such a word before a moment says that it is of something else. Rails has `for 127.0.0.1 at` before its own. */
const OF_ANOTHER =
  /(?:^|\W)(?:at|until|till|before|after|since|from|to|by|on|for|of|expire[sd]?|expiry|next|due|last|was|is)[: ]{1,2}[[(]?$/i;
const RAILS = / for [\d.:a-f]{2,45} at $/i;
const MOST_BEFORE = 100;
const MAY_HAVE_INNER = /\d[-/.]\d\d?[-/.]\d\d|\/\d{4}:|audit\(1/;

/** Returns the moment, with a date and a time of day, that stands behind the first words of a line; null if there is none. */
export function innerMoment(line: string): string | null {
  if (!MAY_HAVE_INNER.test(line.slice(0, MOST_BEFORE + 12))) return null;
  const head = line.slice(0, HEAD_CHARS);
  for (const found of head.matchAll(INNER)) {
    if (found.index > MOST_BEFORE) return null;
    if (found.groups?.audit) return found.groups.audit;
    const before = head.slice(0, found.index);
    if (OF_ANOTHER.test(before) && !RAILS.test(before)) continue;
    const moment = bareMoment(head, found.index);
    if (moment) return moment.text;
  }
  return null;
}

/** A time of day: `15:12:06.487`, `[14:58:57.231]`, `3:16PM`. */
const TIME_OF_DAY = /\[?(?<clock>\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?| ?[AP]M))\]?(?=[\s|]|$)/y;

/** Returns the time of day that begins at an index, or null. */
export function leadingClock(text: string, at: number): Part | null {
  if (text[at] !== '[' && !isDigit(text.charCodeAt(at))) return null;
  const found = matchAt(TIME_OF_DAY, text.slice(0, HEAD_CHARS), at);
  return found && { text: found.groups?.clock ?? '', end: at + found[0].length };
}

/** Names of days and months begin with these. */
const NAME_STARTS = 'MTWFSJANDOmtwfsjando';

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Returns the moment that begins at an index without brackets around it, or null. It takes the fewest words that are a moment, and then a zone. */
export function bareMoment(head: string, at: number): Part | null {
  const isNumber = isDigit(head.charCodeAt(at));
  if (!isNumber && !NAME_STARTS.includes(head[at] ?? '-')) return null;
  const usual = isNumber ? usualMoment(head, at) : null;
  if (usual !== null) return withZone(head, at, usual);
  const yearless = isNumber ? null : matchAt(YEARLESS, head, at);
  if (yearless) return { text: yearless[0], end: at + yearless[0].length };
  const short =
    isNumber && (head[at + 6] === ' ' || head[at + 5] === '-') ? shortMoment(head, at) : null;
  if (short) return short;
  if (!matchAt(MAY_BE_MOMENT, head, at)) return null;
  let end = at;
  for (let words = 0; words < MOST_WORDS; words++) {
    const blanks =
      words > 0 ? (/^(?: {1,2}|\t)/.exec(head.slice(end, end + 2))?.[0].length ?? 0) : 0;
    const word = matchAt(WORD, head, end + blanks)?.[0];
    if (word === undefined || (words > 0 && blanks === 0)) return null;
    end += blanks + word.length;
    const found = momentAt(head, at, end);
    if (found !== null) return withZone(head, at, found);
  }
  return null;
}

/** Most moments have this form, and end with their word. */
const USUAL = new RegExp(
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?(?=[\s|${ESCAPE}]|$)`,
  'y',
);

/** Returns the end of a moment of the usual form; null for another. */
function usualMoment(head: string, at: number): number | null {
  USUAL.lastIndex = at;
  if (!USUAL.test(head)) return null;
  const end = USUAL.lastIndex;
  return momentOf(head.slice(at, end)) === null ? null : end;
}

/** Returns the end of the moment from `at` to about `end`: a sign behind it does not belong to it. */
function momentAt(head: string, at: number, end: number): number | null {
  const text = head.slice(at, end);
  if (!CLOCK.test(text)) return null;
  if (momentOf(text) !== null) return end;
  const signs = /[\])>:,;.]{1,2}(?:\[.*|[A-Z"].*)?$/.exec(text);
  return signs && momentOf(text.slice(0, signs.index)) !== null ? at + signs.index : null;
}

function withZone(head: string, at: number, found: number): Part {
  let end = found;
  for (let words = 0; words < 3; words++) {
    const zone = matchAt(ZONE_WORD, head, end)?.[0];
    // The word by itself has to be a zone: the parser of moments also takes `Z INFO`.
    if (!zone || !isZone(zone)) break;
    if (momentOf(head.slice(at, end + zone.length)) === null) break;
    end += zone.length;
  }
  return { text: head.slice(at, end), end };
}

/** Words behind a moment are few: a zone, or a severity. Longer ones hold the line that they are a part of. */
const [MOST_ZONES, MOST_ZONE_CHARS] = [1000, 12];
const zones = new Map<string, boolean>();

/** Tells whether a text behind a moment is a zone or the like. */
function isZone(text: string): boolean {
  const known = zones.get(text);
  if (known !== undefined) return known;
  const found = momentOf(`2026-01-01 10:00:00${text}`) !== null;
  if (text.length > MOST_ZONE_CHARS) return found;
  if (zones.size >= MOST_ZONES) zones.clear();
  zones.set(text, found);
  return found;
}

/** Returns the word of severity that begins at an index, as it was written, or null. */
export function leadingSeverity(text: string, at = 0): SeverityPart | null {
  const head = text.slice(0, HEAD_CHARS);
  MAY_BE_SEVERITY.lastIndex = at;
  if (!MAY_BE_SEVERITY.test(head)) return null;
  const isBracket = BRACKETS.includes(head[at] ?? '');
  const bracketed = isBracket ? matchAt(IN_BRACKETS, head, at) : null;
  if (bracketed) {
    const [, a, b, c] = bracketed;
    return { text: a ?? b ?? c ?? '', end: at + bracketed[0].length, isPlain: true };
  }
  if (isBracket) return null;
  const plain = matchAt(WORD_OF_CAPITALS, head, at) ?? matchAt(WORD_OF_SMALLS, head, at);
  const found = plain ?? matchAt(OTHER_WORD, head, at);
  if (!found) return null;
  return {
    text: found[1] ?? '',
    end: at + found[0].length,
    isPlain: plain !== null,
  };
}
