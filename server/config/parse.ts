import { allSources, isSource, type NamePatterns, type Source } from '../../ingest/index.ts';
import { type OwnFields, plainName, ROLES, type Role } from '../lines/index.ts';

// What settings are written as. Each gives the value, in ms or bytes where it has a unit, or null for a text that is not one.

const MIB = 1024 * 1024;

export function port(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : null;
}

/** A whole number from 1 to a million. */
export function count(text: string): number | null {
  return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= 1e6 ? Number(text) : null;
}

const UNITS: Record<string, number> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: MIB,
  gib: 1024 * MIB,
};

export function bytes(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*([kmg]?i?b)$/i.exec(text) ?? [];
  const factor = unit && UNITS[unit.toLowerCase()];
  return number && factor ? Math.floor(Number(number) * factor) : null;
}

/** A size within bounds, bytes. */
export const sizeWithin = (least: number, most: number) => (text: string) => {
  const size = bytes(text);
  return size !== null && size >= least && size <= most ? size : null;
};

/** `off`, or what another one reads. */
export const orOff = (off: number, read: (text: string) => number | null) => (text: string) =>
  text === 'off' ? off : read(text);

const DURATIONS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function duration(text: string): number | null {
  const [, number, unit] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  const ms = number && unit ? Number(number) * (DURATIONS[unit] ?? 0) : 0;
  return ms >= 100 && ms <= 3_600_000 ? ms : null;
}

/** A duration from a second to five minutes. */
export function interval(text: string): number | null {
  const ms = duration(text);
  return ms !== null && ms >= 1000 && ms <= 300_000 ? ms : null;
}

/** A value for all sources, and others of single ones. */
export interface PerSource<T> {
  readonly all: T;
  readonly sources: ReadonlyMap<Source, T>;
}

/**
 * `30d,postgres_logs=7d,auth_logs=off`: each value is what `read` makes of it, or what the word `off` means, if it may stand there. Null
 * where one is not allowed.
 */
export function perSource<T, Off = never>(
  text: string,
  read: (text: string) => T | null,
  off?: { readonly means: Off },
): PerSource<T | Off> | null {
  const readPart = (part: string) => {
    if (off && part === 'off') return { value: off.means };
    const value = read(part);
    return value === null ? null : { value };
  };
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  const all = readPart(first);
  const sources = new Map<Source, T | Off>();
  for (const other of others) {
    const [name = '', part = '', ...rest] = other.split('=').map((each) => each.trim());
    const own = readPart(part);
    if (!isSource(name) || sources.has(name) || own === null || rest.length > 0) return null;
    sources.set(name, own.value);
  }
  return all && { all: all.value, sources };
}

/** Names of formats as the setting gives them. */
export interface FormatNames extends PerSource<string> {
  /** The formats of single files, in their order. */
  readonly files: readonly FileFormat[];
}

export interface FileFormat {
  readonly source: Source;
  readonly pattern: string;
  readonly format: string;
}

/** `auto,k8s_logs=cri,nginx_logs/error*.log=nginx-error`: names of formats, of which any may be unknown. */
export function formatNames(text: string): FormatNames | null {
  const parts = text.split(',').map((part) => part.trim());
  const files: FileFormat[] = [];
  for (const part of parts.filter((each) => each.includes('/'))) {
    const [, source = '', pattern = '', format = ''] =
      /^([^/=]+)\/([^=]+)=(.+)$/.exec(part)?.map((each) => each.trim()) ?? [];
    if (!isSource(source) || !NAME_PATTERN.test(pattern) || !FORMAT.test(format)) return null;
    files.push({ source, pattern, format });
  }
  const others = parts.filter((each) => !each.includes('/'));
  const named = perSource(others.join(','), (name) => (FORMAT.test(name) ? name : null));
  return named && files.length <= MAX_PATTERNS ? { ...named, files } : null;
}
const FORMAT = /^[a-z][a-z0-9_-]{0,62}$/;

/** Separates patterns: a comma or a newline before `name=^`. None of them contains this, as `^` stands at the beginning of a line. */
const NEXT_PATTERN = /[,\n]\s*(?=[a-z][a-z0-9_-]*=\^)/;

/** `billing=^(?<time>\S+) (?<message>.*)`: expressions by the names of formats. */
export function linePatterns(text: string): ReadonlyMap<string, string> | null {
  const parts = text.split(NEXT_PATTERN).map((part) => /^([^=]+)=(\^.*)$/s.exec(part));
  const patterns = new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? '']));
  const areNamed = [...patterns.keys()].every((name) => FORMAT.test(name));
  return areNamed && patterns.size === parts.length ? patterns : null;
}

/** The same value for every source. */
export function forAll<T>(all: T): PerSource<T> {
  return { all, sources: new Map() };
}

export function ofEach<T>({ all, sources }: PerSource<T>): Record<Source, T> {
  return Object.fromEntries(
    allSources().map((source) => [source, sources.has(source) ? (sources.get(source) as T) : all]),
  );
}

/** `time=zeit|wann,app_logs.severity=stufe`: names of fields by role, of all sources and of single ones. */
export function fieldNames(text: string): Record<Source, OwnFields> | null {
  const named = fieldNames.none() as Record<Source, Partial<Record<Role, string[]>>>;
  const roles = new Map<string, Role>();
  for (const part of text.split(',')) {
    const [, source, given = '', list = ''] =
      /^\s*(?:([^.=]+)\.)?([a-z]+)\s*=(.*)$/s.exec(part) ?? [];
    const role = ROLES.find((known) => known === given);
    const names = list.split('|').map((name) => name.trim());
    if (!role || (source !== undefined && !isSource(source))) return null;
    for (const own of source === undefined ? allSources() : [source]) {
      for (const name of names) {
        // One name cannot mean two things.
        const key = `${own} ${plainName(name)}`;
        if (plainName(name) === '' || (roles.get(key) ?? role) !== role) return null;
        roles.set(key, role);
      }
      const fields = named[own];
      if (fields) fields[role] = [...(fields[role] ?? []), ...names];
    }
  }
  return named;
}
fieldNames.none = (): Record<Source, OwnFields> =>
  Object.fromEntries(allSources().map((source) => [source, {}]));

/** A project as a line would name it: text without what the list of sources is written with. `*` stands for all of them. */
export function projectName(text: string): string | null {
  return /^[^\s,=*]{1,128}$/.test(text) ? text : null;
}

const SOURCE = /^[a-z][a-z0-9_]{0,62}$/;
const MAX_SOURCES = 64;

/** Sources of an operator's own, `nginx_logs,worker_logs`. None may be called as ClickHouse calls a source on all shards. */
export function sourceNames(text: string): Source[] | null {
  const names = text.split(',').map((name) => name.trim());
  const isRight = names.every((name) => SOURCE.test(name) && !name.endsWith('_all'));
  const areOnce = new Set(names).size === names.length;
  return isRight && areOnce && names.length <= MAX_SOURCES ? names : null;
}

/** A pattern of file names: characters of a path that is relative and not hidden. */
const NAME_PATTERN = /^(?![./])(?!.*(?:^|\/)\.)[^,=\\{}!()]{1,128}$/;
const MAX_PATTERNS = 64;

/** Patterns of file names, of all sources and of single ones: `*.txt,nginx_logs=access_log,nginx_logs=*.out`. */
export function namePatterns(text: string): NamePatterns | null {
  const lists = namePatterns.none();
  const parts = text.split(',');
  for (const part of parts) {
    const at = part.indexOf('=');
    const [name, pattern] = [part.slice(0, Math.max(0, at)).trim(), part.slice(at + 1).trim()];
    if ((at >= 0 && !isSource(name)) || !NAME_PATTERN.test(pattern)) return null;
    for (const source of at >= 0 ? [name] : allSources()) lists[source]?.push(pattern);
  }
  return parts.length <= MAX_PATTERNS ? lists : null;
}
namePatterns.none = (): Record<Source, string[]> =>
  Object.fromEntries(allSources().map((source) => [source, []]));

/** Names of members that a path can hold, and that need no quotes. */
const MEMBER = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*$/;
/** Further columns of a source: each is filled for every row. */
const MAX_MEMBERS = 16;

/** Members of sources, `edge_logs=request.headers.referer,auth_logs=provider`. */
export function memberLists(text: string): Record<Source, string[]> | null {
  const lists = memberLists.none();
  for (const part of text.split(',')) {
    const [name = '', member = '', ...rest] = part.split('=').map((each) => each.trim());
    const list = isSource(name) ? lists[name] : undefined;
    if (
      !list ||
      list.includes(member) ||
      rest.length > 0 ||
      member.length > 128 ||
      !MEMBER.test(member)
    )
      return null;
    if (list.push(member) > MAX_MEMBERS) return null;
  }
  return lists;
}
memberLists.none = () =>
  Object.fromEntries(allSources().map((source) => [source, [] as string[]])) as Record<
    Source,
    string[]
  >;

export function onOrOff(text: string): boolean | null {
  return text === 'on' || text === 'off' ? text === 'on' : null;
}

/** From an hour, because the newest hour is never removed. */
export function age(text: string): number | null {
  const [, number, unit] = /^(\d{1,4})(h|d)$/.exec(text) ?? [];
  const ms = Number(number) * (unit === 'd' ? 24 : 1) * 3_600_000;
  return ms >= 3_600_000 ? ms : null;
}

/** From 16MB: a store of empty tables takes some, and below a few row groups there is nothing to choose from. */
export function diskSize(text: string): number | null {
  const size = bytes(text);
  return size !== null && size >= 16e6 ? size : null;
}

export function origin(text: string): string | null {
  if (text === '*') return text;
  return URL.canParse(text) && new URL(text).origin === text ? text : null;
}

/** Addresses of servers, each once, without a path or anything else that would be lost. */
export function serverUrls(text: string): readonly string[] | null {
  const urls = text.split(',').map((each) => each.trim().replace(/\/$/, ''));
  const isServer = (url: string) =>
    /^https?:/.test(url) && URL.canParse(url) && new URL(url).origin === url;
  return urls.every(isServer) && new Set(urls).size === urls.length ? urls : null;
}

/** A name that stands in SQL as it is. */
export function sqlName(text: string): string | null {
  return /^[A-Za-z_]\w{0,62}$/.test(text) ? text : null;
}
