import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import { makeFolder } from '../config/make-folder.ts';

/** What a token may do: ask queries, push lines, administer (ledger, rejected lines, retention), read the metrics. */
export const SCOPES = ['query', 'ingest', 'admin', 'metrics'] as const;

/** These tell of all projects, so a token for one project may not have them. */
const OF_ALL_PROJECTS: readonly Scope[] = ['admin', 'metrics'];

export type Scope = (typeof SCOPES)[number];

/** `tp_<id>_<32 bytes>`; an id has no underscore, the bytes may. */
const FORM = /^tp_([A-Za-z0-9]{1,32})_/;

/** The id in a token of a file; null for a text that has not the form of one. */
export function idOf(token: string): string | null {
  return FORM.exec(token)?.[1] ?? null;
}

/** A token as its file has it; the token itself stands nowhere. */
export interface TokenEntry {
  /** The middle of the token, `tp_<id>_<secret>`. */
  readonly id: string;
  /** What an operator calls it. */
  readonly name?: string;
  /** SHA-256 of the whole token, 64 hexadecimal digits in lower case. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** ISO 8601 with a zone; absent: it was written by hand. */
  readonly created?: string;
  /** ISO 8601 with a zone; absent: it does not expire. */
  readonly expires?: string;
  /** The only project that it may ask for; absent: any. */
  readonly project?: string;
}

/** For each field: whether it must be there, what is allowed, and whether a value is that. */
const FIELDS: Record<keyof TokenEntry, [boolean, string, (value: unknown) => boolean]> = {
  id: [true, '1 to 32 letters and digits', matches(/^[A-Za-z0-9]{1,32}$/)],
  name: [false, '1 to 100 characters', matches(/^[^\p{Cc}]{1,100}$/u)],
  hash: [true, 'the SHA-256 of the token, 64 hexadecimal digits', matches(/^[0-9a-f]{64}$/)],
  scopes: [true, `a list of ${SCOPES.join(', ')}, each at most once`, isScopes],
  created: [false, 'a moment such as 2027-01-31T00:00:00Z', isMoment],
  expires: [false, 'a moment such as 2027-01-31T00:00:00Z', isMoment],
  project: [false, '1 to 200 characters', matches(/^[^\p{Cc}]{1,200}$/u)],
};

/** Where the token file is, or would be. */
export function tokenFileOf({ tokens, data }: Pick<Config, 'tokens' | 'data'>): string {
  return resolve(tokens ?? join(data, 'tokens.json'));
}

/**
 * The entries of the token file; none when there is no file. Throws ConfigError that names the file and each entry at
 * fault, with what is allowed; never with a value, which may be a token at the wrong place.
 */
export function readTokenFile(path: string): TokenEntry[] {
  const fail = (reason: string): never => {
    throw new ConfigError([`TAILPOND_TOKENS: ${path} ${reason}`]);
  };
  let text: string;
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0)
      fail(`must be its owner's alone, mode 600, got ${(mode & 0o777).toString(8)}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    return fail(`cannot be read (${code})`);
  }
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return fail('is not JSON');
  }
  if (!Array.isArray(entries)) return fail('must hold a list of tokens: [{"id": …, "hash": …}]');
  const faults = faultsOfAll(path, entries);
  if (faults.length > 0) throw new ConfigError(faults);
  return entries;
}

/** Replaces the file, so that a reader meets the old entries or the new ones; readable by its owner alone. Throws ConfigError. */
export function writeTokenFile(path: string, entries: readonly TokenEntry[]): void {
  const faults = faultsOfAll(path, entries);
  if (faults.length > 0) throw new ConfigError(faults);
  makeFolder(dirname(path));
  const next = `${path}.${process.pid}.new`;
  writeFileSync(next, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(next, path);
}

function faultsOfAll(path: string, entries: readonly unknown[]): string[] {
  return entries.flatMap((entry, index) =>
    faultsOf(entry, entries.slice(0, index)).map(
      (fault) => `TAILPOND_TOKENS: ${path}, entry ${index + 1}: ${fault}`,
    ),
  );
}

function faultsOf(entry: unknown, before: readonly unknown[]): string[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return [`expected an object with ${Object.keys(FIELDS).join(', ')}`];
  const fields = entry as Record<string, unknown>;
  const faults = Object.keys(fields)
    .filter((name) => !Object.hasOwn(FIELDS, name))
    .map((name) => `there is no field ${shown(name)}, only ${Object.keys(FIELDS).join(', ')}`);
  for (const [name, [required, allowed, isRight]] of Object.entries(FIELDS)) {
    if (fields[name] === undefined ? required : !isRight(fields[name]))
      faults.push(
        `expected ${name} to be ${allowed}, got ${fields[name] === undefined ? 'none' : 'something else'}`,
      );
  }
  if (faults.length > 0) return faults;
  if (before.some((other) => (other as TokenEntry | null)?.id === fields.id))
    return [`its id ${shown(String(fields.id))} is that of an entry before it`];
  if (fields.project === undefined) return [];
  return OF_ALL_PROJECTS.filter((scope) => (fields.scopes as Scope[]).includes(scope)).map(
    (scope) => `expected either a project or the scope ${scope}, which sees all projects; got both`,
  );
}

function matches(pattern: RegExp) {
  return (value: unknown) => typeof value === 'string' && pattern.test(value);
}

function isScopes(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((scope) => SCOPES.includes(scope))
  );
}

function isMoment(value: unknown): boolean {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
  return typeof value === 'string' && form.test(value) && !Number.isNaN(Date.parse(value));
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 32));
}
