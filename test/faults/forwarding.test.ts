import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { type Impersonation, openImpostor } from '../clickhouse/impostor.ts';
import { type Fate, openProxy } from '../clickhouse/proxy.ts';
import { type ClickHouseServer, whyNoClickHouse, withTwoShards } from '../clickhouse/server.ts';
import { makeShardTables } from '../clickhouse/tables.ts';
import { INSTALL } from '../e2e/shippers/shippers.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  spawnService,
  TOKEN,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { faultCase, LONG, notHere } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { fakeTime, settableClock } from './fake-time.ts';
import {
  clickhouseCase,
  differences,
  dropBulky,
  edge,
  FORWARDED_MS,
  forwarded,
  forwarding,
  NOT_FORWARDED,
  WARNING,
} from './forwarded.ts';
import { drop, dropLines, startWriter } from './lines.ts';

const EX_CONFIG = 78;
/** Runs of some nodes, each so long, or until a connection was cut. */
const CHAOS_NODES = LONG ? 3 : 2;
const CHAOS_RUNS = LONG ? 8 : 1;
const CHAOS_MS = LONG ? 40_000 : 4000;
const STEP_KILLS = LONG ? 10 : 1;
/** The answer to a shipment comes late, those to other requests at once. */
const HELD: Fate = { holdReplyMs: 60_000, afterRequest: 40_000 };
const AFTER_DAYS =
  'a node in doubt comes back after days, to a server that has forgotten it: each line is there once';
const TOKEN_ALONE =
  'a server that knows a shipment’s token and has none of its rows: each line is there once';
const SHARDS =
  'nodes of a cluster send their rows to one shard each, and answer of the rows of all';

describe('rows that are forwarded to ClickHouse', () => {
  clickhouseCase(
    'F01',
    'every line is there once, of all sources and days, and none is left in the store',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      await withService(
        data,
        async (service) => {
          for (const source of allSources()) dropLines(data, expected, 300, source);
          dropLines(data, expected, LONG ? 60_000 : 10_000);
          await forwarded(service, expected);
          dropLines(data, expected, 10);
          await forwarded(service, expected);
          expect((await service.get('/readyz')).status).to.equal(200);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        forwarding(server.url),
      );
      expect(await differences(server, [expected])).to.deep.equal([]);
      expect(await parts(server)).to.deep.equal([]);
    },
  );

  clickhouseCase(
    'F02',
    'nodes and the server are killed, and connections are cut, at any moment: each line is there once',
    async (server, folder) => {
      const all: ExpectedLines[] = [];
      let [kills, cuts] = [0, 0];
      for (let run = 0; run < CHAOS_RUNS; run++) {
        const nodes = Array.from({ length: CHAOS_NODES }, (_, n) => ({
          data: join(folder, `run-${run}-node-${n}`),
          expected: newExpectedLines(`run-${run}-node-${n}`),
        }));
        const met = await runAmidKills(server, nodes, seeded(20261125 + run));
        console.log(`      ${met.kills} kills, ${met.cuts} connections cut`);
        kills += met.kills;
        cuts += met.cuts;
        all.push(...nodes.map(({ expected }) => expected));
        expect(await differences(server, all)).to.deep.equal([]);
      }
      expect(kills).to.be.above(LONG ? 100 : 0);
      expect(cuts).to.be.above(LONG ? 100 : 0);
    },
    { timeoutMs: CHAOS_RUNS * 2 * FORWARDED_MS },
  );

  clickhouseCase(
    'F03',
    'while the server is away rows wait in the store, and lines come in',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      await server.kill();
      await withService(
        data,
        async (service) => {
          dropLines(data, expected, 1000);
          await eventually(async () => expect((await edge(service)).stored).to.equal(1000));
          expect((await service.get('/readyz')).status).to.equal(200);
          expect(service.log.map(({ msg }) => msg)).to.include(NOT_FORWARDED);
          await server.start();
          await forwarded(service, expected);
          expect(service.log.map(({ msg }) => msg)).to.include('rows are forwarded again');
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        forwarding(server.url),
      );
      expect(await differences(server, [expected])).to.deep.equal([]);
    },
  );

  clickhouseCase(
    'F04',
    'a store that was restored from an old copy, and one that is the copy of another, end with 78',
    async (server, folder) => {
      const [data, old] = [join(folder, 'data'), join(folder, 'old')];
      const expected = newExpectedLines();
      const more = async (target: string) =>
        withService(
          target,
          async (service) => {
            dropLines(target, expected, 100);
            await forwarded(service, expected);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(server.url),
        );
      await more(data);
      cpSync(data, old, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      await more(data);
      const { child, log } = spawnService(old, forwarding(server.url));
      const [code] = await once(child, 'close');
      expect(log.map(({ err }) => JSON.stringify(err)).join('\n')).to.match(
        /has shipment 2 of edge_logs .* has sent 1\. It is a copy/,
      );
      expect(code).to.equal(EX_CONFIG);
      await more(data);
      expect(await differences(server, [expected])).to.deep.equal([]);
    },
  );

  clickhouseCase(
    'F05',
    'without the setting a store ends with 78 while rows of it may be there already, and else keeps its rows',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      // Questions arrive, and no file does.
      const mute = await openProxy(server.url, () => ({ cutRequestAfter: 40_000 }));
      await withService(
        data,
        async (service) => {
          dropBulky(data, expected);
          // The file is there before it is committed that it may have been sent, and cut off after that.
          await eventually(() => {
            expect(readdirSync(join(data, 'store/outbox')).join()).to.match(
              /^edge_logs-\d+\.parquet$/,
            );
            expect(mute.cuts()).to.be.above(0);
          });
          await service.end('SIGKILL');
        },
        forwarding(mute.url),
      ).finally(() => mute.close());
      const { child, errors } = spawnService(data);
      const [code] = await once(child, 'close');
      expect(errors.join('\n')).to.match(
        /^TAILPOND_CLICKHOUSE_URL: expected http:\S+ until what was sent is known to be there/m,
      );
      expect(code).to.equal(EX_CONFIG);
      const again = await openProxyTo(mute.url, server.url);
      await withService(
        data,
        async (service) => {
          await forwarded(service, expected);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        forwarding(mute.url),
      ).finally(() => again.close());
      await withService(data, async (service) => {
        dropLines(data, expected, 50);
        await eventually(async () => expect(await edge(service)).to.include({ stored: 50 }));
        expect(service.log.map(({ msg }) => msg).join('\n')).to.match(
          /^[1-9]\d* rows were forwarded to ClickHouse and are in no answer/m,
        );
        expect(await service.end('SIGTERM')).to.equal(0);
      });
    },
  );

  // Two tests share the steps, so that none takes long.
  for (const half of ['a', 'b'] as const)
    clickhouseCase(
      `F07${half}`,
      `a node is killed at each step of a shipment, ${STEP_KILLS} times: each line is there once`,
      async (server, folder) => {
        const data = join(folder, 'data');
        const expected = newExpectedLines();
        let fate: Fate = 'passes';
        const proxy = await openProxy(server.url, () => fate);
        try {
          for (const step of half === 'a' ? STEPS.slice(0, 3) : STEPS.slice(3))
            for (let kill = 0; kill < STEP_KILLS; kill++) {
              fate = step.fate ?? 'passes';
              await withService(
                data,
                async (service) => {
                  const cuts = proxy.cuts();
                  const before = await rowsOf(server);
                  const isThere = step.comes(data, {
                    isCut: () => proxy.cuts() > cuts,
                    isStored: async () => (await rowsOf(server)) > before,
                  });
                  dropBulky(data, expected);
                  await isThere;
                  await service.end('SIGKILL');
                },
                forwarding(proxy.url),
              );
            }
          fate = 'passes';
          await withService(
            data,
            async (service) => {
              await forwarded(service, expected);
              expect(await service.end('SIGTERM')).to.equal(0);
            },
            forwarding(proxy.url),
          );
        } finally {
          await proxy.close();
        }
        expect(await differences(server, [expected])).to.deep.equal([]);
      },
      { timeoutMs: 600_000 },
    );

  clickhouseCase(
    'F08',
    'an answer that comes late: the rows are there once, and leave the store then',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      let fate: Fate = HELD;
      const proxy = await openProxy(server.url, () => fate);
      try {
        await withService(
          data,
          async (service) => {
            dropBulky(data, expected);
            await eventually(async () => expect(await rowsOf(server)).to.be.above(0));
            // The rows are there, and the node does not know.
            expect(await edge(service)).to.include({ forwarded: 0 });
            await delay(LONG ? 35_000 : 1000);
            expect(await edge(service)).to.include({ forwarded: 0 });
            fate = 'passes';
            proxy.release();
            await forwarded(service, expected);
            // The answer came, and nothing was in doubt.
            const warnings = service.log.filter(({ level }) => Number(level) >= WARNING);
            expect(warnings.filter(({ source }) => source === 'edge_logs')).to.deep.equal([]);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(proxy.url),
        );
      } finally {
        await proxy.close();
      }
      expect(await differences(server, [expected])).to.deep.equal([]);
    },
    { timeoutMs: 600_000 },
  );

  clickhouseCase(
    'F14',
    'a column is dropped from a table, and a node has columns no more: each line is there with all that it has',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      const change = (query: string) =>
        server.client.command({ query: `alter table edge_logs ${query}` });
      let lines = 0;
      const dropGraded = () => {
        const id = `graded-${lines++}`;
        expected.row(id);
        const timestamp = new Date().toISOString();
        const line = { id, timestamp, event_message: '', level: 'error', metadata: { w: 'x' } };
        drop(data, 'edge_logs/a.ndjson', `${JSON.stringify(line)}\n`);
      };
      const isInTrouble = (service: Service) =>
        eventually(() => expect(service.log.map(({ msg }) => msg)).to.include(NOT_FORWARDED));
      await change('add column `metadata.w` Nullable(String)');
      const options = { env: { ...forwarding(server.url).env, TAILPOND_COLUMNS: 'edge_logs=w' } };
      await withService(
        data,
        async (service) => {
          dropGraded();
          await forwarded(service, expected);
          await change('drop column severity');
          dropGraded();
          await isInTrouble(service);
          await change('add column severity LowCardinality(Nullable(String))');
          await forwarded(service, expected);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        options,
      );
      await withService(
        data,
        async (service) => {
          dropGraded();
          await forwarded(service, expected);
          await server.kill();
          dropGraded();
          await isInTrouble(service);
          await service.end('SIGKILL');
        },
        options,
      );
      await server.start();
      await withService(
        data,
        async (service) => {
          await forwarded(service, expected);
          expect(await service.end('SIGTERM')).to.equal(0);
        },
        forwarding(server.url),
      );
      expect(await differences(server, [expected])).to.deep.equal([]);
      const lost = "countIf(severity is null and id != 'graded-0'), countIf(`metadata.w` is null)";
      const answer = await server.client.query({
        query: `select ${lost} from edge_logs`,
        format: 'JSONCompactEachRow',
      });
      expect(await answer.json()).to.deep.equal([[0, 0]]);
    },
  );

  clickhouseCase(
    'F15',
    'something else than ClickHouse answers 200: no row leaves the store until ClickHouse has it, and each line is there once',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      const impostor = await openImpostor(server.url);
      try {
        await withService(
          data,
          async (service) => {
            dropLines(data, expected, 50);
            await forwarded(service, expected);
            for (const [name, impersonation] of Object.entries(IMPOSTORS)) {
              const [before, logged] = [await edge(service), service.log.length];
              impostor.play(impersonation);
              dropLines(data, expected, 100);
              await eventually(async () => expect(await isUp(service), name).to.equal(false));
              expect(await edge(service), name).to.include({
                forwarded: before.forwarded,
                stored: 100,
              });
              expect((await service.get('/readyz')).status).to.equal(200);
              const [warning] = service.log
                .slice(logged)
                .filter(({ msg, source }) => msg === NOT_FORWARDED && source === 'edge_logs');
              expect(warning, name).to.include({ endpoint: impostor.url, waitingRows: 100 });
              expect(JSON.stringify(warning?.err), name).to.include(
                `${impostor.url} does not answer as ClickHouse does`,
              );
              impostor.play(null);
              await forwarded(service, expected);
              await eventually(async () => expect(await isUp(service), name).to.equal(true));
            }
            expect(impostor.answered()).to.be.above(0);
            expect(await differences(server, [expected])).to.deep.equal([]);
            // Its time to live has removed the rows of a shipment by the time that they are counted.
            await server.client.command({
              query: 'alter table edge_logs modify ttl toDateTime(ingested_at) + interval 0 second',
            });
            dropLines(data, expected, 10);
            await forwarded(service, expected);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(impostor.url),
        );
      } finally {
        await impostor.close();
      }
    },
  );

  clickhouseCase(
    'F16',
    'a column gets a narrower type while the node runs: no row leaves the store until the type fits, and each keeps its value',
    async (server, folder) => {
      const data = join(folder, 'data');
      const expected = newExpectedLines();
      const alter = (type: string) =>
        server.client.command({ query: `alter table edge_logs modify column status ${type}` });
      const answered = (id: string) => {
        expected.row(id);
        return `${JSON.stringify({ id, timestamp: new Date(), project: 'p', event_message: id, metadata: { response: { status_code: 200 } } })}\n`;
      };
      await withService(
        data,
        async (service) => {
          dropLines(data, expected, 50);
          await forwarded(service, expected);
          await alter('Nullable(Int8)');
          const before = await edge(service);
          drop(data, 'edge_logs/a.ndjson', answered('first') + answered('second'));
          await eventually(async () => expect(await isUp(service)).to.equal(false));
          expect(await edge(service)).to.include({ forwarded: before.forwarded, stored: 2 });
          const warning = service.log.find(({ msg }) => msg === NOT_FORWARDED);
          expect(JSON.stringify(warning?.err)).to.include(
            'edge_logs.status is Nullable(Int8), and Nullable(Int16) is expected',
          );
          await alter('Nullable(Int16)');
          await forwarded(service, expected);
          await eventually(async () => expect(await isUp(service)).to.equal(true));
          expect(await differences(server, [expected])).to.deep.equal([]);
          const answer = await server.client.query({
            query: 'select id, status from edge_logs where status is not null order by id',
            format: 'JSONEachRow',
          });
          expect(await answer.json()).to.deep.equal([
            { id: 'first', status: 200 },
            { id: 'second', status: 200 },
          ]);
        },
        { env: { ...forwarding(server.url).env, TAILPOND_TEST_WAITS: 'forwardCheck=3600s' } },
      );
    },
  );

  const library = fakeTime();
  if (library === null) notHere('F11', AFTER_DAYS, `no libfaketime; ${INSTALL}`);
  else
    clickhouseCase(
      'F11',
      AFTER_DAYS,
      async (server, folder) => {
        const data = join(folder, 'data');
        const expected = newExpectedLines();
        const clock = settableClock(library, join(folder, 'clock'));
        let fate: Fate = 'passes';
        const proxy = await openProxy(server.url, () => fate);
        const options = { env: { TAILPOND_CLICKHOUSE_URL: proxy.url, ...clock.env } };
        try {
          for (const days of [8, 45]) {
            fate = HELD;
            await bringIntoDoubt(server, data, expected, options);
            clock.set(days);
            await forgetTokens(server);
            fate = 'passes';
            await withService(
              data,
              async (service) => {
                await forwarded(service, expected);
                // Days go by while it runs, without the server.
                await server.kill();
                dropLines(data, expected, 100);
                await eventually(() =>
                  expect(service.log.map(({ msg }) => msg)).to.include(NOT_FORWARDED),
                );
                clock.set(days + 12);
                dropLines(data, expected, 100);
                await server.start();
                await forwarded(service, expected);
                expect(await service.end('SIGTERM')).to.equal(0);
              },
              options,
            );
          }
        } finally {
          await proxy.close();
        }
        expect(await differences(server, [expected])).to.deep.equal([]);
      },
      { timeoutMs: 600_000 },
    );

  if (library === null) notHere('F12', TOKEN_ALONE, `no libfaketime; ${INSTALL}`);
  else
    clickhouseCase(
      'F12',
      TOKEN_ALONE,
      async (server, folder) => {
        const data = join(folder, 'data');
        const expected = newExpectedLines();
        const clock = settableClock(library, join(folder, 'clock'));
        let fate: Fate = HELD;
        const proxy = await openProxy(server.url, () => fate);
        const options = { env: { TAILPOND_CLICKHOUSE_URL: proxy.url, ...clock.env } };
        try {
          await bringIntoDoubt(server, data, expected, options);
          // As if it had been killed between the two: the token is written first.
          await server.client.command({
            query: 'alter table edge_logs delete where true',
            clickhouse_settings: { mutations_sync: '1' },
          });
          fate = 'passes';
          await withService(
            data,
            async (service) => {
              const outbox = join(data, 'store/outbox');
              const before = readdirSync(outbox).map((name) => hashOf(join(outbox, name)));
              // It waits until no INSERT can be running.
              for (let days = 1; ; days++) {
                clock.set(days);
                await delay(1000);
                const now = readdirSync(outbox).map((name) => hashOf(join(outbox, name)));
                if (now.join() !== before.join()) break;
              }
              await forwarded(service, expected);
              expect(await service.end('SIGTERM')).to.equal(0);
            },
            options,
          );
        } finally {
          await proxy.close();
        }
        expect(await differences(server, [expected])).to.deep.equal([]);
      },
      { timeoutMs: 200_000 },
    );

  const reason = whyNoClickHouse();
  if (reason) notHere('F06', SHARDS, reason);
  else
    faultCase('F06', SHARDS, () =>
      withFolder((folder) =>
        withTwoShards(join(folder, 'clickhouse'), async (servers) => {
          for (const server of servers) await makeShardTables(server);
          const urls = servers.map(({ url }) => url).join(',');
          const env = { TAILPOND_CLICKHOUSE_URL: urls, TAILPOND_CLICKHOUSE_CLUSTER: 'pond' };
          const used = new Set<string>();
          const all: ExpectedLines[] = [];
          // A node's id decides for its server: until both have some.
          for (let n = 0; n < 20 && used.size < 2; n++) {
            const [data, expected] = [join(folder, `node-${n}`), newExpectedLines(`node-${n}`)];
            const before = await Promise.all(servers.map(rowsOf));
            await withService(
              data,
              async (service) => {
                dropLines(data, expected, 10);
                await forwarded(service, expected);
                all.push(expected);
                const after = await Promise.all(servers.map(rowsOf));
                const grown = servers.filter((_, i) => after[i] !== before[i]);
                expect(grown).to.have.length(1);
                used.add(grown[0]?.url ?? '');
                // The rows of all nodes, whichever server has them.
                const { body } = await service.get('/api/endpoints/query/logs.all?project=p');
                expect(body.result).to.have.length(Math.min(100, all.length * 10));
                const sql = 'select id from edge_logs order by timestamp desc limit 5';
                for (const path of [
                  `/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'p', sql })}`,
                  '/api/entries/edge_logs?limit=5',
                ])
                  expect((await service.get(path)).body.result, path).to.have.length(5);
                expect(await service.end('SIGTERM')).to.equal(0);
              },
              { env },
            );
          }
          expect(used.size).to.equal(2);
        }),
      ),
    );
});

/** Services that answer in place of ClickHouse behind a wrong URL or balancer. */
const IMPOSTORS: Readonly<Record<string, Impersonation>> = {
  'a page of a load balancer': {
    headers: { 'Content-Type': 'text/html' },
    body: () => '<html>\n<body>Welcome</body></html>',
  },
  'JSON of another service': {
    headers: { 'Content-Type': 'application/json' },
    body: () => '{"status":"ok"}',
  },
  'the headers of ClickHouse': {
    headers: {
      'Content-Type': 'application/x-ndjson; charset=UTF-8',
      'X-ClickHouse-Server-Display-Name': 'other',
      'X-ClickHouse-Format': 'JSONCompactEachRow',
      'X-ClickHouse-Summary':
        '{"read_rows":"100","written_rows":"100","result_rows":"100","elapsed_ns":"1"}',
    },
    body: (query) => (/^insert/i.test(query) ? '' : '["100"]\n'),
  },
};

/** Returns true where the metric says that rows of `edge_logs` are forwarded. */
async function isUp({ url }: Service): Promise<boolean> {
  const response = await fetch(`${url}/metrics`, { headers: { 'X-API-KEY': TOKEN } });
  const [, value] =
    /^tailpond_forwarding_up\{source="edge_logs"\} (\d)$/m.exec(await response.text()) ?? [];
  expect(value).to.be.oneOf(['0', '1']);
  return value === '1';
}

/** Nodes that are killed, as the server is, and whose connections are cut, while lines come in; then all of them forward what is left. */
async function runAmidKills(
  server: ClickHouseServer,
  nodes: readonly { readonly data: string; readonly expected: ExpectedLines }[],
  random: () => number,
): Promise<{ kills: number; cuts: number }> {
  const proxy = await openProxy(server.url, () => fateOf(random));
  const writers = nodes.map(({ data, expected }) => startWriter(data, expected, LONG ? 10 : 40));
  const begin = performance.now();
  const goesOn = () => performance.now() - begin < CHAOS_MS || proxy.cuts() === 0;
  let kills = 0;
  const live = async (data: string) => {
    while (goesOn())
      await withService(
        data,
        async (service) => {
          await delay(random() * 3000);
          await service.end('SIGKILL');
          kills++;
        },
        forwarding(proxy.url),
      );
  };
  const killServer = async () => {
    while (goesOn()) {
      await delay(1000 + random() * 4000);
      await server.kill();
      kills++;
      await delay(random() * 1000);
      await server.start();
    }
  };
  try {
    await Promise.all([...nodes.map(({ data }) => live(data)), killServer()]);
  } finally {
    for (const writer of writers) await writer.stop();
    await proxy.close();
  }
  const direct = await openProxyTo(proxy.url, server.url);
  try {
    await Promise.all(
      nodes.map(({ data, expected }) =>
        withService(
          data,
          async (service) => {
            await forwarded(service, expected);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          forwarding(proxy.url),
        ),
      ),
    );
  } finally {
    await direct.close();
  }
  return { kills, cuts: proxy.cuts() };
}

interface Signs {
  /** Whether the proxy has cut a connection. */
  isCut(): boolean;
  /** Whether the server has more rows. */
  isStored(): Promise<boolean>;
}

/** A moment in the life of a shipment. */
interface StepToKillAt {
  readonly fate?: Fate;
  /** Ends when it has come. Watches from the call on. */
  comes(data: string, signs: Signs): Promise<unknown>;
}

const STEPS: readonly StepToKillAt[] = [
  // Its file is being made.
  { comes: (data) => named(data, 'outbox', /^unfinished-.*parquet$/, true) },
  // The file is there, and it is about to be committed that there is a shipment.
  { comes: (data) => named(data, 'outbox', /^edge_logs-\d+\.parquet$/, true) },
  // A part of the file is sent.
  {
    fate: { cutRequestAfter: 40_000 },
    comes: (_, { isCut }) => eventually(() => expect(isCut()).to.equal(true)),
  },
  // The rows are there, and the answer is on its way.
  { fate: HELD, comes: (_, { isStored }) => soon(isStored) },
  // The answer has come, perhaps, and they are about to leave the store.
  { comes: (_, { isStored }) => soon(isStored) },
  // They have left the store.
  { comes: (data) => named(data, 'outbox', /^edge_logs-\d+\.parquet$/, false) },
];

/** Waits until a file of such a name appears in a folder of the store, or is removed. */
async function named(data: string, folder: string, name: RegExp, appears: boolean) {
  const path = join(data, 'store', folder);
  for await (const { filename } of watch(path))
    if (name.test(filename ?? '') && existsSync(join(path, filename ?? '')) === appears) return;
}

async function soon(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

/** Kills a node whose rows have come to the server, and that was not told. */
function bringIntoDoubt(
  server: ClickHouseServer,
  data: string,
  expected: ExpectedLines,
  options: SpawnOptions,
): Promise<void> {
  return withService(
    data,
    async (service) => {
      const before = await rowsOf(server);
      dropBulky(data, expected);
      await eventually(async () => expect(await rowsOf(server)).to.be.above(before));
      await service.end('SIGKILL');
    },
    options,
  );
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Has the server forget which INSERTs it has seen, as it does after others or after days. */
async function forgetTokens({ client }: ClickHouseServer): Promise<void> {
  for (const window of [0, 10_000])
    await client.command({
      query: `alter table edge_logs modify setting non_replicated_deduplication_window = ${window}`,
    });
}

async function rowsOf({ client }: ClickHouseServer): Promise<number> {
  const query = 'select count() as n from edge_logs';
  const answer = await client.query({ query, format: 'JSONEachRow' });
  return Number((await answer.json<{ n: string }>())[0]?.n);
}

/** A plain proxy in the place of one that was closed. */
async function openProxyTo(place: string, target: string) {
  return openProxy(target, () => 'passes', Number(new URL(place).port));
}

/** A third of the connections meets with something. */
function fateOf(random: () => number): Fate {
  const kind = random();
  if (kind < 0.1) return { cutRequestAfter: Math.floor(random() * 40_000) };
  if (kind < 0.25) return { cutReplyAfter: Math.floor(random() * 1500) };
  if (kind < 0.3) return { holdReplyMs: 2000 };
  return 'passes';
}

/** Shipments that are not there whole in one partition. */
async function parts({ client }: ClickHouseServer): Promise<unknown[]> {
  const answer = await client.query({
    query: `select _node, _seq from edge_logs group by _node, _seq having uniqExact(_partition_id) > 1`,
    format: 'JSONEachRow',
  });
  return answer.json();
}
