const EXTENSION = String.raw`\.(?:ndjson|jsonl|json|log)`;
const DIGITS = String.raw`[.-]\d[\dT:_-]*`;
/** What stands behind the extension; `.backup` is logrotate's, for a log that was made anew before it could `create` it. */
const SUFFIX = String.raw`(?:${DIGITS})*(?:\.backup)?`;

const LOG_FILE = new RegExp(`^[^.].*${EXTENSION}${SUFFIX}(?:\\.gz)?$`, 'su');
const AFTER_EXTENSION = new RegExp(`^(.*${EXTENSION})(?!$)${SUFFIX}$`, 'su');
const BEFORE_EXTENSION = new RegExp(`^(.+?)(?:${DIGITS})+(${EXTENSION})$`, 'su');

/** Whether a file's name is one that is read: a log's extension, then perhaps a rotation suffix, then perhaps `.gz`. */
export function isLogName(name: string): boolean {
  return LOG_FILE.test(name);
}

export function isGzip(path: string): boolean {
  return path.endsWith('.gz');
}

/** The part of a path up to its last `/`, which it includes. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** How many rotations the name of a file tells of: 0 for `app.log`, 1 for `app.log.1` and `app-20261120.log`, 2 for a `.gz`. */
export function rotationRank(path: string): 0 | 1 | 2 {
  if (isGzip(path)) return 2;
  const name = nameOf(path);
  return logOf(name) === name ? 0 : 1;
}

/**
 * What a file of this name is looked for by, as the original of others: its name without `.gz`, and that of the log which it is a
 * rotation of. The folder is not a part of it: rotated files may be moved to another one.
 */
export function namesOf(path: string): readonly [string, string] {
  const name = withoutGzip(nameOf(path));
  return [`name ${name}`, `log ${logOf(name)}`];
}

/**
 * The names, as `namesOf` gives them, of the files that a rotation might have made this one of: the same name without `.gz`, the log
 * itself, and for a `.gz` any other rotation of it, which was shifted and packed between two looks.
 */
export function originalsOf(path: string): readonly string[] {
  const name = withoutGzip(nameOf(path));
  const log = logOf(name);
  const names = new Set([`name ${name}`, `name ${log}`]);
  if (isGzip(path)) names.add(`log ${log}`);
  // A log that nothing has rotated is not a copy of another.
  return rotationRank(path) === 0 ? [] : [...names];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function withoutGzip(name: string): string {
  return isGzip(name) ? name.slice(0, -3) : name;
}

function logOf(name: string): string {
  const after = AFTER_EXTENSION.exec(name)?.[1];
  if (after !== undefined) return after;
  const before = BEFORE_EXTENSION.exec(name);
  return before ? `${before[1]}${before[2]}` : name;
}
