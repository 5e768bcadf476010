import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseServer, withClickHouse } from '../clickhouse/server.ts';
import { makeTables } from '../clickhouse/tables.ts';
import type { Bench } from './bench.ts';
import { type Dataset, writeLines } from './dataset.ts';
import { writeAndSee } from './fresh.ts';
import { processorSeconds } from './memory.ts';
import { progress } from './progress.ts';
import type { Forwarding } from './results.ts';
import { drop, type Service, startService } from './service.ts';
import { latency } from './statistics.ts';

const LOOK_MS = 250;
/** A node that forwards nothing for so long hangs. */
const STALL_MS = 120_000;

/** What ClickHouse does by itself with the lines of a file: the same table, one block after the other. */
const INSERT = `insert into edge_logs
  select
    id,
    parseDateTime64BestEffort(timestamp, 6, 'UTC'),
    project,
    event_message,
    metadata,
    now64(6, 'UTC'),
    simpleJSONExtractString(request, 'path'),
    simpleJSONExtractString(request, 'url'),
    simpleJSONExtractString(request, 'host'),
    'bench',
    0
  from (
    select *, simpleJSONExtractRaw(metadata, 'request') as request
    from input('id String, timestamp String, project String, event_message String, metadata String')
  )
  format JSONEachRow`;

/** Forwarding of the lines of one node, in turn with ClickHouse's own INSERT of the same file. */
export async function measureForwarding(bench: Bench): Promise<Forwarding> {
  const { rows, runs, seed } = bench.options;
  const data = await writeLines(bench.folder('cluster'), ['edge_logs'], { rows, seed });
  const alone: Forwarding['alone'][number][] = [];
  const forwarded: Forwarding['forwarded'][number][] = [];
  const fresh: Forwarding['fresh'][number][] = [];
  const bar = progress('forwarding to ClickHouse', 3 * runs);
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
      });
    });
    bar.step();
  }
  bar.end();
  return { lines: data.lines, alone, forwarded, fresh };
}

async function inServer(bench: Bench, action: (server: ClickHouseServer) => Promise<void>) {
  const folder = bench.folder('clickhouse');
  await withClickHouse(folder, async (server) => {
    await makeTables(server);
    await action(server);
  });
  rmSync(folder, { recursive: true });
}

async function inNode(
  folder: string,
  { url }: ClickHouseServer,
  action: (service: Service) => Promise<void>,
) {
  const service = await startService(folder, { TAILPOND_CLICKHOUSE_URL: url });
  try {
    await action(service);
  } finally {
    await service.stop();
  }
}

async function insertAlone(server: ClickHouseServer, { files }: Dataset) {
  const [used, begin] = [processorSeconds(server.pid()), performance.now()];
  for (const { path } of files)
    await server.client.exec({
      query: INSERT,
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
