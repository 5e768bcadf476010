import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Source, SUPABASE_SOURCES, type SupabaseSource } from '../../ingest/index.ts';
import { type LinesOptions, lines } from '../support/lines.ts';
import { progress } from './progress.ts';

export interface DataFile {
  readonly source: Source;
  readonly path: string;
  readonly lines: number;
  readonly bytes: number;
}

/** The lines that everything in a run is measured with, a file a source. */
export interface Dataset {
  readonly files: readonly DataFile[];
  readonly lines: number;
  readonly bytes: number;
}

export const WEEK_MS = 7 * 24 * 3_600_000;
const BLOCK_BYTES = 1 << 20;

/**
 * Writes `rows` edge lines over the last 7 days, and with `others` a tenth as many over the eight other sources.
 * The same seed gives the same lines, but for their time.
 */
export function writeDataset(
  folder: string,
  { rows, seed, others }: { rows: number; seed: number; others: boolean },
): Promise<Dataset> {
  const each = others ? Math.ceil(rows / 10 / (SUPABASE_SOURCES.length - 1)) : 0;
  return writeFiles(folder, { seed }, (source) => (source === 'edge_logs' ? rows : each));
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** Writes `rows` lines of one project over the last 30 days: six tenths are edge lines, the other sources have the rest. */
export function writeMonth(folder: string, rows: number, form: Form): Promise<Dataset> {
  const each = Math.round((rows * 0.4) / (SUPABASE_SOURCES.length - 1));
  const edge = rows - each * (SUPABASE_SOURCES.length - 1);
  return writeFiles(folder, form, (source) => (source === 'edge_logs' ? edge : each), MONTH_MS);
}

/** Writes `rows` lines of each of `sources`. */
export function writeLines(
  folder: string,
  sources: readonly SupabaseSource[],
  { rows, ...options }: { rows: number } & Form,
): Promise<Dataset> {
  return writeFiles(folder, options, (source) => (sources.includes(source) ? rows : 0));
}

type Form = Pick<LinesOptions, 'seed' | 'projects' | 'arrays' | 'requestIds'>;

async function writeFiles(
  folder: string,
  form: Form,
  rowsOf: (source: SupabaseSource) => number,
  spanMs = WEEK_MS,
): Promise<Dataset> {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const end = Date.now();
  const files: DataFile[] = [];
  const bar = progress(
    'lines',
    SUPABASE_SOURCES.reduce((total, source) => total + rowsOf(source), 0),
  );
  for (const source of SUPABASE_SOURCES) {
    const count = rowsOf(source);
    if (count === 0) continue;
    const path = join(folder, `${source}.ndjson`);
    const texts = lines(source, count, { ...form, end, spanMs });
    files.push({ source, path, lines: count, bytes: await write(path, texts, bar.step) });
  }
  bar.end();
  const sum = (of: (file: DataFile) => number) =>
    files.reduce((total, file) => total + of(file), 0);
  return { files, lines: sum((file) => file.lines), bytes: sum((file) => file.bytes) };
}

/** Writes a file of a source that has `count` entries, which may have several lines. */
export async function writeEntries(
  folder: string,
  source: Source,
  count: number,
  entries: Iterable<string>,
): Promise<Dataset> {
  const path = join(folder, `${source}.ndjson`);
  const bar = progress('lines', count);
  const bytes = await write(path, entries, bar.step);
  bar.end();
  return { files: [{ source, path, lines: count, bytes }], lines: count, bytes };
}

async function write(
  path: string,
  texts: Iterable<string>,
  step: (count: number) => void,
): Promise<number> {
  const out = createWriteStream(path, { mode: 0o644 });
  let [block, count] = ['', 0];
  const flush = async () => {
    if (!out.write(block)) await once(out, 'drain');
    step(count);
    [block, count] = ['', 0];
  };
  for (const text of texts) {
    block += `${text}\n`;
    count++;
    if (block.length >= BLOCK_BYTES) await flush();
  }
  await flush();
  out.end();
  await once(out, 'finish');
  return out.bytesWritten;
}
