import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projects } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { type Dataset, writeLines } from './dataset.ts';
import { bytesBelow } from './disk.ts';
import { withService } from './http.ts';
import { FILLED_MS } from './peer.ts';
import { mediansInTurn } from './peer-job.ts';
import { progress } from './progress.ts';
import { victoriaTable } from './report.ts';
import type { StoredLines, VictoriaLogsResults, VictoriaTable } from './results.ts';
import { drop, type Service } from './service.ts';
import { short } from './targets.ts';
import { OF_MANY, OF_ONE, type VictoriaQuestion } from './victorialogs-questions.ts';
import {
  buildVictoriaLogs,
  SUPABASE_FIELDS,
  VERSION,
  type VictoriaLogs,
  whyNoVictoriaLogs,
  withVictoriaLogs,
} from './victorialogs-server.ts';

/** Each question is timed so often. */
const TIMES = 15;
/** And asked so before, unless its answers are cached. */
const WARMUP = { times: 3, ms: 2000 };
const MANY = 50;
/** Of 50 projects, one that has 2 % of the lines. */
const ASKED = 10;
/** On a busy machine a question may take longer than the preset allows. */
const PATIENT = { TAILPOND_QUERY_TIMEOUT: '10m' };
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** The lines were written so long ago at most. */
const RUN_MS = 12 * HOUR_MS;

/** The same lines and questions next to VictoriaLogs, over HTTP; null where it cannot be built. */
export async function measureVictoriaLogs(bench: Bench): Promise<VictoriaLogsResults | null> {
  if (whyNoVictoriaLogs() !== null) return null;
  buildVictoriaLogs();
  const tables: VictoriaTable[] = [];
  for (const [names, asked, questions] of [
    [projects(MANY), ASKED, OF_MANY],
    [projects(1), 0, OF_ONE],
  ] as const) {
    const table = await measureTable(bench, names, names[asked] as string, questions);
    tables.push(table);
    console.error(victoriaTable(table));
  }
  return { version: VERSION, tables };
}

async function measureTable(
  { options, folder }: Bench,
  names: readonly string[],
  project: string,
  questions: readonly VictoriaQuestion[],
): Promise<VictoriaTable> {
  const { rows, runs, seed } = options;
  const input = folder('input');
  const data = await writeLines(input, ['edge_logs'], {
    rows,
    seed,
    projects: names,
    requestIds: true,
  });
  const bar = progress(
    `beside VictoriaLogs, ${names.length} projects`,
    2 * runs + questions.length,
  );
  const stored: { own: StoredLines[]; theirs: StoredLines[] } = { own: [], theirs: [] };
  let stores = { own: '', theirs: '' };
  for (let run = 0; run < runs; run++) {
    for (const path of Object.values(stores)) if (path) rmSync(path, { recursive: true });
    stores = { own: folder('tailpond'), theirs: folder('victorialogs') };
    const load = {
      own: () => storeOwn(stores.own, data, run === runs - 1),
      theirs: () => storeTheirs(stores.theirs, data, run === runs - 1),
    };
    for (const side of run % 2 === 0
      ? (['own', 'theirs'] as const)
      : (['theirs', 'own'] as const)) {
      // What was written before must not be written back at the expense of this one.
      execFileSync('sync');
      stored[side].push(await load[side]());
      bar.step();
    }
  }
  execFileSync('sync');
  const asked = await withService(
    stores.own,
    (service) =>
      withVictoriaLogs(stores.theirs, (server) =>
        askBoth(service, server, { project, questions, onAnswer: bar.step }),
      ),
    PATIENT,
  );
  bar.end();
  for (const path of [input, ...Object.values(stores)]) rmSync(path, { recursive: true });
  return {
    rows,
    bytes: data.bytes,
    projects: names.length,
    runs,
    times: TIMES,
    ...stored,
    questions: asked,
  };
}

/** `isAsked`: it also waits until the rows are in the form in which they stay. */
export async function storeOwn(
  folder: string,
  data: Dataset,
  isAsked: boolean,
): Promise<StoredLines> {
  const measured = await withService(folder, async (service) => {
    const begin = { ms: performance.now(), seconds: service.processorSeconds() };
    drop(folder, data);
    await service.until(data.lines);
    const ms = performance.now() - begin.ms;
    const seconds = service.processorSeconds() - begin.seconds;
    const peakMb = service.memoryMb('VmHWM');
    if (!isAsked) return { ms, seconds, peakMb, settledSeconds: null };
    await service.untilSettled(data.lines);
    const settledSeconds = service.processorSeconds() - begin.seconds;
    await delay(FILLED_MS);
    return { ms, seconds, peakMb, settledSeconds };
  });
  return { ...measured, diskBytes: bytesBelow(join(folder, 'store'), 'tailpond.duckdb') };
}

export async function storeTheirs(
  folder: string,
  data: Dataset,
  isAsked: boolean,
  fields = SUPABASE_FIELDS,
): Promise<StoredLines> {
  const measured = await withVictoriaLogs(folder, async (server) => {
    const begin = { ms: performance.now(), seconds: server.processorSeconds() };
    for (const { path, lines } of data.files) await server.load(path, lines, fields);
    const ms = performance.now() - begin.ms;
    const seconds = server.processorSeconds() - begin.seconds;
    const peakMb = server.memoryMb('VmHWM');
    if (!isAsked) return { ms, seconds, peakMb, settledSeconds: null };
    await server.untilQuiet();
    return { ms, seconds, peakMb, settledSeconds: server.processorSeconds() - begin.seconds };
  });
  return { ...measured, diskBytes: bytesBelow(folder) };
}

interface Asking {
  readonly project: string;
  readonly questions: readonly VictoriaQuestion[];
  readonly onAnswer: () => void;
}

/** Asks both each question, in turn. Throws where their answers differ. */
async function askBoth(
  service: Service,
  server: VictoriaLogs,
  { project, questions, onAnswer }: Asking,
): Promise<VictoriaTable['questions']> {
  const [from, to] = [Date.now() - WEEK_MS - RUN_MS, Date.now()].map((ms) =>
    new Date(ms).toISOString(),
  ) as [string, string];
  const about = { project, from, to, ...(await wordsOf(service, project)) };
  const asked: VictoriaTable['questions'][number][] = [];
  for (const { name, isCached, path, victorialogs, own, theirs } of questions) {
    const [found = [], expected = []] = [
      own(await service.get(path(about))),
      theirs(await server.get(victorialogs(about))),
    ].map((rows) => rows.map((row) => row.join(' ')));
    const longer = found.length > expected.length ? found : expected;
    const differs = longer.findIndex((_, n) => found[n] !== expected[n]);
    if (differs !== -1)
      throw new Error(
        `${name}: row ${differs} of ${longer.length} is ${found[differs]} in tailpond, ${expected[differs]} in VictoriaLogs`,
      );
    const [ms = 0, theirMs = 0] = await mediansInTurn(
      [() => service.get(path(about)), () => server.get(victorialogs(about))],
      // With the one above that makes no more than are answered without a cache.
      { times: isCached ? 14 : TIMES, warm: isCached ? { times: 1, ms: 0 } : WARMUP },
    );
    asked.push({ name, ms, theirMs });
    // A run takes some minutes: what is known is told.
    console.error(`${name}: VictoriaLogs ${short(theirMs)} ms, tailpond ${short(ms)} ms`);
    onAnswer();
  }
  return asked;
}

/** Words of the newest line of a project three days ago: its request id, and a part of the id that a proxy gave to it. */
async function wordsOf(service: Service, project: string): Promise<{ word: string; part: string }> {
  const end = new Date(Date.now() - WEEK_MS / 2).toISOString();
  const body = await service.ask(`logs.all?project=${project}&iso_timestamp_end=${end}`);
  const { result } = JSON.parse(body) as { result: { event_message: string }[] };
  const [, , , ray, , , word] = result[0]?.event_message.split(' | ') ?? [];
  if (!ray || !word) throw new Error(`no line of ${project}`);
  return { word, part: ray.slice(3, 13) };
}
