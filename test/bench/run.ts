// `npm run bench`: what tailpond takes for bulk ingest and questions, as users run it, next to the engine that it stands
// on and to its peers, with the same lines in the same run. `npm run bench -- --help` lists the options.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../../server/config/package-root.ts';
import { type Bench, folders, withScratch } from './bench.ts';
import { measureCached } from './cached.ts';
import { writeDataset } from './dataset.ts';
import { measureEngine } from './engine.ts';
import { measureFormats } from './formats.ts';
import { measureForwarding } from './forwarding.ts';
import { measureFresh } from './fresh.ts';
import { measureHttp } from './http.ts';
import { measureIngest } from './ingest.ts';
import { missing } from './load.ts';
import { describeMachine } from './machine.ts';
import { readOptions, type Section } from './options.ts';
import { writePage } from './page.ts';
import { measurePeer } from './peer.ts';
import { measureRestart } from './restart.ts';
import { ENGINES, keepResults, type Results, readResults } from './results.ts';
import { measureScale } from './scale.ts';
import { measureSearch } from './search.ts';
import { measureSql } from './sql.ts';
import { measureStudio } from './studio.ts';
import { targetsTable } from './targets.ts';
import { measureVictoriaLogs } from './victorialogs.ts';
import { whyNoVictoriaLogs } from './victorialogs-server.ts';

const MEASURE: Record<Section, (bench: Bench) => Promise<unknown>> = {
  ingest: measureIngest,
  formats: measureFormats,
  engine: measureEngine,
  http: measureHttp,
  sql: measureSql,
  search: measureSearch,
  peer: measurePeer,
  victorialogs: measureVictoriaLogs,
  studio: measureStudio,
  cached: measureCached,
  fresh: measureFresh,
  restart: measureRestart,
  scale: measureScale,
  cluster: measureForwarding,
};

const options = readOptions();
let results: Results = { measured: {}, ...readResults(), machine: describeMachine() };

if (options.sections.length > 0) {
  execFileSync(process.execPath, ['build.cjs'], { cwd: ROOT, stdio: 'inherit' });
  for (const reason of [...ENGINES.map(missing), whyNoVictoriaLogs()])
    if (reason) console.error(`left out: ${reason}`);
  await withScratch(async (scratch) => {
    const { rows, runs, seed, sections } = options;
    const needsData = sections.some(
      (section) =>
        ![
          'formats',
          'scale',
          'fresh',
          'sql',
          'search',
          'peer',
          'victorialogs',
          'studio',
          'cluster',
        ].includes(section),
    );
    const none = { files: [], lines: 0, bytes: 0 };
    const few = { rows: Math.ceil(rows / 100), seed: seed + 100, others: false };
    const bench: Bench = {
      options,
      data: needsData
        ? await writeDataset(join(scratch, 'input'), { rows, seed, others: true })
        : none,
      few: needsData ? await writeDataset(join(scratch, 'few'), few) : none,
      folder: folders(scratch),
      stores: new Map(),
    };
    for (const section of sections) {
      // A section that fails is named and left out, so that it does not cost the others, which may have taken an hour.
      const measured = await MEASURE[section](bench).catch((error: unknown) => {
        console.error(`${section} failed:`, error);
        process.exitCode = 1;
      });
      if (!measured) continue;
      const date = new Date().toISOString();
      results = {
        ...results,
        [section]: measured,
        measured: { ...results.measured, [section]: { date, rows, runs } },
      };
      keepResults(results);
    }
  });
  console.error(`results: ${keepResults(results)}`);
}
if (options.write) await writePage(results);
console.log(targetsTable(results));
