const LOG_FILE = /^[^.].*\.(?:ndjson|jsonl|json|log)(?:[.-]\d[\dT:_-]*)*(?:\.gz)?$/su;
const AFTER_EXTENSION = /^(.*\.(?:ndjson|jsonl|json|log))(?:[.-]\d[\dT:_-]*)+$/su;
const BEFORE_EXTENSION = /^(.+?)(?:[.-]\d[\dT:_-]*)+(\.(?:ndjson|jsonl|json|log))$/su;

/** Whether a file's name is one that is read: a log's extension, then perhaps a rotation suffix, then perhaps `.gz`. */
export function isLogName(name: string): boolean {
  return LOG_FILE.test(name);
}

export function isGzip(path: string): boolean {
  return path.endsWith('.gz');
}

/** Whether the name itself says that the file is an older generation of another: `app.log.1`, `app-20261120.log`, `.gz`. */
export function isRotated(path: string): boolean {
  return isGzip(path) || unrotated(path) !== path;
}

/**
 * Whether `path` could be what a rotation made of the file that was known at `known`: the same name with a suffix, a
 * date before the extension (logrotate's `extension`), or `.gz`; always in the same folder.
 */
export function isRotationOf(path: string, known: string): boolean {
  const plain = withoutGzip(path);
  const before = withoutGzip(known);
  if (plain === before) return path !== known;
  if (unrotated(plain) === before) return true;
  // Shifted and compressed between two looks: app.log.1 is app.log.2.gz now.
  return isGzip(path) && unrotated(plain) === unrotated(before);
}

function withoutGzip(path: string): string {
  return isGzip(path) ? path.slice(0, -3) : path;
}

function unrotated(path: string): string {
  const slash = path.lastIndexOf('/') + 1;
  const name = path.slice(slash);
  const after = AFTER_EXTENSION.exec(name)?.[1];
  if (after !== undefined) return path.slice(0, slash) + after;
  const before = BEFORE_EXTENSION.exec(name);
  return before ? path.slice(0, slash) + before[1] + before[2] : path;
}
