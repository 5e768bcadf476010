import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { readerStatements } from '../../server/clickhouse/reader-schema.ts';
import { readConfig } from '../../server/config/config.ts';
import { membersOf } from '../../server/config/members.ts';
import { clickhouseSuite } from '../clickhouse/case.ts';
import { type Twins, withTwins } from '../clickhouse/nodes.ts';
import { FREE_READER, READER, readerConfig } from '../clickhouse/reader.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { LONG } from '../faults/case.ts';
import { CORNERS, STATEMENTS_OF_CLIENTS } from '../support/clickhouse-statements.ts';
import { eventually, type Service, TOKEN, withService } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { ODD_KEYS, otelEntries, otelStatement } from '../support/otel-logs.ts';
import { randomOf } from '../support/random.ts';
import { SAMPLE_SEED, sampleOf } from '../support/sample.ts';

/** The engine works for a third of a second on a statement, most of it before it reads rows. One of so many is asked. */
const SAMPLE = LONG ? 1 : 3;
/** The random statements are the same each time; the long form has more of them. */
const STATEMENTS = LONG ? 120 : 12;
/** Of so few rows that only the statements take time. */
const ENTRIES = 400;
/** The engine itself writes `true`, and `logs.all.otel` 1, as for comparisons, wherever its rows are. */
const TRUTHS =
  "select true t, not false f, if(id = 'odd', true, false) i, count() n from logs group by 1, 2, 3 order by 3";
const COLUMNS =
  'select severity, level, status, count() n from logs where status > 0 group by 1, 2, 3 order by 1, 3';
/** More rows than are fetched to be asked: a million. */
const MANY = 1_010_000;
const QUANTILE = `select quantile(0.5)(toFloat64OrZero(log_attributes['response.status_code'])) as q, count() as n from logs where source = 'edge_logs'`;

const withReader = { config: readerConfig };

clickhouseSuite(
  'SQL of callers that ClickHouse is asked itself has the answers of the store, whatever of them it gives',
  (shared) => {
    const twins = opened<Twins>((action) =>
      withTwins(shared(), [...otelEntries(randomOf(41), ENTRIES), ODD_KEYS], action, {
        forwardedEnv: { TAILPOND_CLICKHOUSE_READER: READER },
      }),
    );
    const random = randomOf(42);
    const asked: readonly (readonly [string, project: string, statements: readonly string[]])[] = [
      ['to statements of clients', 'p', sampleOf(['', ...STATEMENTS_OF_CLIENTS], SAMPLE)],
      ['in corners of the dialect', 'p', [TRUTHS, COLUMNS, ...sampleOf(CORNERS, SAMPLE)]],
      [
        'to random statements',
        'p',
        Array.from({ length: STATEMENTS }, () => otelStatement(random)),
      ],
      ['of all projects', '*', sampleOf(STATEMENTS_OF_CLIENTS, 2 * SAMPLE)],
      ['of a project without rows', 'none', sampleOf(STATEMENTS_OF_CLIENTS, 2 * SAMPLE)],
    ];
    for (const [title, project, statements] of asked)
      it(`${title}, TAILPOND_TEST_SEED=${SAMPLE_SEED}`, async () => {
        const { here, forwarded } = twins();
        expect(statements).not.to.be.empty;
        for (const sql of statements) {
          const [mine, theirs] = await Promise.all(
            [here, forwarded].map((each) => ask(each, sql, project)),
          );
          expect(theirs?.status, `${sql} ${JSON.stringify(theirs?.body)}`).to.equal(200);
          expect(linesOf(theirs), `${project}: ${sql}`).to.deep.equal(linesOf(mine));
        }
        expect(warningsOf(forwarded)).to.deep.equal([]);
      });

    it('of a project whose name is longer than an identifier may be: over fetched rows', async () => {
      const { forwarded } = twins();
      const nobody = await ask(forwarded, 'select count() as n from logs', 'y'.repeat(8000));
      expect(nobody.body.result).to.deep.equal([{ n: 0 }]);
      expect(warningsOf(forwarded)).to.deep.equal([]);
    });

    it('by a user who is allowed by statements that ClickHouse can read', async () => {
      const { client } = shared().server;
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
  },
  withReader,
);

clickhouseSuite(
  'SQL of callers that ClickHouse is asked itself, over more rows than are fetched,',
  (shared) => {
    before(() => manyRows(shared().server));
    const reading = opened<Service>((action) =>
      withService(join(shared().folder, 'data'), action, {
        env: {
          TAILPOND_CLICKHOUSE_URL: shared().server.url,
          TAILPOND_CLICKHOUSE_READER: READER,
          TAILPOND_TEST_WAITS: 'readerTrial=500ms',
        },
      }),
    );
    const own = [{ q: 200, n: MANY }];

    it('is of the project alone', async () => {
      const answerTo = async (project: string) => {
        const { status, body } = await ask(reading(), QUANTILE, project);
        expect(status, JSON.stringify(body)).to.equal(200);
        return body.result as { n: number }[];
      };
      expect(await answerTo('p')).to.deep.equal(own);
      expect(await answerTo('q')).to.deep.equal([{ q: 500, n: 1 }]);
      expect((await answerTo('*')).map(({ n }) => n)).to.deep.equal([MANY + 1]);
    });

    it('is asked as a user who may only read the rows of a project, whatever the statement', async () => {
      const { server } = shared();
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
    });

    for (const [name, title, reason] of [
      [
        'default',
        'who sees the rows of all projects',
        /its setting readonly is 0.*sees rows of edge_logs whatever the project/,
      ],
      [
        FREE_READER,
        'who may read other tables',
        /it has more rights than it needs: GRANT SELECT ON \*\.\*/,
      ],
    ] as const)
      it(`is not asked as a user ${title}, and the log says so`, () =>
        withService(
          join(shared().folder, name),
          async (service) => {
            const { status, body } = await ask(service, QUANTILE, 'p');
            expect([status, body.code]).to.deep.equal([400, 'QUERY_TOO_LARGE']);
            expect(warningsOf(service).join()).to.match(reason);
          },
          {
            env: {
              TAILPOND_CLICKHOUSE_URL: shared().server.url,
              TAILPOND_CLICKHOUSE_READER: name,
            },
          },
        ));

    it('runs some at a time, and ends what nobody waits for', async () => {
      const { client } = shared().server;
      const slow = (n: number) =>
        `select count() as n from logs as a cross join (select id from logs limit 20000) as b where position(a.id, concat(b.id, '${n}')) > 0`;
      const running = async () => {
        const answer = await client.query({
          query: "select user from system.processes where query_id like 'tailpond.%'",
          format: 'JSONCompactEachRow',
        });
        return (await answer.json<string[]>()).map(([user]) => user);
      };
      const leaving = new AbortController();
      const asked = Array.from({ length: 8 }, (_, n) => {
        const search = new URLSearchParams({ project: 'p', sql: slow(n) });
        return fetch(`${reading().url}/api/endpoints/query/logs.all.otel?${search}`, {
          headers: { 'X-API-KEY': TOKEN },
          signal: leaving.signal,
        }).catch(() => null);
      });
      await eventually(async () => expect(await running()).to.deep.equal([READER, READER]));
      leaving.abort();
      await Promise.all(asked);
      await eventually(async () => expect(await running()).to.deep.equal([]));
      const { body } = await ask(reading(), QUANTILE, 'q');
      expect(body.result).to.deep.equal([{ q: 500, n: 1 }]);
      expect(warningsOf(reading())).to.deep.equal([]);
    });

    it('is asked no more as that user when its policies are gone, and again when they are back', async () => {
      const { server, folder } = shared();
      const users = join(folder, 'users.xml');
      const withPolicies = readFileSync(users, 'utf8');
      const startWith = async (text: string) => {
        await server.kill();
        writeFileSync(users, text);
        await server.start();
      };
      const asked = async () => {
        const { status, body } = await ask(reading(), QUANTILE, 'p');
        return status === 200 ? body.result : body.code;
      };
      expect(await asked()).to.deep.equal(own);
      await startWith(withPolicies.replaceAll(/<databases>.*?<\/databases>/gs, ''));
      await eventually(async () => expect(await asked()).to.equal('QUERY_TOO_LARGE'));
      expect(warningsOf(reading()).join()).to.match(/sees rows of edge_logs whatever the project/);
      await startWith(withPolicies);
      await eventually(async () => expect(await asked()).to.deep.equal(own));
    });
  },
  withReader,
);

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
