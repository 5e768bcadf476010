import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Bench } from './bench.ts';
import { type Dataset, WEEK_MS, writeEntries } from './dataset.ts';
import { FORMATS, type LineFormat } from './format-lines.ts';
import { progress } from './progress.ts';
import { formatsTable } from './report.ts';
import type { Formats, StoredLines } from './results.ts';
import { storeOwn, storeTheirs } from './victorialogs.ts';
import { buildVictoriaLogs, whyNoVictoriaLogs } from './victorialogs-server.ts';

/** Bulk ingest of as many rows in each format, and of JSON by VictoriaLogs too, `runs` times, there and back. */
export async function measureFormats({ options, folder }: Bench): Promise<Formats> {
  const { rows, runs, seed } = options;
  const hasPeer = whyNoVictoriaLogs() === null;
  if (hasPeer) buildVictoriaLogs();
  const lines = { seed, end: Date.now(), spanMs: WEEK_MS };
  const formats: Measured[] = [];
  for (const format of FORMATS) {
    const entries = format.entries(rows, lines);
    const data = await writeEntries(folder('input'), format.source, rows, entries);
    formats.push({ format, data, own: [], theirs: [] });
  }
  const bar = progress('formats of lines', runs * formats.length);
  for (let run = 0; run < runs; run++)
    for (const { format, data, own, theirs } of run % 2 === 0 ? formats : formats.toReversed()) {
      own.push(await inNew(folder('tailpond'), (store) => storeOwn(store, data, false)));
      const fields = format.victorialogs;
      if (hasPeer && fields)
        theirs.push(
          await inNew(folder('victorialogs'), (store) => storeTheirs(store, data, false, fields)),
        );
      bar.step();
    }
  bar.end();
  const results = {
    rows,
    formats: formats.map(({ format, data, own, theirs }) => ({
      name: format.name,
      bytes: data.bytes,
      own,
      theirs,
    })),
  };
  console.error(formatsTable(results));
  return results;
}

interface Measured {
  readonly format: LineFormat;
  readonly data: Dataset;
  readonly own: StoredLines[];
  readonly theirs: StoredLines[];
}

async function inNew(
  folder: string,
  load: (folder: string) => Promise<StoredLines>,
): Promise<StoredLines> {
  // What was written before must not be written back at the expense of this one.
  execFileSync('sync');
  const stored = await load(folder);
  rmSync(folder, { recursive: true });
  return stored;
}
