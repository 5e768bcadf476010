import { writeFile } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Batch } from '../../../ingest/index.ts';
import { faultOf } from '../../lines/index.ts';
import { quoted } from '../engine.ts';
import { type StagedLine, stagedLines } from './staged-lines.ts';

/** DuckDB read a batch otherwise than line by line. */
export class ScanError extends Error {}

/** Whether a line of the batch is at fault, and not the store. */
export function isScanError(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return (
    error instanceof ScanError || /^(Invalid Input|Conversion|Out of Range) Error/.test(message)
  );
}

/** The lines that are not JSON; if all are, those that DuckDB cannot scan even alone: halves of the batch are tried until single lines are left. */
export async function findUnreadableLines(
  connection: DuckDBConnection,
  batch: Batch,
  probe: string,
): Promise<StagedLine[]> {
  const lines: StagedLine[] = [];
  for await (const line of stagedLines(batch)) lines.push(line);
  const search = async (from: number, to: number): Promise<StagedLine[]> => {
    if (await scans(connection, lines.slice(from, to), probe)) return [];
    if (to - from === 1) return lines.slice(from, to);
    const middle = (from + to) >> 1;
    return [...(await search(from, middle)), ...(await search(middle, to))];
  };
  // Where the engine is asked, each of them takes a search.
  const faulty = lines.filter(({ line }) => faultOf(String(line)) !== null);
  return faulty.length > 0 || lines.length === 0 ? faulty : search(0, lines.length);
}

async function scans(
  connection: DuckDBConnection,
  lines: readonly StagedLine[],
  probe: string,
): Promise<boolean> {
  await writeFile(probe, lines.map(({ line }) => `${line}\n`).join(''));
  try {
    const both = await connection.runAndReadAll(
      `select
        (select count(*) from read_ndjson_objects(${quoted(probe)}, ignore_errors = true)),
        (select count(*) from read_ndjson(${quoted(probe)}, columns = {metadata: 'JSON'}, ignore_errors = true))`,
    );
    return (both.getRows()[0] ?? []).every((found) => Number(found) === lines.length);
  } catch (error) {
    if (isScanError(error)) return false;
    throw error;
  }
}
