import { setImmediate } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../../../ingest/index.ts';
import { addTextFilter, removeTextFilters } from '../text-filter/filters.ts';
import { createWordFilter, PART_ROWS } from '../text-filter/words.ts';
import {
  columnOf,
  isUnread,
  isUnsettled,
  type MemberSet,
  SORTED_BIT,
  settledFrom,
  WAITING,
} from './members.ts';
import { memberRows } from './values.ts';

export type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

/** Rows of a table that are settled at once: those from one place up to another. */
interface Run {
  readonly first: number;
  readonly until: number;
}

/** What became of rows that were settled. */
export interface Settled {
  readonly source: Source;
  /** None when memory was wanting: fewer are tried the next time. */
  readonly rows: number;
  /** Whether they stand in order now. */
  readonly sorted: boolean;
}

/** A source's table, and what settling fills in its rows. */
export interface Table {
  readonly set: MemberSet;
  /** Rows of a table under a condition, as `row` their place, with their severity and status. */
  readonly graded: (source: Source, from: string) => string;
}

/** What a run holds, whatever order its rows stand in. */
interface Survey {
  readonly rows: number;
  readonly bytes: number;
  /** Whether rows have no severity: perhaps since an earlier version stored them. */
  readonly ungraded: boolean;
  /** The same before and after. */
  readonly digest: string;
}

/** The fewest rows of a run: the engine's vector, below which nothing is gained. */
export const LEAST_ROWS = 2048;
/** Bytes of texts that are read at once, about, … */
const TEXT_BYTES = 2 * 1024 * 1024;
/** … and characters of them that are looked at without a pause: some ms. */
const TEXT_CHARACTERS = 256 * 1024;

/** The character of the first part of a run. */
const FIRST_PART = 65;

/** Returns the part of a run that a row stands in, by the order of its rows. */
const partBy = (order: string) => `(row_number() over (order by ${order}) - 1) // ${PART_ROWS}`;

const within = ({ first, until }: Run) => `rowid >= ${first} and rowid < ${until}`;

/** A run as it was seen when it was planned. */
export interface Planned {
  readonly run: Run;
  readonly columns: readonly string[];
  readonly first: Survey;
  /** Whether its rows may be sorted. */
  readonly sortable: boolean;
}

/** The next run of a source, as long as memory allows; null without one. */
export async function plan(
  ask: Ask,
  set: MemberSet,
  bounds: { readonly length: number; readonly least: number; readonly mostBytes: number },
  nowMs: number,
): Promise<Planned | null> {
  const { length, mostBytes } = bounds;
  const run = await firstRun(ask, set, isUnsettled(set), bounds);
  if (!run) return null;
  const columns = await columnsOf(ask, set.source);
  const first = await survey(ask, set.source, run, columns);
  // Retention has just taken them.
  if (first.rows === 0) return null;
  if (first.bytes <= mostBytes || length <= LEAST_ROWS) {
    const { sortable } = await orderOf(ask, set.source, run, nowMs);
    return { run, columns, first, sortable };
  }
  const fitting = Math.floor((length * mostBytes) / first.bytes);
  return plan(ask, set, { ...bounds, length: Math.max(LEAST_ROWS, fitting) }, nowMs);
}

/** Returns the filter of the words in the rows of a run, by the parts in which they will stand. */
export async function textsOf(
  ask: Ask,
  source: Source,
  { run, first, sortable }: Planned,
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const filter = createWordFilter();
  // As one text: 30,720 values would take as long as the texts.
  const [order] = await ask(
    `select string_agg(chr((${FIRST_PART} + part)::int), '' order by place) as parts
      from (
        select rowid as place, ${partBy(sortable ? 'project, timestamp, rowid' : 'rowid')} as part
        from ${source}
        where ${within(run)}
      )`,
  );
  const parts = String(order?.parts ?? '');
  let row = 0;
  const fitting = Math.floor((first.rows * TEXT_BYTES) / first.bytes);
  const rows = Math.min(LEAST_ROWS, Math.max(1, fitting));
  let looked = 0;
  for (let from = run.first; from < run.until; from += rows) {
    signal.throwIfAborted();
    const part = { first: from, until: Math.min(from + rows, run.until) };
    const texts = await ask(
      `select event_message, metadata::varchar as metadata from ${source} where ${within(part)} order by rowid`,
    );
    for (const { event_message: message, metadata } of texts) {
      const of = parts.charCodeAt(row++) - FIRST_PART;
      if (typeof message === 'string') filter.add(of, message);
      if (typeof metadata === 'string') filter.addJson(of, metadata);
      looked += String(message ?? '').length + String(metadata ?? '').length;
      if (looked < TEXT_CHARACTERS) continue;
      looked = 0;
      // Requests are answered in between.
      await setImmediate();
    }
  }
  return filter.slices();
}

/** Settles a run as planned. No rows where others stand there by now, as retention has removed some. */
export async function settleRun(
  connection: DuckDBConnection,
  table: Table,
  { run, columns, first, ...planned }: Planned,
  texts: readonly Uint8Array[],
  nowMs: number,
): Promise<Settled> {
  const { set } = table;
  const { source } = set;
  const ask = asks(connection);
  const now = await survey(ask, source, run, columns);
  if (now.digest !== first.digest) return { source, rows: 0, sorted: false };
  const { sortable, sorted } = await orderOf(ask, source, run, nowMs);
  // The texts were read for another order: the clock was set since.
  if (sortable !== planned.sortable) return { source, rows: 0, sorted: false };
  const block = await addTextFilter(connection, source, texts, nowMs);
  const update =
    sortable && !sorted
      ? sortedRows(table, run, first, columns, block)
      : sameRows(
          table,
          run,
          first,
          `text_block = ${block} + s.part`,
          sorted ? 1n << SORTED_BIT : 0n,
        );
  await change(connection, update, { set, run, columns, first });
  await removeTextFilters(connection, source);
  return { source, rows: first.rows, sorted: sortable };
}

/** Fills the columns of a run's rows until they are settled. How many they were. */
export async function fillRun(
  connection: DuckDBConnection,
  table: Table,
  bounds: { readonly length: number; readonly least: number },
): Promise<number> {
  const { set } = table;
  const ask = asks(connection);
  const run = await firstRun(ask, set, isUnread(set), bounds);
  if (!run) return 0;
  const columns = await columnsOf(ask, set.source);
  const first = await survey(ask, set.source, run, columns);
  await change(connection, sameRows(table, run, first, '', WAITING), { set, run, columns, first });
  return first.rows;
}

/** Runs an UPDATE of a run's rows. Throws where they are not the same rows afterwards. */
async function change(
  connection: DuckDBConnection,
  update: string,
  { set: { source }, run, columns, first }: Omit<Planned, 'sortable'> & { readonly set: MemberSet },
): Promise<void> {
  const { rowsChanged } = await connection.run(update);
  const after = await survey(asks(connection), source, run, columns);
  // They are the only copy: rather no order than one row that is another.
  if (rowsChanged !== first.rows || after.digest !== first.digest)
    throw new Error(
      `Settling would have changed what is stored: ${rowsChanged} of ${first.rows} rows of ${source} from row ${run.first} on. Nothing was changed.`,
    );
}

/** How the rows of a run stand. */
interface Order {
  /**
   * Whether they were stored one after the other, by their stamps, later than all before them, and none in the future: not so where the
   * clock was set, back or ahead. Retention then needs the order that they were stored in.
   */
  readonly sortable: boolean;
  /** Whether they may be sorted and are, as rows of one project mostly. */
  readonly sorted: boolean;
}

async function orderOf(ask: Ask, source: Source, run: Run, nowMs: number): Promise<Order> {
  const [row] = await ask(
    `select
      coalesce(bool_and(before is null or before <= ingested_at), true)
        and max(ingested_at) <= make_timestamp(${Math.ceil(nowMs)}::bigint * 1000 + 1000000)
        and min(ingested_at) >= coalesce(
          (select max(ingested_at) from ${source} where rowid < ${run.first}),
          timestamp '1970-01-01'
        ) as sortable,
      bool_and(stands = belongs) as sorted
      from (
        select
          ingested_at,
          lag(ingested_at) over (order by rowid) as before,
          row_number() over (order by rowid) as stands,
          row_number() over (order by project, timestamp, rowid) as belongs
        from ${source}
        where ${within(run)}
      )`,
  );
  const sortable = row?.sortable === true;
  return { sortable, sorted: sortable && row?.sorted === true };
}

/** The place of the first rows for which a condition holds, if there are enough. */
async function firstRun(
  ask: Ask,
  set: MemberSet,
  condition: string,
  { length, least }: { readonly length: number; readonly least: number },
): Promise<Run | null> {
  const [place] = await ask(placeOf(set, condition));
  const first = Number(place?.first ?? 0);
  return rowsBetween(place) >= least ? { first, until: first + length } : null;
}

/** The first and the last of the rows for which a condition holds. */
export function placeOf({ source }: MemberSet, condition: string): string {
  return `select min(rowid) as first, max(rowid) as last from ${source} where ${condition}`;
}

export function rowsBetween(place: Record<string, unknown> | undefined): number {
  return Number(place?.last ?? -1) - Number(place?.first ?? 0) + 1;
}

const OWN_COLUMN = /^(?:member_state|text_block|severity|status)$|^metadata\./;
/** Columns that a line gives, or else settling by its metadata. */
const GRADES = ['severity', 'status'];

/** The columns of a source's table that a line gives, and that never change. */
async function columnsOf(ask: Ask, source: Source): Promise<string[]> {
  const rows = await ask(
    `select column_name as name from duckdb_columns() where table_name = '${source}' and database_name = current_database()`,
  );
  const names = rows.map(({ name }) => String(name));
  return names.filter((name) => !OWN_COLUMN.test(name));
}

async function survey(
  ask: Ask,
  source: Source,
  run: Run,
  columns: readonly string[],
): Promise<Survey> {
  const [row] = await ask(
    `select
      count(*) as rows,
      sum(strlen(event_message) + coalesce(strlen(metadata), 0))::bigint as bytes,
      coalesce(bool_or(severity is null), false) as ungraded,
      concat_ws(' ', bit_xor(digest), sum(digest)) as digest
    from (
      select event_message, metadata, severity, hash(${columns.join(', ')}) as digest
      from ${source}
      where ${within(run)}
    )`,
  );
  return {
    rows: Number(row?.rows),
    bytes: Number(row?.bytes ?? 0),
    ungraded: row?.ungraded === true,
    digest: String(row?.digest),
  };
}

/** The rows of a run, as `row` their place; graded where some of them may be without a severity that their metadata has. */
function rowsOf({ set: { source }, graded }: Table, run: Run, { ungraded }: Survey): string {
  const rows = `${source} where ${within(run)}`;
  return ungraded ? graded(source, rows) : `(select *, rowid as row from ${rows})`;
}

/** Fills the columns of a run's rows, each where it stands, and sets what `also` says; `more` is added to their states. */
function sameRows(table: Table, run: Run, first: Survey, also: string, more: bigint): string {
  const { source } = table.set;
  const filled = first.ungraded ? GRADES : [];
  const rows = {
    from: rowsOf(table, run, first),
    columns: ['row as place', 'metadata', ...filled],
  };
  return `update ${source} as t
    set ${[assignments(table.set, filled), ...(also ? [also] : [])].join(', ')}, member_state = s.state | ${more} | (t.member_state & ${1n << SORTED_BIT})
    from (select *, ${partBy('place')} as part from (${memberRows(table.set, rows)})) as s
    where t.rowid = s.place and t.${within(run)}`;
}

/**
 * The same, and puts the rows in order: among the places that they have, as rows between may have been removed. They are sorted with
 * what was taken out of their records, not with the records, which take more memory.
 */
function sortedRows(
  table: Table,
  run: Run,
  first: Survey,
  given: readonly string[],
  block: number,
): string {
  const { source, members } = table.set;
  const columns = [...given, ...GRADES];
  const rows = { from: rowsOf(table, run, first), columns: [...columns, 'row'] };
  const values = [...columns, 'state', ...members.map((_, i) => `m${i}`)].join(', ');
  return `update ${source} as t
    set ${assignments(table.set, columns)}, member_state = s.state, text_block = ${block} + s.part
    from (
      select place, (n - 1) // ${PART_ROWS} as part, ${values}
      from (
        select ${values}, row_number() over (order by project, timestamp, row) as n
        from (${memberRows(table.set, rows, 1n << SORTED_BIT)})
      )
      join (
        select rowid as place, row_number() over (order by rowid) as n
        from ${source}
        where ${within(run)}
      ) using (n)
    ) as s
    where t.rowid = s.place and t.${within(run)}`;
}

function assignments({ members }: MemberSet, columns: readonly string[]): string {
  return [
    ...columns.map((name) => `${name} = s.${name}`),
    ...members.map((member, i) => `"${columnOf(member)}" = s.m${i}`),
  ].join(', ');
}

/** Marks the smallest run as looked at, and leaves its columns empty. */
export async function passOver(
  connection: DuckDBConnection,
  set: MemberSet,
): Promise<Settled | null> {
  const bounds = { length: LEAST_ROWS, least: LEAST_ROWS };
  const run = await firstRun(asks(connection), set, isUnsettled(set), bounds);
  if (!run) return null;
  const { rowsChanged } = await connection.run(
    `update ${set.source}
      set member_state = case
        when ${isUnread(set)} then ${settledFrom(set)} | (member_state & ${1n << SORTED_BIT})
        else member_state & ~${WAITING}::bigint
      end
      where ${within(run)}`,
  );
  return { source: set.source, rows: rowsChanged, sorted: false };
}

function asks(connection: DuckDBConnection): Ask {
  return async (sql) => (await connection.runAndReadAll(sql)).getRowObjects();
}
