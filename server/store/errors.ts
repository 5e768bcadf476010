import { existsSync } from 'node:fs';

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

/** The error of an open that failed, as StoreBroken or StoreInUse where it is known to be one. */
export function whyNotOpened(error: unknown, database: string): unknown {
  const text = error instanceof Error ? error.message : String(error);
  const said = `The engine says: ${text.split('\n')[0]}`;
  if (LOCKED.test(text))
    return new StoreInUse(
      `Another process has ${database} open; one may, most likely the service that runs. ${said}`,
      { cause: error },
    );
  if (WAL.test(text))
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
