import { randomUUID } from 'node:crypto';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import type { Plain, Rows } from '../store/index.ts';
import { named } from './expressions.ts';
import { bounded, type SelectOptions } from './select.ts';

/** A statement that a caller wrote, for the user who may only read. */
export interface Question {
  readonly sql: string;
  readonly values: Readonly<Record<string, string | null>>;
  /** Whose rows it may see, by ClickHouse's own rule; `*`: of all. */
  readonly project: string;
  /** What its columns are called, in their order. */
  readonly columns: readonly string[];
}

/**
 * The identifier of a query that tells ClickHouse whose rows it may see: row policies ask for it, and no statement can change it, as it could
 * change a setting. All servers that a query reaches know it.
 */
function identifierOf(project: string): string {
  return `tailpond.${Buffer.from(project).toString('hex')}.${randomUUID()}`;
}

const PROJECT = "extract(initialQueryID(), '^tailpond[.]([0-9a-f]+)[.]')";

/** The condition of a row policy: none of the rows where the query has another identifier. */
export const POLICY = `${PROJECT} != '' and (project = unhex(${PROJECT}) or unhex(${PROJECT}) = '*')`;

/** Codes of what is wrong with the user: no such one, what he may not, and a setting that he must not change. */
const OF_USER = ['164', '192', '194', '497', '516'];

/** Asks as the user who may only read. Throws AppError; null where ClickHouse refuses the statement, and where the user may do more. */
export type AskAsReader = (
  client: ClickHouseClient,
  question: Question,
  options: SelectOptions,
) => Promise<Rows | null>;

/** A user who was found to be one who may do more is tried again after so long. */
const AGAIN_MS = 60_000;

/**
 * Returns what asks. It tries the user of each server first, and asks as none who may write or who sees rows of a project that does not
 * exist. `warn` is told why, once.
 */
export function createAskAsReader(
  tables: readonly string[],
  warn: (reason: string) => void,
): AskAsReader {
  const trials = new WeakMap<ClickHouseClient, { atMs: number; isFit: Promise<boolean> }>();
  const told = new Set<string>();
  const tell = (reason: string) => {
    if (!told.has(reason)) warn(reason);
    told.add(reason);
  };
  const tried = async (client: ClickHouseClient, options: SelectOptions): Promise<boolean> => {
    const faults = await readerFaults(client, tables, options).catch((error: unknown) => {
      if (error instanceof ClickHouseError) return [error.message];
      trials.delete(client);
      throw error;
    });
    for (const fault of faults) tell(fault);
    return faults.length === 0;
  };
  const isFit = async (client: ClickHouseClient, options: SelectOptions): Promise<boolean> => {
    const last = trials.get(client);
    if (last && (performance.now() - last.atMs < AGAIN_MS || (await last.isFit))) return last.isFit;
    const trial = { atMs: performance.now(), isFit: tried(client, options) };
    trials.set(client, trial);
    return trial.isFit;
  };
  return async (client, question, options) => {
    if (!(await isFit(client, options))) return null;
    return bounded(options, async (ends) =>
      rowsOf(await ask(client, question, ends), question, options),
    ).catch((error: unknown) => {
      if (!(error instanceof ClickHouseError)) throw error;
      if (OF_USER.includes(error.code)) tell(error.message);
      return null;
    });
  };
}

/** Returns what is wrong with the user, in words. Throws AppError, and ClickHouseError for a user who is refused. */
export async function readerFaults(
  client: ClickHouseClient,
  tables: readonly string[],
  options: Pick<SelectOptions, 'timeoutMs' | 'signal'>,
): Promise<string[]> {
  return bounded(options, async (ends) => {
    const faults: string[] = [];
    const answersTo = async (sql: string) =>
      (await ask(client, { sql, values: {}, project: randomUUID() }, ends)).at(2)?.at(0);
    const readonly = await answersTo("select getSetting('readonly') as c");
    if (Number(readonly) !== 1)
      faults.push(`its setting readonly is ${readonly}, and 1 is expected`);
    for (const table of tables) {
      const rows = await answersTo(
        `select count() as c from (select id from ${named(table)} limit 1)`,
      );
      if (Number(rows) !== 0) faults.push(`it sees rows of ${table} whatever the project`);
    }
    return faults;
  });
}

async function ask(
  client: ClickHouseClient,
  { sql, values, project }: Omit<Question, 'columns'>,
  signal: AbortSignal,
): Promise<unknown[][]> {
  const answer = await client.query({
    query: sql,
    query_params: values,
    query_id: identifierOf(project),
    format: 'JSONCompactEachRowWithNamesAndTypes',
    abort_signal: signal,
  });
  return answer.json<unknown[]>();
}

function rowsOf(
  [, types = [], ...lines]: readonly unknown[][],
  { columns }: Question,
  { maxRows }: SelectOptions,
): Rows {
  if (types.length !== columns.length)
    throw new Error(`ClickHouse gives ${types.length} columns, and ${columns.length} are expected`);
  const readers = types.map((type) => readerOf(String(type)));
  return {
    columns: columns.map((name, i) => ({ name, kind: 'plain', type: String(types[i]) })),
    rows: lines
      .slice(0, maxRows)
      .map((line) => line.map((value, i) => readers[i]?.(value) ?? null)),
    truncated: lines.length > maxRows,
  };
}

type Reader = (value: unknown) => Plain;

const INTEGER = /^U?Int(?:64|128|256)$/;

/** How a value of a type is shown: as an answer of the store shows it. */
function readerOf(type: string): Reader {
  const [, outer = type, inner = ''] = /^(\w+)\((.*)\)$/s.exec(type) ?? [];
  const own = (): Reader => {
    switch (outer) {
      case 'Nullable':
      case 'LowCardinality':
        return readerOf(inner);
      case 'Array':
        return listOf(() => readerOf(inner));
      case 'Tuple': {
        const readers = split(inner).map((each) => readerOf(each.replace(/^\w+ (?=\w)/, '')));
        return listOf((i) => readers[i] ?? plain);
      }
      case 'Map': {
        const of = readerOf(split(inner)[1] ?? '');
        return (value) =>
          Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, of(each)]));
      }
      case 'DateTime64':
        return (value) => withMicros(String(value).replace(' ', 'T'));
      case 'DateTime':
        return (value) => String(value).replace(' ', 'T');
      case 'Bool':
        return (value) => (value ? 1 : 0);
      default:
        return INTEGER.test(outer) ? (value) => BigInt(String(value)) : plain;
    }
  };
  const reader = own();
  return (value) => (value === null || value === undefined ? null : reader(value));
}

const plain: Reader = (value) => value as Plain;

function listOf(of: (i: number) => Reader): Reader {
  return (value) => (value as unknown[]).map((each, i) => of(i)(each));
}

/** `2026-11-20T10:00:00.123` with six digits; without any where the type has none. */
function withMicros(text: string): string {
  const [second = '', fraction] = text.split('.');
  return fraction === undefined ? second : `${second}.${fraction.padEnd(6, '0').slice(0, 6)}`;
}

/** Splits the types that commas part. */
function split(types: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const character of types) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
