import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { READER, readerConfig } from '../clickhouse/reader.ts';
import { type ClickHouseServer, withClickHouse, withTwoShards } from '../clickhouse/server.ts';
import { makeShardTables, makeTables } from '../clickhouse/tables.ts';
import { nthProject } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { type Dataset, writeLines } from './dataset.ts';
import { write, writeAndSee } from './fresh.ts';
import { inTurn, question, withService } from './http.ts';
import { processorSeconds } from './memory.ts';
import { progress } from './progress.ts';
import { QUESTIONS } from './questions.ts';
import type { Forwarding } from './results.ts';
import { drop, type Service, startService } from './service.ts';
import { type Latency, latency } from './statistics.ts';

const LOOK_MS = 250;
/** How often each question is asked, … */
const TIMES = 40;
/** … or as often as it has an answer in so long, and so often at least. */
const LONGEST_MS = 20_000;
const LEAST_TIMES = 5;
/** A node that forwards nothing for so long hangs. */
const STALL_MS = 120_000;

/**
 * What ClickHouse does by itself with the lines of a file: the same table with the same columns, one block after the other. `members` are
 * the columns of members, `metadata.request.method`.
 */
function insertOf(members: readonly string[]): string {
  const names = members.map(quotedName).join(', ');
  const paths = members.map((member) => member.split('.'));
  const records = new Map(
    paths.flatMap((path) =>
      path.slice(2).map((_, i) => [path.slice(0, i + 2).join('.'), path.slice(0, i + 2)]),
    ),
  );
  const found = (path: readonly string[]) =>
    `simpleJSONExtractRaw(${quotedName(path.slice(0, -1).join('.'))}, '${path.at(-1)}')`;
  return `insert into edge_logs
      (id, timestamp, project, event_message, metadata, ingested_at, path, url, host, status, severity, ${names}, _node, _seq)
    with ${[...records].map(([name, path]) => `${found(path)} as ${quotedName(name)}`).join(', ')},
      toInt16OrNull(simpleJSONExtractRaw(\`metadata.response\`, 'status_code')) as found_status
    select
      id,
      parseDateTime64BestEffort(timestamp, 6, 'UTC'),
      project,
      event_message,
      metadata,
      now64(6, 'UTC'),
      simpleJSONExtractString(\`metadata.request\`, 'path'),
      simpleJSONExtractString(\`metadata.request\`, 'url'),
      simpleJSONExtractString(\`metadata.request\`, 'host'),
      found_status,
      multiIf(found_status >= 500, 'error', found_status >= 400, 'warn', found_status >= 100, 'info', null),
      ${paths.map((path) => `nullIf(${found(path)}, '')`).join(', ')},
      'bench',
      0
    from input('id String, timestamp String, project String, event_message String, metadata String')
    format JSONEachRow`;
}

function quotedName(name: string): string {
  return `\`${name}\``;
}

/** What log pages and people ask in ClickHouse's dialect. */
const IN_DIALECT: readonly (readonly [name: string, sql: string])[] = [
  [
    'newest 100 of 5xx',
    `select id, timestamp, event_message, log_attributes['request.path'] as path from logs
      where source = 'edge_logs' and toInt32OrZero(log_attributes['response.status_code']) >= 500 order by timestamp desc limit 100`,
  ],
  [
    'count per hour',
    `select toStartOfHour(timestamp) as hour, countIf(toInt32OrZero(log_attributes['response.status_code']) >= 500) as bad, count() as n
      from logs where source = 'edge_logs' group by hour order by hour`,
  ],
  [
    'p95 by path',
    `select log_attributes['request.path'] as path, quantile(0.95)(toFloat64OrZero(log_attributes['response.origin_time'])) as p95, count() as n
      from logs where source = 'edge_logs' group by path order by n desc, path limit 10`,
  ],
  [
    'addresses that asked',
    "select uniqExact(log_attributes['request.headers.cf_connecting_ip']) as addresses from logs where source = 'edge_logs'",
  ],
];

/** Forwarding of the lines of one node, in turn with ClickHouse's own INSERT of the same file. */
export async function measureForwarding(bench: Bench): Promise<Forwarding> {
  const { rows, runs, seed } = bench.options;
  const data = await writeLines(bench.folder('cluster'), ['edge_logs'], { rows, seed });
  const alone: Forwarding['alone'][number][] = [];
  const forwarded: Forwarding['forwarded'][number][] = [];
  const two: Forwarding['two'][number][] = [];
  const fresh: Forwarding['fresh'][number][] = [];
  const cores: Forwarding['cores'][number][] = [];
  const bar = progress('forwarding to ClickHouse', 4 * runs + 1);
  for (let run = 0; run < runs; run++) {
    await inServer(bench, async (server) => {
      alone.push(await insertAlone(server, data));
    });
    bar.step();
    await inServer(bench, async (server) => {
      forwarded.push(await forward(bench.folder('node'), server, data));
    });
    bar.step();
    await inServer(bench, async (server) => {
      const folder = bench.folder('node');
      await inNode(folder, server, async (service) => {
        fresh.push(latency(await writeAndSee(service, folder)));
        const [node, other] = [service.processorSeconds(), processorSeconds(server.pid())];
        const begin = performance.now();
        await write(folder);
        const seconds = (performance.now() - begin) / 1000;
        cores.push({
          node: (service.processorSeconds() - node) / seconds,
          server: (processorSeconds(server.pid()) - other) / seconds,
        });
      });
    });
    bar.step();
    two.push(await forwardTwo(bench, data));
    bar.step();
  }
  const answers = await compareAnswers(bench, data);
  bar.step();
  bar.end();
  return { lines: data.lines, alone, forwarded, two, fresh, cores, ...answers };
}

/** Two nodes with the same lines, each of which has one of two servers. */
async function forwardTwo(bench: Bench, data: Dataset): Promise<Forwarding['two'][number]> {
  const folder = bench.folder('clickhouse');
  const nodes = [0, 1].map((n) => join(bench.folder('node'), String(n)));
  let measured: Forwarding['two'][number] | null = null;
  await withTwoShards(folder, async (servers) => {
    for (const server of servers) await makeShardTables(server);
    const services = await Promise.all(
      servers.map(({ url }, n) =>
        startService(nodes[n] as string, {
          TAILPOND_CLICKHOUSE_URL: url,
          TAILPOND_CLICKHOUSE_CLUSTER: 'pond',
        }),
      ),
    );
    const usedBy = (each: () => number[]) => each().reduce((sum, seconds) => sum + seconds, 0);
    const ofNodes = () => services.map((service) => service.processorSeconds());
    const ofServers = () => servers.map((server) => processorSeconds(server.pid()));
    try {
      const [node, other] = [usedBy(ofNodes), usedBy(ofServers)];
      const begin = performance.now();
      for (const node of nodes) drop(node, data);
      await Promise.all(services.map((service) => allForwarded(service, data.lines)));
      measured = {
        ms: performance.now() - begin,
        nodeSeconds: usedBy(ofNodes) - node,
        serverSeconds: usedBy(ofServers) - other,
      };
    } finally {
      for (const service of services) await service.stop();
    }
  });
  for (const each of [folder, ...nodes]) rmSync(each, { recursive: true });
  if (!measured) throw new Error('BUG: nothing was measured');
  return measured;
}

/**
 * The endpoints and SQL of callers, one question after the other, where the lines were forwarded and where they stay; and SQL in ClickHouse's
 * dialect, where ClickHouse is asked itself and where rows are fetched for it.
 */
async function compareAnswers(
  bench: Bench,
  data: Dataset,
): Promise<Pick<Forwarding, 'answers' | 'dialect'>> {
  const ofCallers = QUESTIONS.filter(({ source }) => source === 'edge_logs');
  const questions = [
    { name: 'logs.all', path: (n: number) => question('logs.all', n) },
    { name: 'usage.api-counts', path: (n: number) => question('daily', n) },
    ...ofCallers.map(({ name, own }) => {
      const search = new URLSearchParams({ project: nthProject(0), sql: own });
      return { name: `SQL of callers, ${name}`, path: () => `logs.all?${search}` };
    }),
  ];
  const ask = (service: Service) => inTurn(questions, ({ path }) => timed(service, path));
  let clickhouse: (Latency | null)[] = [];
  let store: (Latency | null)[] = [];
  let fetched: (Latency | null)[] = [];
  let asked: (Latency | null)[] = [];
  const [folder, users] = [bench.folder('node'), bench.folder('users')];
  await inServer(
    bench,
    async (server) => {
      await inNode(folder, server, async (service) => {
        drop(folder, data);
        await allForwarded(service, data.lines);
        clickhouse = await ask(service);
        fetched = await askInDialect(service);
      });
      await inNode(
        folder,
        server,
        async (service) => {
          asked = await askInDialect(service);
        },
        { TAILPOND_CLICKHOUSE_READER: READER },
      );
    },
    readerConfig(users),
  );
  for (const each of [folder, users]) rmSync(each, { recursive: true });
  await withService(folder, async (service) => {
    drop(folder, data);
    await service.until(data.lines);
    // Settling and the questions share the memory.
    await service.untilSettled(data.lines);
    store = await ask(service);
  });
  rmSync(folder, { recursive: true });
  const answers = questions.map(({ name }, n) => ({
    name,
    clickhouse: clickhouse[n] ?? null,
    store: store[n] ?? null,
  }));
  const dialect = IN_DIALECT.map(([name], n) => ({
    name,
    asked: asked[n] ?? null,
    fetched: fetched[n] ?? null,
  }));
  return { answers, dialect };
}

function askInDialect(service: Service): Promise<(Latency | null)[]> {
  return inTurn(IN_DIALECT, ([, sql]) => {
    const path = `logs.all.otel?${new URLSearchParams({ project: nthProject(0), sql })}`;
    return timed(service, () => path);
  });
}

/** Null for a question that is refused: of more rows than are fetched. */
async function timed(service: Service, path: (n: number) => string): Promise<Latency | null> {
  const isRefused = await service.ask(path(TIMES)).then(
    () => false,
    (error: Error) => {
      if (!error.message.includes('QUERY_TOO_LARGE')) throw error;
      return true;
    },
  );
  if (isRefused) return null;
  const ms: number[] = [];
  const begin = performance.now();
  for (let n = 0; n < TIMES; n++) {
    if (n >= LEAST_TIMES && performance.now() - begin > LONGEST_MS) break;
    ms.push(await service.time(path(n)));
  }
  return latency(ms);
}

async function inServer(
  bench: Bench,
  action: (server: ClickHouseServer) => Promise<void>,
  config = '',
) {
  const folder = bench.folder('clickhouse');
  await withClickHouse(
    folder,
    async (server) => {
      await makeTables(server);
      await action(server);
    },
    { config },
  );
  rmSync(folder, { recursive: true });
}

async function inNode(
  folder: string,
  { url }: ClickHouseServer,
  action: (service: Service) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
) {
  const service = await startService(folder, { TAILPOND_CLICKHOUSE_URL: url, ...settings });
  try {
    await action(service);
  } finally {
    await service.stop();
  }
}

async function insertAlone(server: ClickHouseServer, { files }: Dataset) {
  const members = await server.client.query({
    query: `select name from system.columns
      where database = currentDatabase() and table = 'edge_logs' and name like 'metadata.%' order by position`,
    format: 'JSONEachRow',
  });
  const query = insertOf((await members.json<{ name: string }>()).map(({ name }) => name));
  const [used, begin] = [processorSeconds(server.pid()), performance.now()];
  for (const { path } of files)
    await server.client.exec({
      query,
      values: createReadStream(path),
      clickhouse_settings: { input_format_json_read_objects_as_strings: 1, async_insert: 0 },
    });
  return {
    ms: performance.now() - begin,
    processorSeconds: processorSeconds(server.pid()) - used,
  };
}

async function forward(folder: string, server: ClickHouseServer, data: Dataset) {
  let measured: Forwarding['forwarded'][number] | null = null;
  await inNode(folder, server, async (service) => {
    const [node, other] = [service.processorSeconds(), processorSeconds(server.pid())];
    const begin = performance.now();
    drop(folder, data);
    await allForwarded(service, data.lines);
    measured = {
      ms: performance.now() - begin,
      nodeSeconds: service.processorSeconds() - node,
      serverSeconds: processorSeconds(server.pid()) - other,
      peakMb: service.memoryMb('VmHWM'),
    };
  });
  rmSync(join(folder), { recursive: true });
  if (!measured) throw new Error('BUG: nothing was measured');
  return measured;
}

async function allForwarded(service: Service, lines: number): Promise<void> {
  let [seen, seenAt] = [-1, performance.now()];
  for (;;) {
    const { result } = JSON.parse(await service.get('/api/ledger')) as {
      result: { forwarded?: number }[];
    };
    const now = result.reduce((sum, entry) => sum + Number(entry.forwarded ?? 0), 0);
    if (now >= lines) return;
    if (now > seen) [seen, seenAt] = [now, performance.now()];
    if (performance.now() - seenAt > STALL_MS)
      throw new Error(`forwarding stopped at ${now} of ${lines} rows`);
    await delay(LOOK_MS);
  }
}
