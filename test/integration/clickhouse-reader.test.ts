import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { readerStatements } from '../../server/clickhouse/reader-schema.ts';
import { readConfig } from '../../server/config/config.ts';
import { membersOf } from '../../server/config/members.ts';
import { clickhouseIt } from '../clickhouse/case.ts';
import { dropEntries, totalOf } from '../clickhouse/nodes.ts';
import { FREE_READER, READER, readerConfig } from '../clickhouse/reader.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { CORNERS, STATEMENTS_OF_CLIENTS } from '../support/clickhouse-statements.ts';
import { eventually, type Service, TOKEN, withService } from '../support/helpers.ts';
import { ODD_KEYS, otelEntries, otelStatement } from '../support/otel-logs.ts';
import { randomOf } from '../support/random.ts';

const STATEMENTS = 120;
/** The user is tried again each minute. */
const TRIED_AGAIN_MS = 90_000;
/** More rows than are fetched to be asked. */
const MANY = 1_200_000;
const QUANTILE = `select quantile(0.5)(toFloat64OrZero(log_attributes['response.status_code'])) as q, count() as n from logs where source = 'edge_logs'`;

const withReader = { config: readerConfig };

describe('SQL of callers that ClickHouse is asked itself', () => {
  clickhouseIt(
    'has the answers of the store, whatever of them it gives',
    async (server, folder) => {
      const entries = [...otelEntries(randomOf(41), 400), ODD_KEYS];
      const folders = ['here', 'forwarded'].map((name) => join(folder, name));
      dropEntries(folders, entries);
      const [here = '', forwarded = ''] = folders;
      const random = randomOf(42);
      const statements = [
        '',
        ...STATEMENTS_OF_CLIENTS,
        ...CORNERS,
        ...Array.from({ length: STATEMENTS }, () => otelStatement(random)),
      ];
      await withService(here, (one) =>
        withService(
          forwarded,
          async (other) => {
            for (const [service, count] of [
              [one, 'stored'],
              [other, 'forwarded'],
            ] as const)
              await eventually(
                async () => expect(await totalOf(service, count)).to.equal(entries.length),
                60_000,
              );
            for (const project of ['p', '*', 'none'])
              for (const sql of project === 'p' ? statements : statements.slice(0, 20)) {
                const [mine, theirs] = await Promise.all(
                  [one, other].map((each) => ask(each, sql, project)),
                );
                expect(theirs?.status, `${sql} ${JSON.stringify(theirs?.body)}`).to.equal(200);
                expect(linesOf(theirs), `${project}: ${sql}`).to.deep.equal(linesOf(mine));
              }
            expect(warningsOf(other)).to.deep.equal([]);
            // Longer than an identifier may be: over fetched rows.
            const nobody = await ask(other, 'select count() as n from logs', 'y'.repeat(8000));
            expect(nobody.body.result).to.deep.equal([{ n: 0 }]);
          },
          { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_CLICKHOUSE_READER: READER } },
        ),
      );
    },
    withReader,
  );

  clickhouseIt(
    'asks about any number of rows, of the project alone, as the user who may only read',
    async (server, folder) => {
      await manyRows(server);
      const reader = createClient({ url: server.url, username: READER, log: { level: 127 } });
      try {
        const rowsAs = async (query: string, id?: string) => {
          const answer = await reader.query({
            query,
            format: 'JSONCompactEachRow',
            ...(id ? { query_id: id } : {}),
          });
          return answer.json<unknown[]>();
        };
        const all = 'select project, count() from edge_logs group by project';
        expect(await rowsAs(all)).to.deep.equal([]);
        expect(await rowsAs(all, 'tailpond.zz.1')).to.deep.equal([]);
        expect(await rowsAs(all, `tailpond.${Buffer.from('q').toString('hex')}.1`)).to.deep.equal([
          ['q', '1'],
        ]);
        for (const [query, reason] of [
          ['select _node from edge_logs', /Not enough privileges/],
          ['select query from system.processes', /Not enough privileges/],
          ["select * from url('http://127.0.0.1:1/', 'LineAsString')", /Not enough privileges/],
          ["insert into edge_logs (id) values ('x')", /readonly|Not enough privileges/],
          ['select 1 settings readonly = 0', /readonly/],
        ] as const) {
          const error = await rowsAs(query).then(
            () => null,
            (thrown: Error) => thrown.message,
          );
          expect(error, query).to.match(reason);
        }
      } finally {
        await reader.close();
      }
      await withService(
        join(folder, 'data'),
        async (service) => {
          const { status, body } = await ask(service, QUANTILE, 'p');
          expect(status, JSON.stringify(body)).to.equal(200);
          expect(body.result).to.deep.equal([{ q: 200, n: MANY }]);
          expect((await ask(service, QUANTILE, 'q')).body.result).to.deep.equal([{ q: 500, n: 1 }]);
          const everywhere = (await ask(service, QUANTILE, '*')).body.result as { n: number }[];
          expect(everywhere.map(({ n }) => n)).to.deep.equal([MANY + 1]);
        },
        { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_CLICKHOUSE_READER: READER } },
      );
      // A user who sees the rows of all projects, or who may read other tables, is not used, and the log says so.
      for (const [name, reason] of [
        ['default', /its setting readonly is 0.*sees rows of edge_logs whatever the project/],
        [FREE_READER, /it has more rights than it needs: GRANT SELECT ON \*\.\*/],
      ] as const)
        await withService(
          join(folder, name),
          async (service) => {
            const { status, body } = await ask(service, QUANTILE, 'p');
            expect([status, body.code]).to.deep.equal([400, 'QUERY_TOO_LARGE']);
            expect(warningsOf(service).join()).to.match(reason);
          },
          { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_CLICKHOUSE_READER: name } },
        );
    },
    withReader,
  );

  clickhouseIt(
    'is asked no more as that user when its policies are gone, and again when they are back',
    async (server, folder) => {
      await manyRows(server);
      const users = join(folder, 'users.xml');
      const withPolicies = readFileSync(users, 'utf8');
      const startWith = async (text: string) => {
        await server.kill();
        writeFileSync(users, text);
        await server.start();
      };
      await withService(
        join(folder, 'data'),
        async (service) => {
          const asked = async () => {
            const { status, body } = await ask(service, QUANTILE, 'p');
            return status === 200 ? body.result : body.code;
          };
          const own = [{ q: 200, n: MANY }];
          expect(await asked()).to.deep.equal(own);
          await startWith(withPolicies.replaceAll(/<databases>.*?<\/databases>/gs, ''));
          await eventually(
            async () => expect(await asked()).to.equal('QUERY_TOO_LARGE'),
            TRIED_AGAIN_MS,
          );
          expect(warningsOf(service).join()).to.match(
            /sees rows of edge_logs whatever the project/,
          );
          await startWith(withPolicies);
          await eventually(async () => expect(await asked()).to.deep.equal(own), TRIED_AGAIN_MS);
        },
        { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_CLICKHOUSE_READER: READER } },
      );
    },
    withReader,
  );

  clickhouseIt(
    'runs some at a time, and ends what nobody waits for',
    async (server, folder) => {
      await manyRows(server);
      const slow = (n: number) =>
        `select count() as n from logs as a cross join (select id from logs limit 20000) as b where position(a.id, concat(b.id, '${n}')) > 0`;
      const running = async () => {
        const answer = await server.client.query({
          query: "select user from system.processes where query_id like 'tailpond.%'",
          format: 'JSONCompactEachRow',
        });
        return (await answer.json<string[]>()).map(([user]) => user);
      };
      await withService(
        folder,
        async (service) => {
          const leaving = new AbortController();
          const asked = Array.from({ length: 8 }, (_, n) => {
            const search = new URLSearchParams({ project: 'p', sql: slow(n) });
            return fetch(`${service.url}/api/endpoints/query/logs.all.otel?${search}`, {
              headers: { 'X-API-KEY': TOKEN },
              signal: leaving.signal,
            }).catch(() => null);
          });
          await eventually(async () => expect(await running()).to.deep.equal([READER, READER]));
          leaving.abort();
          await Promise.all(asked);
          await eventually(async () => expect(await running()).to.deep.equal([]));
          expect((await ask(service, QUANTILE, 'q')).body.result).to.deep.equal([{ q: 500, n: 1 }]);
          expect(warningsOf(service)).to.deep.equal([]);
        },
        { env: { TAILPOND_CLICKHOUSE_URL: server.url, TAILPOND_CLICKHOUSE_READER: READER } },
      );
    },
    withReader,
  );

  clickhouseIt('is allowed by statements that ClickHouse can read', async ({ client }) => {
    const members = membersOf(readConfig({}).config);
    for (const cluster of [null, 'pond'])
      for (const sql of readerStatements('who reads', cluster, members)) {
        const answer = await client.query({
          query: 'select formatQuery({sql:String}) as text',
          query_params: { sql },
          format: 'JSONEachRow',
        });
        expect(await answer.json()).to.have.length(1);
      }
  });
});

async function manyRows({ client }: ClickHouseServer): Promise<void> {
  await client.command({
    query: `insert into edge_logs (id, timestamp, project, event_message, metadata, ingested_at, _node, _seq)
      select
        'r' || toString(number),
        toDateTime64('2026-11-01 00:00:00', 6, 'UTC') + toIntervalSecond(number),
        if(number = ${MANY}, 'q', 'p'),
        'm',
        '{"response":{"status_code":' || if(number % 1000 = 0, '500', '200') || '}}',
        now64(6),
        'n',
        1
      from numbers(${MANY + 1})`,
  });
}

function ask({ get }: Service, sql: string, project: string) {
  const search = new URLSearchParams({ project, ...(sql === '' ? {} : { sql }) });
  return get(`/api/endpoints/query/logs.all.otel?${search}`);
}

function warningsOf({ log }: Service): string[] {
  return log.filter(({ level }) => Number(level) >= 40).map(({ msg }) => String(msg));
}

/** Rows as they are written, in an order of their own. */
function linesOf(answer: { readonly body: { readonly result?: object[] } } | undefined): string[] {
  return (answer?.body.result ?? []).map((row) => JSON.stringify(row)).sort();
}
