import { randomUUID } from 'node:crypto';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { allSources } from '../../ingest/index.ts';
import { type Deadline, deadlineIn, waitFor } from '../deadline.ts';
import { CALLER_TURNS, createTurns, type Plain, type Rows } from '../store/index.ts';
import type { Waits } from '../waits.ts';
import { named } from './expressions.ts';
import { tablesOf } from './schema.ts';
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

/** Codes of what is wrong with the user: that there is none, or another password; … */
const UNKNOWN_USER = ['192', '194', '516'];
/** … and what he may not, which may be of one statement. */
const FORBIDDEN = ['164', '497'];

/** Asks as the user who may only read. Throws AppError; null where ClickHouse refuses the statement, and where the user cannot be used. */
export type AskAsReader = (
  client: ClickHouseClient,
  question: Question,
  options: SelectOptions,
) => Promise<Rows | null>;

export interface AskAsReaderOptions {
  readonly tables: readonly string[];
  readonly waits: Pick<Waits, 'readerTrial'>;
  /** Ends a query of the user on a server, and waits for its end. Never rejects. */
  kill(client: ClickHouseClient, id: string): Promise<void>;
  /** Told why the user cannot be used: once, and again after he could be. */
  warn(reason: string): void;
}

/** A trial takes some ms where the server answers. */
const LONGEST_TRIAL_MS = 30_000;
/** The identifier of a query is in a header of its answer. */
const MOST_PROJECT_BYTES = 2000;

interface Trial {
  readonly atMs: number;
  readonly isFit: Promise<boolean>;
}

/**
 * Returns what asks. It tries the user of each server first, and again after `waits.readerTrial`, and asks as none who has other rights or
 * settings than he is given by `readerStatements`, or who sees rows of a project that does not exist.
 */
export function createAskAsReader({ tables, waits, kill, warn }: AskAsReaderOptions): AskAsReader {
  const turns = createTurns(CALLER_TURNS);
  const trials = new WeakMap<ClickHouseClient, Trial>();
  const told = new Set<string>();
  const tell = (reason: string) => {
    if (!told.has(reason)) warn(reason);
    told.add(reason);
  };
  const tried = async (client: ClickHouseClient): Promise<boolean> => {
    // All that ask wait for it, whoever of them leaves.
    const faults = await readerFaults(client, tables, deadlineIn(LONGEST_TRIAL_MS)).catch(
      (error: unknown) => {
        if (error instanceof ClickHouseError) return [error.message];
        trials.delete(client);
        throw error;
      },
    );
    if (faults.length === 0) told.clear();
    for (const fault of faults) tell(fault);
    return faults.length === 0;
  };
  const isFit = (client: ClickHouseClient): Promise<boolean> => {
    const last = trials.get(client);
    if (last && performance.now() - last.atMs < waits.readerTrial) return last.isFit;
    const trial = { atMs: performance.now(), isFit: tried(client) };
    trials.set(client, trial);
    return trial.isFit;
  };
  const answerOf = async (
    client: ClickHouseClient,
    question: Question,
    ends: AbortSignal,
  ): Promise<unknown[][]> => {
    const id = identifierOf(question.project);
    let ended: Promise<void> | null = null;
    try {
      return await ask(client, question, id, ends);
    } catch (error) {
      // ClickHouse does not see in the midst of a join that nobody waits any more.
      if (ends.aborted) ended = kill(client, id);
      throw error;
    } finally {
      // Its place is taken for as long as it runs there.
      void Promise.resolve(ended).then(() => turns.leave(question.project));
    }
  };
  return async (client, question, options) => {
    if (Buffer.byteLength(question.project) > MOST_PROJECT_BYTES) return null;
    return bounded(options.deadline, async (ends) => {
      if (!(await waitFor(options.deadline, () => isFit(client)))) return null;
      await turns.enter(ends, question.project);
      return rowsOf(await answerOf(client, question, ends), question, options);
    }).catch((error: unknown) => {
      if (!(error instanceof ClickHouseError)) throw error;
      if (UNKNOWN_USER.includes(error.code))
        trials.set(client, { atMs: performance.now(), isFit: Promise.resolve(false) });
      if ([...UNKNOWN_USER, ...FORBIDDEN].includes(error.code)) tell(error.message);
      return null;
    });
  };
}

/** Settings of the user without which answers are others, or statements not bounded, and the values that they may have. */
const WANTED_SETTINGS: readonly (readonly [
  name: string,
  is: (value: string) => boolean,
  wanted: string,
])[] = [
  ['readonly', (value) => value === '1', '1'],
  ['session_timezone', (value) => value === 'UTC', 'UTC'],
  ['date_time_output_format', (value) => value === 'iso', 'iso'],
  ['output_format_json_quote_64bit_integers', (value) => /^(?:1|true)$/.test(value), '1'],
  ['max_execution_time', (value) => Number(value) > 0, 'a limit'],
  ['max_result_bytes', (value) => Number(value) > 0, 'a limit'],
];

/** A right that `readerStatements` gives: to read one of the tables. */
const GRANT = /^GRANT SELECT(?:\(.*\))? ON (?:[`\w]+\.)?`?([^`.]+)`? TO /;

/** Returns what is wrong with the user, in words. Throws AppError, and ClickHouseError for a user who is refused. */
export async function readerFaults(
  client: ClickHouseClient,
  tables: readonly string[],
  deadline: Deadline,
): Promise<string[]> {
  return bounded(deadline, async (ends) => {
    const project = randomUUID();
    const known = new Set(allSources().flatMap(tablesOf));
    const answersTo = async (sql: string) =>
      (await ask(client, { sql, values: {} }, identifierOf(project), ends)).slice(2);
    const settings = WANTED_SETTINGS.map(([name]) => `toString(getSetting('${name}'))`);
    const [values = []] = await answersTo(`select ${settings.join(', ')}`);
    const faults = WANTED_SETTINGS.flatMap(([name, is, wanted], i) =>
      is(String(values[i]))
        ? []
        : [`its setting ${name} is ${values[i]}, and ${wanted} is expected`],
    );
    const others = (await answersTo('show grants'))
      .map(([grant]) => String(grant))
      .filter((grant) => !known.has(GRANT.exec(grant)?.[1] ?? ''));
    for (const grant of others) faults.push(`it has more rights than it needs: ${grant}`);
    const [rows = []] = await answersTo(
      `select ${tables.map((table) => `(select count() from (select id from ${named(table)} limit 1))`).join(', ')}`,
    );
    for (const [i, table] of tables.entries())
      if (Number(rows[i]) !== 0) faults.push(`it sees rows of ${table} whatever the project`);
    return faults;
  });
}

async function ask(
  client: ClickHouseClient,
  { sql, values }: Pick<Question, 'sql' | 'values'>,
  id: string,
  signal: AbortSignal,
): Promise<unknown[][]> {
  const answer = await client.query({
    query: sql,
    query_params: values,
    query_id: id,
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
      // As the setting date_time_output_format has them: in UTC, whatever their zone is.
      case 'DateTime64':
        return (value) => withMicros(String(value).replace('Z', ''));
      case 'DateTime':
        return (value) => String(value).replace('Z', '');
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
