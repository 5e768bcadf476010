import { hash } from 'node:crypto';
import { allSources, type Source } from '../../ingest/index.ts';
import { DIALECTS, type Dialect, type View } from '../caller-sql/index.ts';
import type { Statement } from '../clickhouse/select.ts';
import type { UnionView } from '../clickhouse/union-rows.ts';
import { PARAMETER_TYPES, type Parameter, type ParameterType } from '../http/route.ts';
import { type Fail, translatePlaceholders } from './placeholders.ts';

/**
 * How `@newest_from` is supplied: the query runs with a near bound, counted back from the newest entry of `source` or
 * from the value of the parameter `until`, and with farther ones until it gives `rows` rows or the value of the
 * parameter `from`, or the oldest entry, is reached.
 */
export interface Windows {
  readonly source: string;
  readonly rows: number;
  readonly from: string;
  readonly until: string;
}

/** A saved query as its file says it. Durations are seconds; null means off. */
export interface SavedQuery {
  readonly id: string;
  /** Another one for another text of the file. */
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly maxRows: number;
  readonly caching: number | null;
  readonly warming: number | null;
  readonly sandboxing: boolean;
  readonly redactPii: boolean;
  readonly parameters: readonly Parameter[];
  readonly windows: Windows | null;
  /** Whether it takes `@pinned_project`. */
  readonly pinned: boolean;
  /** Whether it takes `@any_project`. */
  readonly anyProject: boolean;
  /** The statement, each `@name` written `$name`. */
  readonly sql: string;
  /** The statement for ClickHouse, where rows are forwarded to it; filled in when the query is prepared. */
  readonly clickhouse: Statement | null;
  /** The view `union` in ClickHouse; filled in as well. */
  readonly unionThere: UnionView | null;
  /** How SQL of callers is read that does not say; the query itself is asked as such SQL, too, where it is not BigQuery's. */
  readonly dialect: Dialect;
  /** The query without its common table expressions, where it is asked as SQL of a caller. */
  readonly text: string | null;
  /** The view that has the rows of all sources, and its columns of JSON that are maps. */
  readonly union: string | null;
  readonly maps: readonly string[];
  /** Columns of views whose bare names mean a member of an unnested record first. */
  readonly afterMembers: readonly string[];
  /** What SQL of a caller may name, with sandboxing; the engine knows, so it is filled in as well, and asked when it is first wanted. */
  views(): Promise<Views>;
  /** The sources that it reads; filled in as well. */
  readonly sources: readonly Source[];
}

/** The views of a query, by their names in lower case. */
export type Views = ReadonlyMap<string, View>;

/** The parameter that the server supplies to a query with `windows`. */
export const NEWEST_FROM = 'newest_from';

/**
 * The parameter that the server supplies to a query that uses it: the project that the caller's token is pinned to, or
 * NULL. A query whose `project` is a regular expression needs it, since such a one matches others' rows, too.
 */
export const PINNED_PROJECT = 'pinned_project';

/**
 * The parameter that the server supplies to a query that uses it: whether `project` was asked for as `ALL_PROJECTS`. One whose `project` is
 * a text needs it to be asked so.
 */
export const ANY_PROJECT = 'any_project';

/** Asks for the rows of all projects. */
export const ALL_PROJECTS = '*';

/** Parameters that a query uses without declaring them. */
export const SUPPLIED = [PINNED_PROJECT, ANY_PROJECT];

/** What the service itself takes in a query string. */
const RESERVED = ['sql', 'dialect', 'format'];

/** A fault in a query's file; `line` counts from 1. */
export class QueryFileError extends Error {
  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const DIRECTIVES = [
  'uuid',
  'max_rows',
  'caching',
  'warming',
  'sandboxing',
  'redact_pii',
  'parameter',
  'windows',
  'each_source',
  'empty_sources',
  'union',
  'maps',
  'after_members',
  'dialect',
];
/** Directives that must be there, once. */
const NEEDED = ['uuid', 'max_rows', 'caching', 'warming', 'sandboxing', 'redact_pii'];

/**
 * Reads the file of a saved query: a sentence on what it answers, the `--!` directives, one SELECT with `@name`
 * parameters. `name` is the endpoint's, `file` what errors call it. Throws QueryFileError.
 */
export function parseQueryFile(name: string, file: string, text: string): SavedQuery {
  const fail = (line: number, reason: string): never => {
    throw new QueryFileError(file, line, reason);
  };
  const lines = text.split(/\r?\n/);
  const description = /^--\s*([^!\s].*)$/.exec(lines[0] ?? '')?.[1];
  if (!description)
    return fail(1, 'the first line must be a comment that says what the query answers');

  const directives = readDirectives(lines, fail);
  const one = (key: string) => {
    const found = directives.filter((directive) => directive.key === key);
    if (found.length > 1) fail(found[1]?.line ?? 1, `--! ${key} is given twice`);
    return found[0];
  };
  for (const key of NEEDED) if (!one(key)) fail(1, `--! ${key} is missing`);

  const number = (key: string) => {
    const { value, line } = one(key) ?? { value: 'off', line: 1 };
    if (value === 'off' && key !== 'max_rows') return null;
    if (!/^[1-9]\d*$/.test(value))
      fail(
        line,
        `--! ${key} must be a whole number above 0${key === 'max_rows' ? '' : ' of seconds, or off'}, got "${value}"`,
      );
    return Number(value);
  };
  const names = (key: string) => (one(key)?.value ?? '').split(' ').filter((name) => name !== '');
  const flag = (key: string) => {
    const { value, line } = one(key) ?? { value: '', line: 1 };
    if (value !== 'on' && value !== 'off')
      fail(line, `--! ${key} must be on or off, got "${value}"`);
    return value === 'on';
  };

  const id = one('uuid');
  if (!UUID.test(id?.value ?? ''))
    fail(id?.line ?? 1, `--! uuid must be a UUID, got "${id?.value}"`);
  const [caching, warming] = [number('caching'), number('warming')];
  if (warming !== null && caching === null)
    fail(one('warming')?.line ?? 1, 'warming is given, but caching is off');
  if (warming !== null && caching !== null && warming >= caching) {
    fail(one('warming')?.line ?? 1, 'warming must come more often than caching ends');
  }
  const parameters = directives
    .filter(({ key }) => key === 'parameter')
    .map(
      ({ value, line }) =>
        readParameter(value) ??
        fail(
          line,
          `--! parameter must be: name type required|optional[=preset], description; a type is ${PARAMETER_TYPES.join(', ')} or words such as up|down`,
        ),
    );
  const dialect = readDialect(one('dialect'), flag('sandboxing'), fail);
  const windows = readWindows(one('windows'), parameters, fail);
  const { sql, used } = translatePlaceholders(eachSource(text, one, fail), fail);
  checkParameters(parameters, windows, used, fail);

  return {
    id: (id?.value ?? '').toLowerCase(),
    version: hash('sha1', text, 'base64url'),
    name,
    description,
    maxRows: number('max_rows') ?? fail(1, '--! max_rows is missing'),
    caching,
    warming,
    sandboxing: flag('sandboxing'),
    redactPii: flag('redact_pii'),
    parameters,
    windows,
    pinned: used.has(PINNED_PROJECT),
    anyProject: used.has(ANY_PROJECT),
    dialect,
    text: dialect === 'bigquery' ? null : mainOf(lines, fail),
    union: one('union')?.value ?? null,
    maps: names('maps'),
    afterMembers: names('after_members'),
    sql,
    clickhouse: null,
    unionThere: null,
    views: async () => new Map(),
    sources: [],
  };
}

/**
 * The text with the common table expression that `--! each_source` names in it once for each source, and the source's name wherever that
 * name stands in it. What `--! empty_sources` lists and is not a source has one without rows, and what `--! union` names becomes the rows
 * of what it says for each source. All but the first are on one line, so that the lines behind keep their numbers.
 */
function eachSource(text: string, one: (key: string) => Directive | undefined, fail: Fail): string {
  const directive = one('each_source');
  const [empty, union] = [one('empty_sources'), one('union')];
  if (!directive) {
    const other = empty ?? union;
    return other ? fail(other.line, `--! ${other.key} needs --! each_source`) : text;
  }
  const { value: name } = directive;
  const definition = definitionOf(text, directive, fail);
  const sources = allSources();
  const named = (source: string) => definition.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), source);
  const [first = '', ...others] = sources.map(named);
  const absent = (empty?.value ?? '').split(' ').filter((each) => each && !sources.includes(each));
  const unfit = absent.find((each) => !/^[a-z]\w*$/.test(each));
  if (unfit) fail(empty?.line ?? 1, `--! empty_sources must be names, got "${unfit}"`);
  const all = [
    first,
    ...others.map(onOneLine),
    ...absent.map((each) => `${each} as (select * from ${sources[0]} where false)`),
  ].join(', ');
  // Functions, since `$` in the text would mean something.
  const repeated = text.replace(definition, () => all);
  if (!union) return repeated;
  const whole = definitionOf(text, union, fail);
  const body = whole.slice(whole.indexOf('(') + 1, -1);
  const arms = sources.map((source, i) => {
    const arm = body.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), source);
    return i === 0 ? arm : onOneLine(arm);
  });
  return repeated.replace(whole, () => `${union.value} as (${arms.join(' union all ')})`);
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** The common table expression that a directive names. */
function definitionOf(text: string, { key, value, line }: Directive, fail: Fail): string {
  if (!/^[a-z]\w*$/.test(value))
    return fail(line, `--! ${key} must be a name such as log_source, got "${value}"`);
  const [definition] = new RegExp(`^${value} as \\([^]*?^\\)`, 'm').exec(text) ?? [];
  if (!definition)
    return fail(line, `--! ${key} needs "${value} as (", and ")" on a line of its own`);
  return definition.includes('--')
    ? fail(line, `--! ${key}: no comment may stand in ${value}`)
    : definition;
}

function readDialect(directive: Directive | undefined, isSandboxed: boolean, fail: Fail): Dialect {
  if (!directive) return 'bigquery';
  const { value, line } = directive;
  if (!isSandboxed) fail(line, '--! dialect is for SQL of callers, which needs --! sandboxing: on');
  return (
    DIALECTS.find((known) => known === value) ??
    fail(line, `--! dialect must be one of ${DIALECTS.join(', ')}, got "${value}"`)
  );
}

/** The text of the SELECT that a query ends with. */
function mainOf(lines: readonly string[], fail: Fail): string {
  const from = lines.findIndex((line) => /^select\b/i.test(line));
  return from < 0
    ? fail(1, '--! dialect needs the last SELECT to begin a line')
    : lines.slice(from).join('\n');
}

interface Directive {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

function readDirectives(lines: readonly string[], fail: Fail): Directive[] {
  return lines.flatMap((text, index) => {
    if (!text.startsWith('--!')) return [];
    const line = index + 1;
    const match = /^--!\s*(\w+)\s*:\s*(.*?)\s*$/.exec(text);
    const [, key, value] = match ?? [];
    if (!key || value === undefined) return fail(line, 'a directive must be --! name: value');
    if (!DIRECTIVES.includes(key))
      fail(line, `there is no directive "${key}", only ${DIRECTIVES.join(', ')}`);
    return [{ key, value, line }];
  });
}

function readParameter(value: string): Parameter | null {
  const match = /^([A-Za-z_]\w*)\s+(\S+)\s+(?:(required)|optional(?:=(\S+))?),\s*(\S.*)$/.exec(
    value,
  );
  const [, name, kind, required, preset = null, description] = match ?? [];
  if (!name || !kind || !description) return null;
  const type = kind.includes('|')
    ? kind.split('|')
    : PARAMETER_TYPES.find((known) => known === kind);
  if (!type || (preset !== null && !isOfType(type, preset))) return null;
  return { name, type, required: required !== undefined, preset, description };
}

/** Whether a text is a value of a type, as far as can be told here: moments and regular expressions are judged by the engine. */
export function isOfType(type: ParameterType, value: string): boolean {
  if (typeof type !== 'string') return type.includes(value);
  if (type === 'integer') return /^-?\d{1,18}$/.test(value);
  if (type === 'number') return /^-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/.test(value);
  return type !== 'boolean' || value === 'true' || value === 'false';
}

function readWindows(
  directive: Directive | undefined,
  parameters: readonly Parameter[],
  fail: Fail,
): Windows | null {
  if (!directive) return null;
  const [, source, rows, from, until] =
    /^(\w+)\s+([1-9]\d*)\s+(\w+)\s+(\w+)$/.exec(directive.value) ?? [];
  if (!source || !rows || !from || !until) {
    return fail(
      directive.line,
      '--! windows must be: source-or-view rows from-parameter until-parameter',
    );
  }
  for (const name of [from, until]) {
    const parameter = parameters.find((candidate) => candidate.name === name);
    if (parameter?.type !== 'timestamp')
      fail(directive.line, `--! windows names "${name}", which is not a timestamp parameter`);
  }
  return { source, rows: Number(rows), from, until };
}

function checkParameters(
  parameters: readonly Parameter[],
  windows: Windows | null,
  used: Map<string, number>,
  fail: Fail,
) {
  const declared = new Set(parameters.map((parameter) => parameter.name));
  if (declared.size < parameters.length) fail(1, 'a parameter is declared twice');
  const taken = RESERVED.find((name) => declared.has(name));
  if (taken) fail(1, `a parameter cannot be called "${taken}": every endpoint takes one`);
  if (declared.has(NEWEST_FROM))
    fail(1, `@${NEWEST_FROM} is supplied by the server, ask for it by --! windows`);
  if (windows) declared.add(NEWEST_FROM);
  for (const name of SUPPLIED) {
    if (declared.has(name))
      fail(1, `@${name} is supplied by the server, use it without --! parameter`);
    if (used.has(name)) declared.add(name);
  }
  for (const [name, line] of used) {
    if (!declared.has(name))
      fail(
        line,
        `@${name} is used, but not declared by --! ${name === NEWEST_FROM ? 'windows' : 'parameter'}`,
      );
  }
  for (const name of declared) if (!used.has(name)) fail(1, `@${name} is declared, but not used`);
}
