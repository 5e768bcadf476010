import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deadline, within } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import { freeBytesOf } from '../disk.ts';
import { quoted } from '../engine.ts';
import type { BackgroundTasks } from './own-connection.ts';
import { bind, type RowColumn } from './pool.ts';

export interface ParquetOptions {
  readonly background: BackgroundTasks;
  /** The folder that files are made in. */
  readonly staging: string;
  /** Bytes that must stay free on its disk; 0: any. */
  readonly minFree: number;
}

export interface Parquet {
  /** Rows that are lines of JSON already, as a Parquet file. */
  toParquet(columns: readonly RowColumn[], lines: string, deadline: Deadline): Promise<Buffer>;
  /**
   * Writes the rows of one SELECT to a Parquet file in the staging folder, which is the caller's to remove; one at a time. Throws
   * `OVERLOADED` while another one is made, `STORAGE_UNAVAILABLE` when the disk has no room for it.
   */
  exportParquet(
    sql: string,
    values: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<{ path: string; rows: number }>;
}

/** How often the disk is looked at while a file grows. */
const LOOK_MS = 100;
/** The engine's reader takes no longer line than this, unless it is told so. */
const USUAL_LINE = 16 * 1024 * 1024;

export function createParquet({ background, staging, minFree }: ParquetOptions): Parquet {
  let exporting = false;
  const fresh = () => join(staging, `export-${randomUUID()}`);
  const run = (sql: string, values: Readonly<Record<string, string | null>>, signal: AbortSignal) =>
    background.start(signal, (withConnection) =>
      withConnection(async (own) => {
        const statement = await own.prepare(sql);
        try {
          bind(statement, values);
          return (await statement.run()).rowsChanged;
        } finally {
          statement.destroySync();
        }
      }),
    );

  return {
    async toParquet(columns, lines, deadline) {
      const path = fresh();
      const files = { lines: `${path}.ndjson`, parquet: `${path}.parquet` };
      try {
        await writeFile(files.lines, lines, { mode: 0o600 });
        const copy = `copy (
            select * from read_ndjson(
              ${quoted(files.lines)},
              columns = {${columns.map(({ name, type }) => `${quoted(name)}: ${quoted(readAs(type))}`).join(', ')}},
              maximum_object_size = ${Math.max(USUAL_LINE, lines.length * 4)}
            )
          ) ${to(files.parquet)}`;
        await within(deadline, (ends) => run(copy, {}, ends));
        return await readFile(files.parquet);
      } finally {
        for (const file of Object.values(files)) await rm(file, { force: true });
      }
    },
    async exportParquet(sql, values, signal) {
      if (exporting)
        throw new AppError('OVERLOADED', {
          detail: 'Another export to Parquet is being made; wait for it.',
        });
      exporting = true;
      const path = `${fresh()}.parquet`;
      const full = new AbortController();
      const look = async () => {
        if (minFree > 0 && (await freeBytesOf(staging)) < minFree) full.abort(noRoom());
      };
      const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
      try {
        await look();
        full.signal.throwIfAborted();
        const rows = await run(
          `copy (${sql}) ${to(path)}`,
          values,
          AbortSignal.any([signal, full.signal]),
        );
        return { path, rows };
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      } finally {
        clearInterval(timer);
        exporting = false;
      }
    },
  };
}

/** Each thread holds a row group until it is written: the usual ones, of 122,880 rows, would take more memory than there is. */
function to(path: string): string {
  return `to ${quoted(path)} (format parquet, compression zstd, row_group_size_bytes '8MB')`;
}

function noRoom(): AppError {
  return new AppError('STORAGE_UNAVAILABLE', {
    detail:
      'The disk has no room for the file beside TAILPOND_MIN_FREE: ask for less at a time, or for ndjson or csv, which need none.',
  });
}

/** The type that JSON's values are read as: lists and objects stay JSON, and what JSON has as a text stays one. */
function readAs(type: string): string {
  if (/\[\d*\]$|^(?:STRUCT|MAP|UNION)/.test(type)) return 'JSON';
  return /^(?:ENUM|BLOB|BIT|INTERVAL)/.test(type) ? 'VARCHAR' : type;
}
