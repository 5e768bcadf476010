import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../server/config/package-root.ts';
import { drawCharts } from './charts.ts';
import { report } from './report.ts';
import type { Results } from './results.ts';

const PAGE = join(ROOT, 'docs/benchmarks.md');
const IMAGES = join(ROOT, 'docs/img');
/** What stands between these lines is written anew; the rest of the page is written by hand. */
const [BEGIN, END] = ['<!-- figures: written by npm run bench -->', '<!-- end of figures -->'];

/** Writes the figures into docs/benchmarks.md and the charts into docs/img. */
export async function writePage(results: Results): Promise<void> {
  const charts = await drawCharts(results);
  mkdirSync(IMAGES, { recursive: true });
  for (const { file, svg } of charts) writeFileSync(join(IMAGES, file), svg);
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`Expected ${PAGE} to have the lines ${BEGIN} and ${END}`);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${report(results, charts)}\n\n${END}${after}`);
  console.error(`written: ${PAGE}`);
}
