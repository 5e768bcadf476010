import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { allSources } from '../../../ingest/index.ts';
import { ROOT } from '../../../server/config/package-root.ts';
import { clickhouseIt, clickhouseSuite } from '../../clickhouse/case.ts';
import { FORWARDER, READER, readerConfig } from '../../clickhouse/reader.ts';
import type { ClickHouseServer } from '../../clickhouse/server.ts';

/** Runs `tailpond clickhouse …`; gives its exit code and all that it prints. */
async function tailpond(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [join(ROOT, 'server/launch.cjs'), 'clickhouse', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, printed: `${out}${errors}` };
}

clickhouseSuite(
  'tailpond clickhouse',
  (shared) => {
    it('drill forwards each line once, over a kill and a server that goes away, and says so', async () => {
      const { server } = shared();
      const env = { TAILPOND_CLICKHOUSE_URL: server.url };
      const drilled = tailpond(['drill', '--lines', '1000', '--kills', '1'], env);
      await someRows(server);
      await server.kill();
      await server.start();
      const { code, printed } = await drilled;
      expect(printed).to.include('0 lines are lost, 0 are there more than once.');
      expect(code).to.equal(0);
      const [, removal = ''] = /^To remove them: (.*)$/m.exec(printed) ?? [];
      await server.client.command({
        query: removal,
        clickhouse_settings: { mutations_sync: '1' },
      });
      expect(await rowsOf(server)).to.equal(0);
    });

    it('drill says which rows are there too often', async () => {
      const { server } = shared();
      const env = { TAILPOND_CLICKHOUSE_URL: server.url };
      // So many kills that it goes on for long after the first rows came.
      const drilled = tailpond(['drill', '--lines', '1000', '--kills', '2'], env);
      const one = "edge_logs where id like '%-7'";
      while ((await rowsOf(server, one)) === 0);
      // It is stored once more, as another writer would do, and as none of its shipment's rows.
      await server.client.command({
        query: `insert into edge_logs select * replace (toUInt64(0) as _seq) from ${one}`,
      });
      const { code, printed } = await drilled;
      expect(printed).to.include('0 lines are lost, 1 are there more than once.');
      expect(code).to.equal(1);
      await server.client.command({ query: 'truncate table edge_logs' });
    });

    it('check names the column of a member that an operator adds, until it is there', async () => {
      const { server } = shared();
      const env = {
        TAILPOND_CLICKHOUSE_URL: server.url,
        TAILPOND_COLUMNS: 'auth_logs=actor.name',
      };
      const before = await tailpond(['check'], env);
      expect(before.printed).to.include(
        `WRONG ${server.url}: auth_logs.metadata.actor.name is missing, and Nullable(String) is expected`,
      );
      expect(before.code).to.equal(1);
      const { printed } = await tailpond(['schema'], env);
      const [, column] = /^ +(`metadata\.actor\.name` .*),$/m.exec(printed) ?? [];
      await server.client.command({ query: `alter table auth_logs add column ${column}` });
      expect((await tailpond(['check'], env)).code).to.equal(0);
    });

    it('check says that nobody can end what the user who reads has begun', async () => {
      const { server } = shared();
      const env = {
        TAILPOND_CLICKHOUSE_URL: server.url,
        TAILPOND_CLICKHOUSE_READER: READER,
      };
      const right = await tailpond(['check'], env);
      expect(right.printed).to.include(`ok    ${server.url}: user ${READER}\n`);
      expect(right.code).to.equal(0);
      const wrong = await tailpond(['check'], { ...env, TAILPOND_CLICKHOUSE_USER: FORWARDER });
      expect(wrong.printed.split('\n').filter((line) => line.startsWith('WRONG'))).to.deep.equal([
        `WRONG ${server.url}: the user ${FORWARDER} cannot end a query whose caller has left: grant kill query on *.* to ${FORWARDER}`,
      ]);
      expect(wrong.code).to.equal(1);
    });

    it('check says that a cluster or a database is not there, once', async () => {
      const { server } = shared();
      const lines = async (env: Record<string, string>) => {
        const own = { TAILPOND_CLICKHOUSE_URL: server.url, ...env };
        const { code, printed } = await tailpond(['check'], own);
        expect(code).to.equal(1);
        return printed.split('\n').filter((line) => line.startsWith('WRONG'));
      };
      const [missing, ...others] = await lines({ TAILPOND_CLICKHOUSE_CLUSTER: 'nope' });
      expect(missing).to.include(`WRONG ${server.url}: there is no cluster nope; there are`);
      expect(others).to.deep.equal([]);
      const [tls, ...rest] = await lines({
        TAILPOND_CLICKHOUSE_URL: server.url.replace('http', 'https'),
      });
      expect([tls?.replace(/^\S+ \S+ \S+ /, ''), rest]).to.deep.equal([
        'the URL says https, and the port speaks http',
        [],
      ]);
      const [reader, ...others2] = await lines({ TAILPOND_CLICKHOUSE_READER: 'nobody' });
      expect(reader).to.match(/: user nobody: .*nobody/);
      expect(others2).to.deep.equal([]);
      const [database, ...more] = await lines({ TAILPOND_CLICKHOUSE_DATABASE: 'nope' });
      expect(database).to.match(/Database nope does not exist/);
      expect(more).to.deep.equal([]);
    });

    it('check goes over TLS, and refuses a certificate that nobody trusts', async () => {
      const { server, folder } = shared();
      const { url, authority, close } = await openTls(folder, server);
      try {
        const env = { TAILPOND_CLICKHOUSE_URL: url };
        const refused = await tailpond(['check'], env);
        expect(refused.printed).to.match(/^WRONG .*self-signed certificate/m);
        expect(refused.code).to.equal(1);
        const trusted = await tailpond(['check'], { ...env, NODE_EXTRA_CA_CERTS: authority });
        expect(trusted.printed).to.include(`ok    ${url}: edge_logs`);
        expect(trusted.code).to.equal(0);
      } finally {
        close();
      }
    });
  },
  { config: readerConfig },
);

describe('tailpond clickhouse, with tables of its own,', () => {
  clickhouseIt('check says what of a table could lose or double rows', async (server) => {
    const { client, url } = server;
    const remake = async (source: string, engine: string) => {
      await client.command({ query: `create table ${source}_like as ${source}` });
      await client.command({ query: `drop table ${source}` });
      await client.command({ query: `create table ${source} as ${source}_like ${engine}` });
    };
    const flushed = 'fsync_after_insert = 1, fsync_part_directory = 1';
    const settings = `settings non_replicated_deduplication_window = 10000, ${flushed}`;
    await remake('auth_logs', 'engine = Log');
    await remake(
      'app_logs',
      `engine = ReplacingMergeTree partition by toDate(ingested_at) order by timestamp ${settings}`,
    );
    await remake(
      'realtime_logs',
      `engine = MergeTree partition by project order by timestamp ${settings}, allow_nullable_key = 1`,
    );
    for (const [source, setting] of [
      ['storage_logs', 'non_replicated_deduplication_window = 5'],
      ['postgres_logs', 'fsync_after_insert = 0'],
      ['function_logs', 'fsync_part_directory = 0'],
    ])
      await client.command({ query: `alter table ${source} modify setting ${setting}` });
    const wrong = async () => {
      const { printed } = await tailpond(['check'], { TAILPOND_CLICKHOUSE_URL: url });
      return printed.split('\n').filter((line) => line.startsWith('WRONG'));
    };
    const faults = await wrong();
    const isTold = (text: string) => faults.some((fault) => fault.includes(`: ${text}`));
    for (const text of [
      'the engine of auth_logs is Log, and one of MergeTree, ReplicatedMergeTree, SharedMergeTree is expected',
      'the engine of app_logs is ReplacingMergeTree, and one of',
      'realtime_logs is partitioned by project, and toDate(ingested_at) is expected',
      'storage_logs knows the tokens of 5 INSERTs, and at least 1000 are expected',
      'postgres_logs confirms rows that a loss of power takes',
      'function_logs confirms rows that a loss of power takes',
    ])
      expect(isTold(text), `${text} in ${faults.join('\n')}`).to.equal(true);
    expect(faults.filter((fault) => fault.includes('edge_logs'))).to.deep.equal([]);
    // What it says is to be done, and no more.
    for (const fault of faults) {
      const [query] = /alter table (?:postgres|function)_logs .*$/.exec(fault) ?? [];
      if (query) await client.command({ query });
    }
    expect((await wrong()).join('\n')).to.not.match(/loss of power|postgres_logs|function_logs/);
  });

  clickhouseIt(
    'check names the shipments of a node that are gone, and not those that are too old or not sent yet',
    async (server) => {
      const stored = async (node: string, seqs: readonly number[], days: number) => {
        for (const seq of seqs)
          await server.client.command({
            query: `insert into edge_logs (id, timestamp, ingested_at, _node, _seq)
              select 'a', at, at, '${node}', ${seq} from (select now64(6, 'UTC') - interval ${days} day as at)`,
          });
      };
      const check = async () => {
        const { code, printed } = await tailpond(['check'], {
          TAILPOND_CLICKHOUSE_URL: server.url,
        });
        return { code, wrong: printed.split('\n').filter((line) => line.startsWith('WRONG')) };
      };
      await stored('whole', [1, 2, 3], 0);
      // The table keeps rows for 30 days: shipments 1 to 6 have expired.
      await stored('aged', [7, 8], 29);
      await stored('aged', [9], 3);
      await stored('other writer', [0], 0);
      expect(await check()).to.deep.equal({ code: 0, wrong: [] });
      await stored('late', [4, 5], 1);
      await stored('holed', [1, 2, 5, 7, 9, 11, 13, 15, 17, 18], 0);
      const gone = (shipments: string, node: string) =>
        `WRONG ${server.url}: edge_logs lacks shipments ${shipments} of node ${node}, which were there: look for a truncate, a dropped partition, a delete, or a server that is not named any more`;
      expect(await check()).to.deep.equal({
        code: 1,
        wrong: [gone('3 to 4, 6, 8, 10, 12 and 2 more gaps', 'holed'), gone('1 to 3', 'late')],
      });
      await server.client.command({ query: 'truncate table edge_logs' });
      await stored('whole', [4], 0);
      expect((await check()).wrong).to.deep.equal([gone('1 to 3', 'whole')]);
    },
  );

  clickhouseIt(
    'check names a table over all shards that leaves out one, or reads other tables',
    async (server) => {
      for (const source of allSources()) {
        const settings = source === 'auth_logs' ? 'settings skip_unavailable_shards = 1' : '';
        const database = source === 'postgres_logs' ? 'other' : 'currentDatabase()';
        await server.client.command({
          query: `create table ${source}_all as ${source} engine = Distributed(pond, ${database}, ${source}) ${settings}`,
        });
      }
      const { code, printed } = await tailpond(['check'], {
        TAILPOND_CLICKHOUSE_URL: server.url,
        TAILPOND_CLICKHOUSE_CLUSTER: 'pond',
      });
      expect(printed.split('\n').filter((line) => line.startsWith('WRONG'))).to.have.members([
        `WRONG ${server.url}: auth_logs_all leaves out the rows of a shard that is away: make it again without skip_unavailable_shards`,
        `WRONG ${server.url}: postgres_logs_all is Distributed('pond', 'other', 'postgres_logs'), and Distributed('pond', 'default', 'postgres_logs') is expected`,
      ]);
      expect(code).to.equal(1);
    },
    {
      config: () =>
        '<remote_servers><pond><shard><replica><host>127.0.0.1</host><port>9</port></replica></shard></pond></remote_servers>',
    },
  );
});

async function rowsOf({ client }: ClickHouseServer, table = 'edge_logs'): Promise<number> {
  const answer = await client.query({
    query: `select count() as n from ${table}`,
    format: 'JSONEachRow',
  });
  return Number((await answer.json<{ n: string }>())[0]?.n);
}

async function someRows(server: ClickHouseServer): Promise<void> {
  while ((await rowsOf(server)) === 0);
}

/** Puts TLS before a server, with a certificate of its own. */
async function openTls(folder: string, server: ClickHouseServer) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  mkdirSync(folder, { recursive: true });
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  const target = new URL(server.url);
  const sockets = new Set<TLSSocket>();
  const proxy = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (near) => {
    sockets.add(near);
    const far = connect(Number(target.port), target.hostname);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  proxy.on('tlsClientError', () => {});
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  return {
    url: `https://127.0.0.1:${port}`,
    authority: cert,
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
