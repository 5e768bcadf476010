import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Batch } from '../../../ingest/index.ts';
import { originOf } from '../../../ingest/index.ts';

/** A line of a batch's staging file that is not blank. */
export interface StagedLine {
  /** Counted from 1 over the lines that are not blank, as DuckDB counts them. */
  readonly ordinal: number;
  /** Where it stands in the staging file. */
  readonly staged: number;
  readonly file: string;
  readonly offset: number;
  /** Its bytes, without the blanks around it. */
  readonly line: Buffer;
}

/** Reads a batch's lines again, to find the one that DuckDB knows by its ordinal. */
export async function* stagedLines(batch: Batch): AsyncGenerator<StagedLine> {
  let ordinal = 0;
  let staged = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(batch.staging)) {
    const text = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let newline = text.indexOf(10); newline >= 0; newline = text.indexOf(10, start)) {
      const [first, end] = withoutBlanks(text, start, newline);
      if (first < end) {
        ordinal++;
        const at = staged + first;
        yield {
          ordinal,
          staged: at,
          ...originOf(batch, at),
          line: Buffer.from(text.subarray(first, end)),
        };
      }
      start = newline + 1;
    }
    staged += start;
    rest = text.subarray(start);
  }
}

/** Blanks lines out in the staging file, so that DuckDB passes over them. */
export async function blankLines(staging: string, lines: readonly StagedLine[]): Promise<void> {
  const handle = await open(staging, 'r+');
  try {
    for (const { staged, line } of lines)
      await handle.write(Buffer.alloc(line.length, ' '), 0, line.length, staged);
  } finally {
    await handle.close();
  }
}

function withoutBlanks(text: Buffer, start: number, newline: number): [number, number] {
  let [first, end] = [start, newline];
  while (first < end && isBlank(text[first])) first++;
  while (first < end && isBlank(text[end - 1])) end--;
  return [first, end];
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
