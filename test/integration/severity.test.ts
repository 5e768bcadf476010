import { appendFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { SEVERITY_WORDS } from '../../server/lines/index.ts';
import { withFolder, withIngest, withStore } from '../support/helpers.ts';

/** More than a run that is settled at once. */
const ROWS = 33_000;
const COUNTS =
  "select severity, status, count(*)::int, count(*) filter (id = 'r' || (metadata ->> '$.n'))::int from edge_logs group by all order by all";
const ALL = { maxRows: 20 };

describe('severity and status', () => {
  it('are filled in rows that an earlier version stored, and stay as they are in others', () =>
    withFolder(async (data) => {
      const sql = join(data, 'sql');
      cpSync(join(ROOT, 'sql'), sql, { recursive: true });
      for (const name of readdirSync(join(sql, 'schema')))
        if (name > '0005') rmSync(join(sql, 'schema', name));
      writeFileSync(join(sql, 'source', 'table.sql'), 'select 1');
      appendFileSync(
        join(sql, 'schema', '0004_file_states.sql'),
        `insert into edge_logs by name
          select
            'r' || n as id,
            timestamp '2026-11-20 10:00:00' - to_seconds(n) as timestamp,
            'p' || n % 3 as project,
            'm' as event_message,
            ('{"n":' || n || ',"response":{"status_code":' || (case when n % 100 = 0 then 500 else 200 end) || '}}')::json as metadata,
            timestamp '2026-11-20 10:00:00' as ingested_at
          from range(${ROWS}) as r(n);
          update ledger set lines = ${ROWS}, rows = ${ROWS} where source = 'edge_logs';`,
      );
      await withStore(data, async () => {}, { sql });
      await withIngest(data, async ({ store, write, lines }) => {
        const counted = async () => (await store.query(COUNTS, {}, ALL)).rows;
        expect(await counted()).to.deep.equal([[null, null, ROWS, ROWS]]);
        const beside =
          '{"id":"r-1","level":"fatal","event_message":"m","timestamp":"2026-11-20T10:00:00Z","metadata":{"n":-1}}\n';
        write('edge_logs/a.log', beside);
        await lines(ROWS + 1);
        const filled = [
          ['error', 500, ROWS / 100, ROWS / 100],
          ['fatal', null, 1, 1],
          ['info', 200, (ROWS / 100) * 99, (ROWS / 100) * 99],
        ];
        const settled = await store.settling.settle('edge_logs');
        expect(settled).to.include({ rows: 30_720, sorted: true });
        while ((await store.settling.fill('edge_logs', 1)) > 0);
        expect(await counted()).to.deep.equal(filled);
      });
      await withStore(data, async (store) => {
        const generations = await store.query('select max(member_state) from edge_logs', {}, ALL);
        expect(await store.settling.fill('edge_logs', 1)).to.equal(0);
        const after = await store.query('select max(member_state) from edge_logs', {}, ALL);
        expect(after.rows).to.deep.equal(generations.rows);
      });
    }));

  it('are the same before and after rows are settled, whatever stands beside their metadata', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines }) => {
        const cases: [beside: object, metadata: unknown, severity: string | null][] = [
          [{ severity: 'nonsense' }, { level: 'fatal' }, 'fatal'],
          [{ severity: '200' }, { level: 'info' }, 'info'],
          [{ severity: 'nonsense' }, [{ level: 'error' }], 'error'],
          [{ level: 'x' }, { level: 'warn' }, 'warn'],
          [{ severity: '' }, { level: 'warn' }, 'warn'],
          [{ severity: 'error' }, { level: 'info' }, 'error'],
          [{ severity: 'x', status: '503' }, {}, 'error'],
          [{ severity: 'x' }, { level: 'y', severityNumber: 9 }, 'info'],
          [{}, { severity: 'x', level: 'info' }, 'info'],
          [{}, { severity: 'x', level: 'ok' }, 'info'],
          [{}, { level: 400 }, 'error'],
          [{}, { level: 'x', status: '503 Service Unavailable' }, 'error'],
          [{ level: 'x' }, {}, null],
        ];
        const text = cases.map(([beside, metadata], n) => {
          const line = { id: `${n}`, timestamp: '2026-11-20T10:00:00Z', event_message: 'm' };
          return `${JSON.stringify({ ...line, ...beside, metadata })}\n`;
        });
        for (const source of ['auth_logs', 'app_logs'] as const) {
          write(`${source}/a.log`, text.join(''));
          await lines(text.length, source);
          const severities = async () => {
            const sql = `select severity from ${source} order by id::int`;
            return (await store.query(sql, {}, ALL)).rows.map(([severity]) => severity);
          };
          const wanted = cases.map(([, , severity]) => severity);
          expect(await severities(), source).to.deep.equal(wanted);
          while ((await store.settling.fill(source, 1)) > 0);
          expect(await severities(), source).to.deep.equal(wanted);
        }
      }),
    ));

  it('are the same in lines that are stored as they came, and in those that are read', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines }) => {
        const levels = [
          ...Object.values(SEVERITY_WORDS).flat(),
          ...['WARNING', 'Info', 'nonsense', '', '0', '7', '8', '9', '10', '35', '60', '99'],
          ...['100', '250', '600', '999', '1000', '-1', '1.5'],
        ];
        const statuses = [
          '99',
          '100',
          '200',
          '404',
          '599',
          '600',
          '404.0',
          '502 Bad',
          '2000',
          'ok',
        ];
        const metadata = [
          ...levels.map((level) => ({ level })),
          ...levels
            .filter((level) => /^\d+$/.test(level))
            .map((level) => ({ level: Number(level) })),
          ...statuses.map((status) => ({ status })),
          { level: ['error'] },
          { level: null, status: 500 },
        ];
        // The reader orders what stands in metadata, and the scan of SQL what is in Supabase's form.
        const text = metadata.map(
          (each, n) =>
            `${JSON.stringify({ id: `${n}`, timestamp: '2026-11-20T10:00:00Z', event_message: 'm', metadata: each })}\n`,
        );
        const graded = async (source: 'auth_logs' | 'app_logs') => {
          write(`${source}/a.log`, text.join(''));
          await lines(text.length, source);
          const sql = `select metadata::varchar, severity, status from ${source} order by id::int`;
          return (await store.query(sql, {}, { maxRows: text.length })).rows;
        };
        const read = await graded('app_logs');
        expect(await graded('auth_logs')).to.deep.equal(read);
        expect(read.slice(0, 1)).to.deep.equal([['{"level":"trace"}', 'trace', null]]);
        expect(new Set(read.map(([, severity]) => severity)).size).to.equal(7);
      }),
    ));

  it('are found in a record of metadata that is named as a message is', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines }) => {
        const metadata = { log: { level: 'debug', file: 'a.ts' } };
        write('app_logs/a.log', `${JSON.stringify({ event_message: 'm', metadata })}\n`);
        await lines(1, 'app_logs');
        const sql = 'select event_message, severity, metadata::varchar from app_logs';
        const { rows } = await store.query(sql, {}, ALL);
        expect(rows).to.deep.equal([['m', 'debug', JSON.stringify(metadata)]]);
      }),
    ));

  it('are those of a record, which is an object or the first of an array', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines }) => {
        const record = (status_code: unknown) => ({ status_code });
        const cases: [unknown, number | null][] = [
          [{ response: record(503) }, 503],
          [{ response: [record(503), record(200)] }, 503],
          [[{ response: record('503') }], 503],
          [[{ response: [record(503)] }, { response: record(200) }], 503],
          [{ response: [{}, record(503)] }, null],
          [{ response: [[record(503)]] }, null],
          [{ note: 'x:[{', response: 503 }, null],
          [{ response: [], status: 404 }, 404],
          [{ response: record([503]), status: 404 }, 404],
        ];
        const text = cases.map(([metadata], n) =>
          JSON.stringify({
            id: `${n}`,
            timestamp: '2026-11-20T10:00:00Z',
            event_message: 'm',
            metadata,
          }),
        );
        const statuses = async () => {
          const sql = 'select status from edge_logs order by id::int';
          return (await store.query(sql, {}, ALL)).rows.map(([status]) => status);
        };
        write('edge_logs/a.log', `${text.join('\n')}\n`);
        await lines(cases.length, 'edge_logs');
        expect(await statuses()).to.deep.equal(cases.map(([, status]) => status));
      }),
    ));
});
