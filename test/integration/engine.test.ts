import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { AppError } from '../../server/errors.ts';
import {
  eventually,
  type TestStore,
  withFolder,
  withIngest,
  withService,
  withStore,
} from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

/** Minutes of work, in little memory. */
const LONG = 'select sum(hash(a.i + b.i)) from range(10000000) a(i), range(1000000) b(i)';

const ask = (store: TestStore, sql: string) => store.query(sql, {}, { maxRows: 10 });

async function thrown(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    (value) =>
      expect.fail(`nothing was thrown, but given: ${JSON.stringify(value, (_, v) => String(v))}`),
    (error) => error,
  );
}

describe('engine: the lock', () => {
  it('refuses settings, files, other databases and extensions', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const secret = join(data, 'secret.csv');
        writeFileSync(secret, 'a\nsecret\n');
        writeFileSync(join(data, 'lines.ndjson'), '{"a":1}\n');
        const out = join(data, 'out');
        const database = join(data, 'store', 'tailpond.duckdb');
        for (const sql of [
          `set memory_limit = '1GB'`,
          `set global threads = 1`,
          `set TimeZone = 'Europe/Berlin'`,
          'set enable_external_access = true',
          'set lock_configuration = false',
          `set allowed_directories = ['/']`,
          `set allowed_paths = ['${secret}']`,
          `set temp_directory = '${out}'`,
          'reset lock_configuration',
          `pragma memory_limit = '1GB'`,
          `copy (select 1) to '${out}.csv'`,
          `copy edge_logs to '${out}.parquet' (format parquet)`,
          `copy edge_logs from '${secret}'`,
          `export database '${out}'`,
          `import database '${data}'`,
          `select * from '${secret}'`,
          `select * from read_csv('${secret}')`,
          `select * from read_text('${secret}')`,
          `select * from read_blob('${secret}')`,
          `select * from read_ndjson('${join(data, 'lines.ndjson')}')`,
          `select * from read_text('/etc/hostname')`,
          `select * from read_text('${join(store.staging, '..', '..', 'secret.csv')}')`,
          `select * from glob('/etc/*')`,
          `attach '${out}.duckdb' as other`,
          `attach '${database}' as again (read_only)`,
          `attach 'https://example.org/x.duckdb' as far`,
          `select * from read_csv('https://example.org/x.csv')`,
          'install httpfs',
          'load httpfs',
          'install spatial from community',
          `load '${out}.duckdb_extension'`,
        ]) {
          const error = await thrown(ask(store, sql));
          expect(error.message, sql).to.be.a('string').and.not.empty;
        }
        for (const name of ['out', 'out.csv', 'out.parquet', 'out.duckdb'])
          expect(existsSync(join(data, name)), name).to.equal(false);
        expect((await ask(store, 'select 1')).rows).to.deep.equal([[1]]);
      }),
    ));

  it('works in UTC, whatever the time zone of the machine', () =>
    withFolder((data) =>
      withService(
        data,
        async ({ get }) => {
          const now = Date.now();
          const recent = new Date(now - 300_000).toISOString();
          const lines = [
            { id: 'z', timestamp: '2026-01-01T00:00:00Z', project: 'p' },
            { id: 'none', timestamp: '2026-01-01T00:00:01', project: 'p' },
            { id: 'digits', timestamp: 1767225602, project: 'p' },
            {
              id: 'recent',
              timestamp: recent,
              project: 'now',
              metadata: { request: { path: '/rest' } },
            },
          ];
          mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
          writeFileSync(
            join(data, 'logs', 'edge_logs', 'a.ndjson'),
            lines.map((line) => `${JSON.stringify({ event_message: 'm', ...line })}\n`).join(''),
          );
          const result = async (query: string) =>
            (await get(`/api/endpoints/query/${query}`)).body.result as Record<string, unknown>[];
          await eventually(async () =>
            expect(await result('logs.all?project=p')).to.have.length(3),
          );
          expect(
            (await result('logs.all?project=p')).map(({ id, timestamp }) => [id, timestamp]),
          ).to.deep.equal([
            ['digits', 1767225602000000],
            ['none', 1767225601000000],
            ['z', 1767225600000000],
          ]);
          expect(
            (await result('logs.all?project=p&iso_timestamp_end=2026-01-01T00:00:00')).map(
              ({ id }) => id,
            ),
          ).to.deep.equal(['z']);
          expect(await result('usage.api-counts?interval=minutely&project=now')).to.deep.equal([
            {
              timestamp: `${recent.slice(0, 16)}:00Z`,
              total_rest_requests: 1,
              total_storage_requests: 0,
              total_auth_requests: 0,
              total_realtime_requests: 0,
            },
          ]);
        },
        { env: { TZ: 'America/New_York' } },
      ),
    ));

  it('has its settings on every connection', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const settings = await Promise.all(
          Array.from({ length: 12 }, () =>
            ask(
              store,
              `select current_setting('TimeZone'), current_setting('late_materialization_max_rows')::integer,
                current_setting('preserve_insertion_order'), current_setting('lock_configuration')`,
            ),
          ),
        );
        for (const { rows } of settings) expect(rows).to.deep.equal([['UTC', 0, false, true]]);
      }),
    ));

  it('has no index, since one can end in a database that refuses to delete', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines }) => {
        write('edge_logs/a.ndjson', '{"id":"1"}\n{"id":"1"}\n');
        await lines(2);
        expect((await ask(store, 'select * from duckdb_indexes()')).rows).to.deep.equal([]);
        const unique = `select * from duckdb_constraints() where constraint_type in ('UNIQUE', 'PRIMARY KEY', 'FOREIGN KEY')`;
        expect((await ask(store, unique)).rows).to.deep.equal([]);
      }),
    ));

  it('opens one database a process', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const error = await thrown(withStore(join(data, 'other'), async () => {}));
        expect(error.message).to.match(/open in this process/);
        expect((await ask(store, 'select 1')).rows).to.deep.equal([[1]]);
      }),
    ));
});

describe('engine: limits of a query', () => {
  it('ends a query that takes too long, and answers the next', () =>
    withFolder((data) =>
      withStore(
        data,
        async (store) => {
          for (let round = 0; round < 2; round++) {
            const errors = await Promise.all(
              Array.from({ length: 6 }, () => thrown(ask(store, LONG))),
            );
            for (const error of errors) {
              expect(error).to.be.instanceOf(AppError);
              expect((error as AppError).code).to.equal('QUERY_TIMEOUT');
              expect((error as AppError).status).to.equal(504);
            }
          }
          for (let i = 0; i < 20; i++)
            expect((await ask(store, `select ${i}`)).rows).to.deep.equal([[i]]);
        },
        { queryTimeoutMs: 500 },
      ),
    ));

  it('gives a free connection to an owner that has none, whoever waits longer', () =>
    withFolder((data) =>
      withStore(
        data,
        async ({ callerPool }) => {
          const [first, rest] = [new AbortController(), new AbortController()];
          const ended: string[] = [];
          const long = (owner: string, { signal }: AbortController) =>
            callerPool
              .query(LONG, {}, { maxRows: 1, owner, signal })
              .catch(() => ended.push(owner));
          const all = [long('a', first), ...['a', 'b', 'a', 'b'].map((owner) => long(owner, rest))];
          await eventually(() => {
            const { running, waiting } = callerPool.stats();
            expect([running, waiting]).to.deep.equal([3, 2]);
          });
          const quick = callerPool.query('select 1', {}, { maxRows: 1, owner: 'c' });
          first.abort(new Error('the client has gone'));
          expect((await quick).rows).to.deep.equal([[1]]);
          expect(ended).to.deep.equal(['a']);
          rest.abort(new Error('the client has gone'));
          await Promise.all(all);
        },
        { queryTimeoutMs: 20_000 },
      ),
    ));

  it('ends a query at the signal, with its reason', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const controller = new AbortController();
        const reason = new Error('the client has gone');
        const running = Array.from({ length: 8 }, () =>
          thrown(store.query(LONG, {}, { maxRows: 1, signal: controller.signal })),
        );
        controller.abort(reason);
        for (const error of await Promise.all(running)) expect(error).to.equal(reason);
        expect(
          await thrown(
            store.query('select 1', {}, { maxRows: 1, signal: AbortSignal.abort(reason) }),
          ),
        ).to.equal(reason);
        expect((await ask(store, 'select 1')).rows).to.deep.equal([[1]]);
      }),
    ));

  it('ends one query without harm to the others', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const controller = new AbortController();
        const aborted = thrown(store.query(LONG, {}, { maxRows: 1, signal: controller.signal }));
        const others = Array.from({ length: 30 }, (_, i) =>
          ask(store, `select count(*) + ${i} from range(2000000)`),
        );
        controller.abort(new Error('gone'));
        expect((await aborted).message).to.equal('gone');
        for (const [i, { rows }] of (await Promise.all(others)).entries())
          expect(rows).to.deep.equal([[BigInt(2_000_000 + i)]]);
      }),
    ));

  it('refuses a query when too many wait, and takes the next when they are gone', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const controller = new AbortController();
        const reason = new Error('enough');
        const errors: Error[] = [];
        const all = Array.from({ length: 200 }, () =>
          thrown(store.query(LONG, {}, { maxRows: 1, signal: controller.signal })).then((error) => {
            errors.push(error);
            // The refusals come at once, while the others run or wait.
            if (errors.length === 1) setImmediate(() => controller.abort(reason));
          }),
        );
        await Promise.all(all);
        const overloaded = errors.filter(
          (error) => error instanceof AppError && error.code === 'OVERLOADED',
        );
        expect(overloaded.length).to.be.greaterThan(0).and.below(200);
        expect(errors.filter((error) => error === reason)).to.have.length(200 - overloaded.length);
        expect((await ask(store, 'select 1')).rows).to.deep.equal([[1]]);
      }),
    ));

  it('ends all queries when the service stops, with its reason, and takes no more', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const reason = new Error('stopping');
        const running = Array.from({ length: 8 }, () => thrown(ask(store, LONG)));
        store.stop(reason);
        for (const error of await Promise.all(running)) expect(error).to.equal(reason);
        expect(await thrown(ask(store, 'select 1'))).to.equal(reason);
      }),
    ));

  it('reads no more rows than are wanted', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const { rows } = await store.query(
          'select i from range(100000000000) t(i)',
          {},
          { maxRows: 5000 },
        );
        expect(rows).to.have.length(5000);
      }),
    ));

  it('gives each of many concurrent queries its own rows', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, i) =>
            store.query(
              'select $n::integer, $text::varchar',
              { n: `${i}`, text: null },
              { maxRows: 1 },
            ),
          ),
        );
        for (const [i, { rows }] of answers.entries()) expect(rows).to.deep.equal([[i, null]]);
      }),
    ));
});

describe('engine: the schema', () => {
  it('migrates a database of the first version to this one, and keeps its contents', () =>
    withFolder(async (data) => {
      const sql = join(data, 'sql');
      cpSync(join(ROOT, 'sql'), sql, { recursive: true });
      for (const name of readdirSync(join(sql, 'schema')))
        if (!name.startsWith('0001')) rmSync(join(sql, 'schema', name));
      // It knew no other sources.
      writeFileSync(join(sql, 'source', 'table.sql'), 'select 1');
      // One stored and one rejected line, as that version wrote them.
      const line = 'x'.repeat(5000);
      const first = '{"id":"1","timestamp":"2026-11-20T10:00:00Z"}\n';
      const { length } = first;
      const hash = createHash('sha1').update(first).digest('hex');
      appendFileSync(
        join(sql, 'schema', '0001_tables.sql'),
        `insert into rejected values ('edge_logs', 'b', 0, 5000, 'it is not a JSON object', '${line}'::blob, now()::timestamp);
          insert into edge_logs values ('1', now()::timestamp, null, '', null, now()::timestamp, null, null, null);
          insert into files values (1, 'edge_logs', 'edge_logs/a.ndjson', '0:0', ${length}, ${length}, '${hash}', ${length}, '${hash}', false, null, false, null, now()::timestamp);
          update ledger set lines = 2, rows = 1, rejected = 1, bytes = ${length} where source = 'edge_logs';`,
      );
      await withStore(data, async () => {}, { sql });
      await withIngest(data, async ({ store, write, lines, ledger }) => {
        write('edge_logs/a.ndjson', first);
        const [rejected] = await store.rejected('edge_logs', 10);
        expect(rejected).to.include({ shown_bytes: 5000n, whole: true });
        const size = (await store.ledger()).find(({ source }) => source === 'edge_logs')?.size;
        expect(Number(size)).to.be.above(0);
        const kept = await store.rejectedLine(String(rejected?.id));
        expect(kept?.line.toString()).to.equal(line);
        expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
        write('edge_logs/a.ndjson', '{"id":"2"}\n');
        const counted = {
          lines: 3,
          rows: 2,
          rejected: 1,
          removed: 0,
          removed_rejected: 0,
          stored: 2,
        };
        await lines(3);
        // The counters and the stored rows are queried one after the other.
        await eventually(async () => expect(await ledger()).to.include(counted));
      });
    }));

  it('refuses a database of a newer version, names both versions, and leaves it as it is', () =>
    withFolder(async (data) => {
      // The newer version is this one with one more migration.
      const sql = join(data, 'sql');
      cpSync(join(ROOT, 'sql'), sql, { recursive: true });
      const known = readdirSync(join(sql, 'schema')).length;
      const name = `${String(known + 1).padStart(4, '0')}_newer.sql`;
      writeFileSync(join(sql, 'schema', name), 'create table newer (a integer);\n');
      await withIngest(
        data,
        async ({ write, lines }) => {
          write('edge_logs/a.ndjson', '{"id":"1"}\n');
          await lines(1);
        },
        { sql },
      );
      for (let round = 0; round < 2; round++) {
        const error = await thrown(withStore(data, async () => {}));
        expect(error.message).to.match(new RegExp(`version ${known + 1}\\b.*\\b${known}\\b`));
        expect(error.message).to.match(/newer/);
      }
      await withIngest(data, async ({ lines }) => void (await lines(1)), { sql });
    }));

  it('refuses a file that is not a database, and leaves it as it is', () =>
    withFolder(async (data) => {
      mkdirSync(join(data, 'store'), { recursive: true });
      writeFileSync(join(data, 'store', 'tailpond.duckdb'), 'this is not a database'.repeat(1000));
      await thrown(withStore(data, async () => {}));
      // This does not keep another store from opening.
      await withStore(join(data, 'other'), async (store) => {
        expect((await ask(store, 'select 1')).rows).to.deep.equal([[1]]);
      });
    }));
});

describe('a query that ends early', () => {
  it(`throws the error that ended it, and never returns fewer rows instead ${SLOW}`, () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const sql = `select case when i = 200000 then error('boom') else i::varchar end as x
          from range(220000) t(i)`;
        for (let run = 0; run < 3; run++) {
          const ended = await store.query(sql, {}, { maxRows: Infinity }).then(
            ({ rows }) => `${rows.length} rows`,
            () => 'an error',
          );
          expect(ended).to.equal('an error');
        }
      }),
    ));

  it('says so when its time is over', () =>
    withFolder((data) =>
      withStore(
        data,
        async (store) => {
          const sql = 'select md5(i::varchar) as x from range(100000000) t(i)';
          for (let run = 0; run < 5; run++) {
            const ended = await store.query(sql, {}, { maxRows: Infinity }).then(
              ({ rows }) => `${rows.length} rows`,
              (error: { code?: string }) => error.code,
            );
            expect(ended).to.equal('QUERY_TIMEOUT');
          }
        },
        { queryTimeoutMs: 300 },
      ),
    ));
});
