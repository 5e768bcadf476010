import { existsSync } from 'node:fs';
import type { TornCommit } from './torn-log.ts';

/**
 * The store cannot be used as it is, and starting again does not help. The message says what it is and what to do.
 * Nothing was changed.
 */
export class StoreBroken extends Error {}

/** Another process has the store open; `endsSoon`: a command that is worth waiting for. */
export class StoreInUse extends Error {
  readonly endsSoon: boolean;

  constructor(
    message: string,
    { endsSoon = false, cause }: { readonly endsSoon?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.endsSoon = endsSoon;
  }
}

/**
 * What the engine could not do. `memory`: it lacked memory; `input`: a value, such as a regular expression, is not one; `statement`: the
 * text of the statement is at fault, or what it makes of values; `fatal`: it has given the database up; `other`: trouble of its own.
 */
export type EngineErrorKind = 'memory' | 'input' | 'statement' | 'fatal' | 'other';

/** An error of the engine. The message is the engine's, which quotes stored values: it is for the log at debug level alone. */
export class EngineError extends Error {
  readonly kind: EngineErrorKind;
  /** The line of the statement at fault, from 1; null where the engine names none. */
  readonly line: number | null;
  /** Whether the statement mixes aggregates and plain columns in a way that the engine does not take. */
  readonly ofGrouping: boolean;

  constructor(kind: EngineErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = `${kind} error of the engine`;
    this.kind = kind;
    const [, line] = /LINE (\d+):/.exec(message) ?? [];
    this.line = line === undefined ? null : Number(line);
    this.ofGrouping = kind === 'statement' && /GROUP BY|aggregate/.test(message);
  }
}

/** The engine has ended the rows of an answer early, and keeps the reason to itself: mostly it is memory, and treated so. */
export class RowsEndedEarly extends EngineError {
  constructor() {
    super('memory', 'the rows ended early, most likely for want of memory');
  }
}

/** How DuckDB 1.5 begins its messages, by kind; the first that fits. */
const KINDS: readonly [EngineErrorKind, RegExp][] = [
  // Never by words alone: an error of another kind may quote what a caller wrote, or what is stored.
  [
    'fatal',
    /^FATAL Error|^(?:IO|TransactionContext) Error: .*(?:FATAL Error|database (?:"[^"]*" )?has been invalidated)/is,
  ],
  [
    'memory',
    /^(?:Out of Memory|(?:(?:TransactionContext|IO) Error: |Invalid Input Error: Attempting to )[^'"]*(?:Out of Memory|failed to (?:pin|allocate)|could not allocate))/,
  ],
  ['input', /^Invalid Input Error/i],
  [
    'statement',
    /^(?:Parser|Syntax|Binder|Catalog|Not implemented|Invalid Type|Mismatch Type|Conversion|Out of Range|Parameter Not \w+|Permission|Expression Depth \w+|Dependency|Sequence|Settings|Missing Extension) Error/i,
  ],
];

export function engineErrorKind(error: unknown): EngineErrorKind {
  if (error instanceof EngineError) return error.kind;
  const message = error instanceof Error ? error.message : '';
  return KINDS.find(([, pattern]) => pattern.test(message))?.[0] ?? 'other';
}

/** An error that the engine's client has thrown, as one that tells its kind. */
export function asEngineError(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  return new EngineError(engineErrorKind(error), error.message, error);
}

const RESTORE = 'Restore a backup (tailpond restore <file>)';
const READ_AGAIN =
  'what the files in logs/ still hold is read again and nothing is doubled (docs/backup.md)';

/** What DuckDB 1.5 says when it meets a file that it will not open tomorrow either. */
const WAL = /replaying WAL|Corrupt WAL|This WAL was created/i;
const DATABASE =
  /not a valid DuckDB database|Corrupt database file|Could not read enough bytes|newer version|older version|is an existing extension|Failed to deserialize|Serialization Error/i;
const LOCKED = /Could not set lock/;

/** Throws StoreBroken for a write-ahead log without its database: DuckDB would make a new one and drop the log. */
export function refuseLoneLog(database: string): void {
  if (existsSync(database) || !existsSync(`${database}.wal`)) return;
  throw new StoreBroken(
    `${database} is missing, but its write-ahead log ${database}.wal is there. Nothing was changed. Put the database back, or ${uncapped(RESTORE)}, or move the log away: ${READ_AGAIN}.`,
  );
}

/** Throws StoreBroken when the file is shorter than the blocks in use: what is missing would only show in queries. */
export function refuseTruncated(database: string, bytes: number, expected: number): void {
  if (bytes >= expected) return;
  throw new StoreBroken(
    `${database} is cut off: it has ${bytes} bytes, and ${expected} belong to it. Nothing was changed. ${otherwise(database)}`,
  );
}

/** What a command that only reads says of a log that the service would mend. */
export function endsTorn({ log, bytes }: TornCommit): StoreBroken {
  return new StoreBroken(
    `The last ${bytes} bytes of the write-ahead log ${log} are of a commit that was cut off before it was confirmed, by a kill or a loss of power. Nothing was changed. The next start of tailpond removes them.`,
  );
}

/** The error of an open that failed, as StoreBroken or StoreInUse where it is known to be one. */
export function whyNotOpened(error: unknown, database: string): unknown {
  const text = error instanceof Error ? error.message : String(error);
  const said = `The engine says: ${text.split('\n')[0]}`;
  if (LOCKED.test(text))
    return new StoreInUse(
      `Another process has ${database} open; one may, most likely the service that runs. ${said}`,
      { cause: error },
    );
  // Replaying the log reads the database, too: a part of the database is missing then, and the log may be whole.
  const isCut = text.includes(`Could not read enough bytes from file "${database}"`);
  if (WAL.test(text) && !isCut)
    return new StoreBroken(
      `The write-ahead log ${database}.wal is damaged, or belongs to another state of the database. Nothing was changed. ${RESTORE}, or move the log away: ${READ_AGAIN}. ${said}`,
      { cause: error },
    );
  if (DATABASE.test(text))
    return new StoreBroken(
      `${database} is damaged, or no database that this version can read. Nothing was changed. ${otherwise(database)} ${said}`,
      { cause: error },
    );
  return error;
}

function otherwise(database: string): string {
  return `${RESTORE}, or move it and ${database}.wal away: ${READ_AGAIN}.`;
}

function uncapped(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
