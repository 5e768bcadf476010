import picomatch from 'picomatch';
import type { Source } from '../source.ts';

const EXTENSION = String.raw`\.(?:ndjson|jsonl|json|log)`;
/** A rotation puts this behind a name: a number or a date, logrotate's `.backup`, then how it is packed. */
const SUFFIX = String.raw`(?:[.-]\d[\dT:_-]*)*(?:\.backup)?(?:\.(?:gz|zst|zip|bz2|xz))?`;

const LOG_FILE = new RegExp(`^[^.].*${EXTENSION}${SUFFIX}$`, 'su');
const ROTATED = new RegExp(`${SUFFIX}$`, 'u');

/** Tells whether a file is a log by its name. The path is relative to the folder of its source. */
export type IsLog = (source: Source, path: string) => boolean;

/**
 * Patterns of an operator for further logs. `*` stands for characters of a name, `**` for folders, `?` for one character. A pattern with
 * `/` is compared with the path below the folder of the source, another one with the name alone.
 */
export type NamePatterns = Readonly<Record<Source, readonly string[]>>;

/** A log has the extension of one, or a name of `patterns`, and then perhaps a rotation suffix. */
export function logNames(patterns: NamePatterns): IsLog {
  const matchers = new Map(
    Object.entries(patterns).map(([source, list]) => [source, list.map(fileMatcher)]),
  );
  return (source, path) =>
    LOG_FILE.test(nameOf(path)) || (matchers.get(source) ?? []).some((matches) => matches(path));
}

/** Returns what tells whether a path below the folder of a source has a pattern, perhaps with a rotation suffix. */
export function fileMatcher(pattern: string): (path: string) => boolean {
  const matches = picomatch(pattern, { ...PLAIN, basename: !pattern.includes('/') });
  return (path) => matches(path) || matches(path.replace(ROTATED, ''));
}

/** Braces and negations are left out: commas part the patterns of a setting. */
const PLAIN = { nobrace: true, noextglob: true, nonegate: true, strictSlashes: true };

/** The part of a path up to its last `/`, which it includes. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The part of a path behind its last `/`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
