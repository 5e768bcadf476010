/** What differs between two runs of the same command: its pattern, and whether a value may stand for another one. */
interface Volatile {
  readonly pattern: string;
  readonly mayStandFor: (value: string) => boolean;
}

/** A moment of the run or after it: that of an entry that a page gives is in the past, and must be as it is written. */
const isRecent = (ms: number) => ms > Date.now() - 2 * 3_600_000;
const any = () => true;

/**
 * All that is not compared letter by letter. Whatever else differs, fails. `…` in an answer stands for a part of a line,
 * and as a line of its own for lines.
 */
const VOLATILE: readonly Volatile[] = [
  // UUIDs that are made: of entries, requests.
  { pattern: String.raw`\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b`, mayStandFor: any },
  // Moments, in names of files too.
  {
    pattern: String.raw`\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z`,
    mayStandFor: (text) => isRecent(Date.parse(text.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))),
  },
  // The same in microseconds.
  { pattern: String.raw`\b\d{16}\b`, mayStandFor: (text) => isRecent(Number(text) / 1000) },
  // Tokens, their hashes and ids; ids of rejected lines.
  { pattern: String.raw`\btp_[\da-f]{12}_[\w-]+`, mayStandFor: any },
  { pattern: String.raw`\b(?:[\da-f]{64}|[\da-f]{16}|[\da-f]{12})\b`, mayStandFor: any },
  // Sizes of the database and its parts, of memory and of free space.
  { pattern: String.raw`(?<=\bsize"?: ?)\d+`, mayStandFor: any },
  { pattern: String.raw`\b\d+(?= bytes\.| kB\b| MB are free)`, mayStandFor: any },
  { pattern: '…', mayStandFor: any },
];

/** The lines in which an answer is not what the page says, as `- expected` and `+ got`; none when all is well. */
export function differences(language: string, expected: string, got: string): string[] {
  const [wanted, all] = [linesOf(language, expected), linesOf(language, got)];
  if (typeof all === 'string') return [all];
  if (typeof wanted === 'string') return [`- ${wanted}`];
  const given = folded(wanted, all);
  const length = Math.max(wanted.length, given.length);
  return Array.from({ length }, (_, i) => [wanted[i], given[i]] as const).flatMap(
    ([want, give]) => {
      if (want !== undefined && give !== undefined && isAnswer(want, give)) return [];
      return [
        ...(want === undefined ? [] : [`- ${want}`]),
        ...(give === undefined ? [] : [`+ ${give}`]),
      ];
    },
  );
}

/** The lines of the answer, those for which a line `…` stands as one. */
function folded(wanted: readonly string[], given: readonly string[]): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const [i, want] of wanted.entries()) {
    const next = wanted[i + 1];
    const more = given.slice(at).findIndex((line) => next !== undefined && isAnswer(next, line));
    if (want !== '…') lines.push(...given.slice(at, ++at));
    else if (next === undefined) at = given.length;
    else if (more > 0) at += more;
    if (want === '…') lines.push('…');
  }
  return [...lines, ...given.slice(at)];
}

function isAnswer(expected: string, got: string): boolean {
  const found = [
    ...expected.matchAll(new RegExp(VOLATILE.map(({ pattern }) => `(${pattern})`).join('|'), 'g')),
  ];
  let [pattern, at] = ['', 0];
  const kinds = found.map((match) => {
    const kind = VOLATILE[match.slice(1).findIndex((group) => group !== undefined)];
    if (!kind) throw new Error('BUG: matched by none');
    pattern += `${literal(expected.slice(at, match.index))}(${match[0] === '…' ? '.*' : kind.pattern})`;
    at = match.index + match[0].length;
    return kind;
  });
  const values = new RegExp(`^${pattern}${literal(expected.slice(at))}$`).exec(got);
  return (
    values !== null &&
    kinds.every(({ mayStandFor }, i) => {
      const value = values[i + 1] ?? '';
      return value === found[i]?.[0] || mayStandFor(value);
    })
  );
}

/** Returns a line for each value of a JSON text, under its path; a sentence when the text is not JSON. */
function linesOf(language: string, text: string): string[] | string {
  if (language !== 'json') return text.trim().split('\n');
  try {
    return leaves('', JSON.parse(text));
  } catch {
    return `Expected JSON, got ${text}`;
  }
}

function leaves(path: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: ${JSON.stringify(value)}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return [`${path}: ${JSON.stringify(value)}`];
  const step = (key: string) => (Array.isArray(value) ? `[${key}]` : `.${key}`);
  return entries.flatMap(([key, inner]) => leaves(path + step(key), inner));
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
