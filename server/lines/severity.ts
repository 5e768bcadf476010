import { withoutColours } from './colours.ts';

/** How grave an entry is. */
export type Severity = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** The words of loggers, in small letters. */
export const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  trace: [
    'trace',
    'trc',
    'trce',
    'trac',
    'verbose',
    'vrb',
    'silly',
    'finer',
    'finest',
    't',
    'v',
    'all',
  ],
  debug: [
    'debug',
    'dbg',
    'debg',
    'debu',
    'dbug',
    'fine',
    'config',
    'debug1',
    'debug2',
    'debug3',
    'debug4',
    'debug5',
    'd',
    'd1',
    'd2',
    'd3',
    'd4',
    'd5',
  ],
  info: [
    'info',
    'note',
    'information',
    'informational',
    'notice',
    'log',
    'http',
    'inf',
    'statement',
    'success',
    'ok',
    'i',
    'n',
  ],
  warn: ['warn', 'warning', 'wrn', 'w'],
  error: ['error', 'err', 'erro', 'severe', 'fail', 'failure', 'e'],
  fatal: [
    'fatal',
    'ftl',
    'fata',
    'pani',
    'critical',
    'crit',
    'crt',
    'panic',
    'dpanic',
    'alert',
    'emerg',
    'emergency',
    'f',
    'c',
    'a',
  ],
};

const BY_WORD = new Map(
  (Object.keys(SEVERITY_WORDS) as Severity[]).flatMap((severity) =>
    SEVERITY_WORDS[severity].map((word) => [word, severity] as const),
  ),
);

/** The priorities of syslog. */
export const BY_PRIORITY: readonly Severity[] = [
  'fatal',
  'fatal',
  'fatal',
  'error',
  'warn',
  'info',
  'info',
  'debug',
];
/** The numbers of OpenTelemetry, four to a word. */
export const BY_FOUR: readonly Severity[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
/** The numbers of pino and bunyan, ten to a word. */
export const BY_TEN: readonly Severity[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
/** The numbers of Monolog, a hundred to a word. */
export const BY_HUNDRED: readonly Severity[] = ['debug', 'info', 'warn', 'error', 'fatal', 'fatal'];

/** Returns how grave a word or number says that an entry is; null if it says nothing. `isNumber`: the field is one of OpenTelemetry's numbers. */
export function severityOf(text: string, isNumber = false): Severity | null {
  const usual = BY_WORD.get(text) ?? BY_WORD.get(text.toLowerCase());
  if (usual) return usual;
  const plain = withoutColours(text)
    .trim()
    .toLowerCase()
    .replace(/^severity_number_/, '')
    .replace(/^[<[(](.*)[>\])]$/, '$1')
    .replace(/:$/, '');
  const word = BY_WORD.get(plain);
  if (word) return word;
  const shifted = shiftedWord(plain);
  if (shifted) return shifted;
  // SEVERITY_NUMBER_ERROR2.
  const numbered = /^(trace|debug|info|warn|error|fatal)[2-4]$/.exec(plain)?.[1];
  if (numbered) return numbered as Severity;
  if (!/^\d{1,3}(\.0+)?$/.test(plain)) return null;
  const number = Number.parseInt(plain, 10);
  if (isNumber) return number >= 1 && number <= 24 ? (BY_FOUR[(number - 1) >> 2] ?? null) : null;
  if (number < 8) return BY_PRIORITY[number] ?? null;
  if (number >= 100) return BY_HUNDRED[Math.floor(number / 100) - 1] ?? null;
  if (number >= 10) return BY_TEN[Math.min(5, Math.floor(number / 10) - 1)] ?? null;
  return null;
}

/** Go's slog writes levels between and beyond its words as `DEBUG-4` and `ERROR+2`, where four make the next word. */
function shiftedWord(plain: string): Severity | null {
  const [, name, shift] = /^(debug|info|warn|error)([+-]\d{1,2})$/.exec(plain) ?? [];
  if (!name) return null;
  const at = BY_FOUR.indexOf(name as Severity) + Math.floor(Number(shift) / 4);
  return BY_FOUR[Math.max(0, Math.min(at, BY_FOUR.length - 1))] ?? null;
}

/** Returns how grave the status of an answer is. */
export function severityOfStatus(status: number): Severity {
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}
