import type { Readable } from 'node:stream';
import type { Source } from '../../ingest/index.ts';
import type { Deadline } from '../deadline.ts';
import type { Values } from '../endpoints/parameters.ts';
import type { SearchWords } from '../search/condition.ts';
import type { RowColumn, Rows, SoughtText } from '../store/index.ts';

/** The columns of an entry, as they are shown. */
export const ENTRY: readonly RowColumn[] = [
  { name: 'id', kind: 'plain', type: 'VARCHAR' },
  { name: 'timestamp', kind: 'plain', type: 'TIMESTAMP' },
  { name: 'project', kind: 'plain', type: 'VARCHAR' },
  { name: 'severity', kind: 'plain', type: 'VARCHAR' },
  { name: 'status', kind: 'plain', type: 'SMALLINT' },
  { name: 'event_message', kind: 'plain', type: 'VARCHAR' },
  { name: 'metadata', kind: 'json', type: 'JSON' },
  { name: 'ingested_at', kind: 'plain', type: 'TIMESTAMP' },
];
/**
 * Orders entries of one timestamp, so that the same question has the same answer whatever the order in which they were stored. Shippers may
 * give several entries one id.
 */
export const TIES = 'id, event_message';
export const COLUMNS = ENTRY.map(({ name }) => name).join(', ');

/** An answer, or a part of one, is put together in memory. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** The rows of a source, and what conditions on them are made of. */
export interface Relation {
  readonly search: SearchWords;
  /** Returns the rows, under the name of the source, with what the conditions need that were made before. */
  from(): string;
}

/** Entries of a source that are asked for. */
export interface Filter {
  readonly source: Source;
  readonly relation: Relation;
  /** The condition on the project and the text, in the words of the engine. */
  readonly where: string;
  /** How the search query was read, and what to write instead, for an answer without entries. */
  readonly hint: string | null;
  /** The values of all parameters; `from_us` and `to_us` are the bounds in microseconds since the epoch, whether or not they were given. */
  readonly values: Values;
}

/** How an engine says what the questions about entries are made of. */
export interface Words {
  /** A parameter that is a text or null. */
  text(name: string): string;
  /** The moment of a parameter in microseconds since the epoch. */
  moment(name: string): string;
  /** A moment in microseconds since the epoch. */
  micros(moment: string): string;
  /** The earliest of the moments; null where there is none. */
  earliest(moment: string): string;
  /** Whether a text has the one that is sought, in any letter case: the parameter `search`. */
  hasSought(text: string): string;
  /** The beginning of the bucket that a timestamp is in; the parameter `step_us` is its length in microseconds. */
  readonly bucket: string;
  /** A number that is another one for most entries that differ. */
  readonly hash: string;
  /** Counts the bytes of an entry, as a last column; empty where the engine counts them itself. */
  readonly size: string;
}

export interface AskOptions {
  /** Rows beyond this many are not read. */
  readonly maxRows: number;
  /** Bytes that the rows may have together; the statement ends its columns with `words.size` then. Beyond it `RESULT_TOO_LARGE`. */
  readonly maxBytes?: number;
  readonly deadline: Deadline;
}

/** What holds the entries that are asked for: the store, or ClickHouse where rows are forwarded to it. */
export interface EntryEngine {
  readonly words: Words;
  /** Returns the rows of a source for one question. */
  relation(source: Source): Relation;
  /** Runs one SELECT that gives `columns`. */
  ask(
    sql: string,
    columns: readonly RowColumn[],
    values: Values,
    options: AskOptions,
  ): Promise<Rows>;
  /** Returns a condition that all rows with these texts meet, and that is tested faster; null where there is none. */
  mayHave(source: Source, texts: readonly SoughtText[], deadline: Deadline): Promise<string | null>;
  /** The newest entries, newest first, `limit` at most and perhaps one more. */
  newest(filter: Filter, limit: number, deadline: Deadline): Promise<Rows>;
  /** All entries as a Parquet file. It may take longer than a question: until `signal`. */
  parquet(filter: Filter, signal: AbortSignal): Promise<ParquetExport>;
  /** Follows what is stored. */
  follow(filter: Filter, options: FollowOptions): Promise<Follower>;
}

export interface FollowOptions {
  /** Where another follower stood; from now on with a text that none had. */
  readonly from: string;
  /** Whether it must not be told from where it stands what else was stored. */
  readonly pinned: boolean;
  /** Bounds the beginning; each look has the same time again. */
  readonly deadline: Deadline;
}

export interface ParquetExport {
  readonly rows: number;
  /** Null where it is not known before the end. */
  readonly bytes: number | null;
  readonly file: Readable;
  /** To be called in any case. */
  close(): Promise<void>;
}

export interface Follower {
  /** Where it stands at first. */
  readonly id: string;
  /** How often to look. */
  readonly everyMs: number;
  /** What was stored since the last look; null where nothing was that is asked for. */
  look(): Promise<Came | null>;
}

export interface Came {
  /** Newest first; null where they are too large. */
  readonly entries: Rows | null;
  /** How many more there were. */
  readonly skipped: number;
  /** Where the follower stands now. */
  readonly id: string;
}

/** Entries of one look that are sent; of more, the newest. */
export const MOST_OF_A_LOOK = 500;

const DAWN_US = BigInt(Date.UTC(1969, 11, 31)) * 1000n;
const HORIZON_US = BigInt(Date.UTC(2201, 11, 31)) * 1000n;

/** The bounds of time as microseconds since the epoch; without one what no entry is beyond. */
export function boundsOf({ from, to }: Values): { from_us: string; to_us: string } {
  return {
    from_us: String(from ? microsOf(from) : DAWN_US),
    to_us: String(to ? microsOf(to) : HORIZON_US),
  };
}

/** The condition on the time of entries. */
export function between({ moment }: Words): string {
  return `timestamp >= ${moment('from_us')} and timestamp < ${moment('to_us')}`;
}

function microsOf(iso: string): bigint {
  const [, second = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(iso) ?? [];
  return BigInt(Date.parse(`${second}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}
