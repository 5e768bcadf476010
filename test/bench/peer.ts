import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projects } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { withClickHouseTable } from './clickhouse-table.ts';
import { type Dataset, writeLines } from './dataset.ts';
import { bytesBelow } from './disk.ts';
import { withService } from './http.ts';
import { runScript } from './job.ts';
import { missing } from './load.ts';
import { askInTurn } from './peer-job.ts';
import { type Asked, PEER_QUESTIONS, type PeerQuestion } from './peer-questions.ts';
import { progress } from './progress.ts';
import { peerTable } from './report.ts';
import type { Peer, PeerTable } from './results.ts';
import { drop, type Service } from './service.ts';

/** Each question is asked so often. */
const TIMES = 15;
/** And so before, unless its answers are cached: what runs for weeks has its code compiled, which takes Node.js some hundred requests. */
const WARMUP = { times: 10, ms: 2000 };
/** PostgreSQL reads the whole table for most questions: it is asked less often. */
const POSTGRES_TIMES = 1;
const WARM = PEER_QUESTIONS.map(({ isCached }) => (isCached ? { times: 1, ms: 0 } : WARMUP));
/** What fills no run gets the columns of its members once nothing has come in for half of this time. */
export const FILLED_MS = 60_000;
const WEEK_MS = 7 * 24 * 3_600_000;
/** Of 50 projects, those with 22, 4 and 1 % of the lines; the time of a question is their mean. */
const ASKED = [0, 4, 19];

/** Questions of callers and searches, of settled rows over HTTP, next to a ClickHouse server with the same lines. */
export async function measurePeer(bench: Bench): Promise<Peer> {
  const { rows } = bench.options;
  const tables: PeerTable[] = [];
  for (const [names, count] of [
    [projects(50), 2 * rows],
    [projects(1), rows],
  ] as const) {
    for (const arrays of [false, true]) {
      const options = { rows: count, seed: bench.options.seed, projects: names, arrays };
      const folder = bench.folder('peer');
      const data = await writeLines(join(folder, 'input'), ['edge_logs'], options);
      const bar = progress(
        `questions of ${names.length} projects${arrays ? ', in arrays' : ''}`,
        2,
      );
      const asked = names.length === 1 ? names : ASKED.map((n) => names[n] as string);
      const measured = await measureTable(join(folder, 'tailpond'), data, asked, arrays);
      const table = { rows: count, projects: names.length, arrays, ...measured };
      tables.push(table);
      rmSync(folder, { recursive: true });
      bar.end();
      // A run takes half an hour: what is known is told.
      console.error(peerTable(table));
    }
  }
  return { tables };
}

type Measured = Omit<PeerTable, 'rows' | 'projects' | 'arrays'>;

async function measureTable(
  folder: string,
  data: Dataset,
  names: readonly string[],
  arrays: boolean,
): Promise<Measured> {
  const [to, from] = [Date.now(), Date.now() - WEEK_MS].map((ms) => new Date(ms).toISOString());
  let [ingestPeakMb, settledPeakMb, settleMs] = [0, 0, 0];
  await withService(folder, async (service) => {
    drop(folder, data);
    await service.until(data.lines);
    ingestPeakMb = service.memoryMb('VmHWM');
    const begin = performance.now();
    await service.untilSettled(data.lines);
    settleMs = performance.now() - begin;
    await delay(FILLED_MS);
    settledPeakMb = service.memoryMb('VmHWM');
  });
  execFileSync('sync');
  const askIn = (service: Service, query: Query | null) =>
    askService(service, query, { names, from: from as string, to: to as string, arrays });
  const { worlds, own, clickhouse } =
    missing('clickhouse') === null
      ? await withClickHouseTable(join(folder, 'clickhouse'), data.files, (query) =>
          withService(folder, (service) => askIn(service, query)),
        )
      : await withService(folder, (service) => askIn(service, null));
  const diskBytes = bytesBelow(join(folder, 'store'), 'tailpond.duckdb');
  const postgres: Answers =
    missing('postgres') === null
      ? await runScript('postgres-questions.ts', {
          folder,
          files: data.files,
          times: POSTGRES_TIMES,
          warm: [],
          worlds: worlds.map((world) => PEER_QUESTIONS.map((question) => question.postgres(world))),
        })
      : [];
  const mean = (answers: Answers, n: number) => {
    const times = answers.flatMap((each) => each[n]?.ms ?? []);
    return times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0) / times.length;
  };
  const rowsOf = (answers: Answers, n: number) => answers.map((each) => each[n]?.rows).join(' ');
  return {
    ingestPeakMb,
    settledPeakMb,
    settleMs,
    diskShare: diskBytes / data.bytes,
    questions: PEER_QUESTIONS.map(({ name, kind }, n) => ({
      name,
      kind,
      ms: mean(own, n) ?? Number.NaN,
      clickhouseMs: mean(clickhouse, n),
      postgresMs: mean(postgres, n),
      agree: [clickhouse, postgres].every(
        (peer) => peer.length === 0 || rowsOf(own, n) === rowsOf(peer, n),
      ),
    })),
  };
}

/** The median of each project and question in ms, and how many rows there were. */
export type Answers = readonly (readonly { readonly ms: number; readonly rows: number }[])[];

type Query = (sql: string) => Promise<string>;

/** Asks a service and ClickHouse, if there is one, the same of each of the projects. */
async function askService(
  service: Service,
  query: Query | null,
  { names, ...world }: Omit<Asked, 'project' | 'word'> & { readonly names: readonly string[] },
): Promise<{ worlds: Asked[]; own: Answers; clickhouse: Answers }> {
  const worlds = await Promise.all(
    names.map(async (project) => ({ project, word: await wordOf(service, project), ...world })),
  );
  const asks = (ask: (question: PeerQuestion, world: Asked) => Promise<string>) =>
    worlds.map((world) => PEER_QUESTIONS.map((question) => () => ask(question, world)));
  const own = {
    worlds: asks(({ path }, world) => service.get(path(world))),
    rowsOf: (body: string) => (JSON.parse(body) as { result: unknown[] }).result.length,
  };
  const peer = query && {
    worlds: asks(({ clickhouse }, world) => query(clickhouse(world))),
    rowsOf: (body: string) => body.split('\n').length - 1,
  };
  const [ownAnswers = [], clickhouse = []] = await askInTurn(peer ? [own, peer] : [own], {
    times: TIMES,
    warm: WARM,
  });
  return { worlds, own: ownAnswers, clickhouse };
}

/** The id that a proxy gave to a request of three days ago: the message and the metadata of its line have it. */
async function wordOf(service: Service, project: string): Promise<string> {
  const end = new Date(Date.now() - WEEK_MS / 2).toISOString();
  const body = await service.ask(`logs.all?project=${project}&iso_timestamp_end=${end}`);
  const { result } = JSON.parse(body) as { result: { event_message: string }[] };
  const word = result[0]?.event_message.split(' | ')[3];
  if (!word) throw new Error(`no line of ${project}`);
  return word;
}
