import { expect } from 'chai';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import {
  IN_LISTS,
  mapOf,
  nestedRecord,
  ODD_KEYS,
  type OtelEntry,
  otelEntries,
} from '../support/otel-logs.ts';
import { randomOf } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

const PATH = '/api/endpoints/query/logs.all.otel';

/** Runs `action` on an app with entries of several sources. */
function serving(
  action: (served: Served, entries: readonly OtelEntry[]) => Promise<void>,
  count = 120,
): Promise<void> {
  const entries = otelEntries(randomOf(7), count);
  return withFolder((data) =>
    withApp(data, async (served) => {
      for (const source of new Set(entries.map((entry) => entry.source))) {
        const own = entries.filter((entry) => entry.source === source);
        served.write(`${source}/a.ndjson`, own.map(({ line }) => line).join(''));
        await served.lines(own.length, source);
      }
      await action(served, entries);
    }),
  );
}

function ask({ http }: Served, sql: string, parameters: Record<string, string> = {}) {
  return http
    .get(PATH)
    .query({ project: 'p', ...(sql === '' ? {} : { sql }), ...parameters })
    .set('X-API-KEY', TOKEN);
}

/** A text of two characters that is put together with itself again and again. */
function doubled(times: number): string {
  const steps = Array.from({ length: times }, (_, i) => `concat(t${i}, t${i}) as t${i + 1}`);
  return `select 'ab' as t0, ${steps.join(', ')}`;
}

const newestFirst = (entries: readonly OtelEntry[]) =>
  entries.map(({ row }) => row).sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1));

describe('logs.all.otel', () => {
  const all = opened<{ served: Served; entries: readonly OtelEntry[] }>((action) =>
    serving((served, entries) => action({ served, entries })),
  );
  const asking = (
    action: (served: Served, entries: readonly OtelEntry[]) => Promise<void>,
  ): Promise<void> => action(all().served, all().entries);

  it('gives the newest entries of all sources, with attributes as a map of texts', () =>
    asking(async (served, entries) => {
      const { status, body } = await ask(served, '');
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.have.keys('result');
      expect(Object.keys(body.result[0])).to.deep.equal([
        'id',
        'timestamp',
        'event_message',
        'severity_text',
        'source',
        'log_attributes',
      ]);
      expect(body.result).to.deep.equal(newestFirst(entries).slice(0, 100));
    }));

  it('keeps to the project and to the bounds of time, the start exclusive and the end inclusive', () =>
    asking(async (served, entries) => {
      const rows = newestFirst(entries);
      const [start, end] = [rows[90]?.timestamp ?? '', rows[30]?.timestamp ?? ''];
      const sql = 'select id from logs order by timestamp desc';
      const bounds = { iso_timestamp_start: `${start}Z`, iso_timestamp_end: `${end}Z` };
      const { body } = await ask(served, sql, bounds);
      expect(body.result.map(({ id }: { id: string }) => id)).to.deep.equal(
        rows.slice(30, 90).map(({ id }) => id),
      );
      expect((await ask(served, sql, { project: 'q' })).body.result).to.deep.equal([]);
      const all = await ask(served, 'select count() as n from logs', { project: '*' });
      expect(all.body.result).to.deep.equal([{ n: entries.length }]);
    }));

  it('counts what the attributes tell, a missing one being an empty text', () =>
    asking(async (served, entries) => {
      const rows = entries.map(({ row }) => row);
      const status = (row: OtelEntry['row']) =>
        Number(row.log_attributes['response.status_code'] ?? 0);
      const bad = rows.filter((row) => row.source === 'edge_logs' && status(row) >= 400);
      const { body } = await ask(
        served,
        "select count() as n, countIf(log_attributes['parsed.detail'] = '') as none from logs where source = 'edge_logs' and toInt32OrZero(log_attributes['response.status_code']) >= 400",
      );
      expect(body.result).to.deep.equal([{ n: bad.length, none: bad.length }]);
      const hours = new Map<string, number>();
      for (const { timestamp } of rows) {
        const hour = `${timestamp.slice(0, 13)}:00:00`;
        hours.set(hour, (hours.get(hour) ?? 0) + 1);
      }
      const chart = await ask(
        served,
        'select toStartOfHour(timestamp) as timestamp, count() as n from logs group by timestamp order by timestamp',
      );
      expect(chart.body.result).to.deep.equal(
        [...hours].sort().map(([timestamp, n]) => ({ timestamp, n })),
      );
      const keys = new Set(rows.flatMap((row) => Object.keys(row.log_attributes)));
      const known = await ask(
        served,
        'select arrayJoin(mapKeys(log_attributes)) as key from logs group by key order by key',
      );
      expect(known.body.result.map(({ key }: { key: string }) => key)).to.deep.equal(
        [...keys].sort(),
      );
    }));

  it('reads Studio and other clients: names of aliases, brackets, strings with escapes', () =>
    asking(async (served) => {
      const result = async (sql: string) => {
        const { body } = await ask(served, sql);
        expect(body.result, `${sql} ${body.error?.message}`).to.be.an('array');
        return body.result;
      };
      expect(
        await result("select 'it''s \\\\d \\d \\'' as a, `b` from (select 1 as b)"),
      ).to.deep.equal([{ a: "it's \\d \\d '", b: 1 }]);
      expect(await result('select count(*), count() n from logs where 0')).to.deep.equal([
        { 'count()': 0, n: 0 },
      ]);
      expect(
        await result("select log_attributes['nothing'], source from logs order by id limit 1"),
      ).to.have.nested.property("[0].arrayElement(log_attributes, 'nothing')", '');
      expect(
        await result("select 'w' as where, 2 as from from logs group by where, from"),
      ).to.deep.equal([{ where: 'w', from: 2 }]);
      expect(await result('with 5 as five select five + 1 as six')).to.deep.equal([{ six: 6 }]);
    }));

  it('refuses what is not one SELECT of the view, and says what and where', () =>
    asking(async (served) => {
      const refused: [string, RegExp][] = [
        ['select * from logs', /A \* is not allowed/],
        ['select 1 from system.tables', /There is no table "system.tables" here; there are .*logs/],
        ['select id from main.edge_logs', /There is no table "main.edge_logs"/],
        ["select url('http://x')", /There is no function URL here/],
        ['select sleep(3)', /There is no function SLEEP here/],
        ['select file from file(1)', /FROM takes no function but UNNEST/],
        ['drop table logs', /Only SELECT is allowed/],
        ['select 1; select 2', /Only one statement/],
        ['select 1 settings max_threads = 1', /SETTINGS is not supported|Syntax error/],
        ['select 1 format JSON', /FORMAT is not supported|Syntax error/],
        ['select source from logs limit 1 by source', /LIMIT BY is not supported/],
        ['select cast(1 as Array(String))', /There is no type "Array\(String\)" here/],
        ['select log_attributes[1] from logs', /A map takes a name in quotes/],
        ['select arrayJoin(source) from logs', /ARRAYJOIN takes an array, got a string/],
        ['select quantile(2)(length(id)) from logs', /QUANTILE takes a number from 0 to 1/],
        ["select match(id, '(') from logs", /Expected a regular expression/],
        ['select nothing from logs', /Field "nothing" does not exist/],
        ["select id from logs where (id, source) in (('a', 'b', 'c'))", /./],
        [doubled(28), /A text may have 65536 characters/],
      ];
      for (const [sql, reason] of refused) {
        const { status, body } = await ask(served, sql);
        expect([status, body.code], sql).to.deep.equal([400, 'SQL_INVALID']);
        expect(body.error.message, sql).to.match(reason);
      }
    }));

  it('asks any endpoint in any dialect that is named', () =>
    asking(async (served, entries) => {
      const named = (endpoint: string, dialect: string, sql: string) =>
        served.http
          .get(`/api/endpoints/query/${endpoint}`)
          .query({ project: 'p', sql, dialect })
          .set('X-API-KEY', TOKEN);
      const edge = await named('logs.all', 'clickhouse', 'select countIf(1) as n from edge_logs');
      expect(edge.body.result[0].n).to.be.above(0);
      const duck = await named('logs.all.otel', 'duckdb', 'select count(*) as n from logs');
      expect(duck.body.result).to.deep.equal([{ n: entries.length }]);
      const none = await named('logs.all', 'mysql', 'select 1');
      expect(none.body.error.message).to.match(/bigquery, clickhouse, duckdb/);
    }));
});

describe('logs.all.otel, of entries that come', () => {
  it('finds an attribute whichever way its records are nested and its key is written', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const shapes: [unknown, string][] = [
          [{ a: { b_c: 1 } }, '1'],
          [[{ a: [{ b_c: 'x' }] }], 'x'],
          [{ a: [{ b_c: 'in one' }] }, 'in one'],
          [[{ a: { b_c: 'in the other' } }], 'in the other'],
          [{ a: { 'b-c': 'dashed' } }, 'dashed'],
          [{ 'a.b_c': 'dotted' }, 'dotted'],
          [{ a: { b_c: [1, 2] } }, '[1,2]'],
          [{ a: { b_c: {} } }, '{}'],
          [{ a: { b_c: '{"t":1}' } }, '{"t":1}'],
          [{ a: { b_c: '[{' } }, '[{'],
          [{ a: { b_c: 'say "hi" \\ ü' } }, 'say "hi" \\ ü'],
          [{ a: { b_c: null } }, ''],
          [{ a: { b_c: { d: 1 } } }, ''],
          [{ a: { b_c: [{ d: 1 }] } }, ''],
          [{ a: [{ b_c: 1 }, { b_c: 2 }] }, ''],
          [{ a: 7 }, ''],
          [{}, ''],
          [null, ''],
        ];
        served.write(
          'app_logs/a.ndjson',
          shapes
            .map(
              ([metadata], i) =>
                `${JSON.stringify({ id: `${100 + i}`, project: 'p', metadata })}\n`,
            )
            .join(''),
        );
        await served.lines(shapes.length, 'app_logs');
        const { body } = await ask(
          served,
          "select id, log_attributes['a.b_c'] as v, log_attributes as m from logs order by id",
        );
        const rows = body.result as { v: string; m: Record<string, string> }[];
        expect(rows.map(({ v }) => v)).to.deep.equal(shapes.map(([, value]) => value));
        // The map has it by the key that was written, where it has it at all.
        for (const [i, { v, m }] of rows.entries())
          expect(m['a.b_c'] ?? m['a.b-c'] ?? '', String(i)).to.equal(v);
      }),
    ));

  it(`has the same values by name, as keys and values, and as a whole, however they are nested ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const random = randomOf(51);
        const nested = Array.from({ length: 400 }, () => nestedRecord(random));
        const records: unknown[] = [...IN_LISTS, ...nested].map((record) =>
          random.below(2) === 0 ? record : [record],
        );
        const line = (metadata: unknown, i: number) =>
          `${JSON.stringify({ id: `${1000 + i}`, project: 'p', metadata })}\n`;
        served.write('app_logs/a.ndjson', records.map(line).join(''));
        await served.lines(records.length, 'app_logs');
        const rowsOf = async (list: string) => {
          const { status, body } = await ask(served, `select ${list} from logs order by id`);
          expect(status, JSON.stringify(body)).to.equal(200);
          return body.result as Record<string, never>[];
        };
        const expected = records.map((record) => mapOf(record));
        const whole = await rowsOf('log_attributes as m');
        expect(whole.map(({ m }) => m)).to.deep.equal(expected.map(Object.fromEntries));
        const apart = await rowsOf('mapKeys(log_attributes) as k, mapValues(log_attributes) as v');
        expect(apart).to.deep.equal(
          expected.map((map) => ({ k: [...map.keys()], v: [...map.values()] })),
        );
        const plain = (key: string) => key.replaceAll('-', '_');
        // Either of two keys that differ in dashes alone may be found by the name without.
        const names = new Set(expected.flatMap((map) => [...map.keys(), 'a', 'a.b', 'c_d.a.b']));
        for (const name of [...names].filter((each) => each.split('.').length <= 3)) {
          const read = await rowsOf(
            `log_attributes['${name}'] as v, mapContains(log_attributes, '${name}') as h`,
          );
          for (const [i, map] of expected.entries()) {
            const own = map.get(name);
            const isOther = [...map.keys()].some((key) => plain(key) === plain(name));
            if (own === undefined && isOther) continue;
            const text = `${name} of ${JSON.stringify(records[i])}`;
            expect(read[i], text).to.deep.equal({ v: own ?? '', h: Number(own !== undefined) });
          }
        }
      }),
    ));

  it('reads odd keys, tuples and columns that change names', () =>
    serving(async (served, entries) => {
      served.write('app_logs/odd.ndjson', ODD_KEYS.line);
      await served.lines(
        1 + entries.filter(({ source }) => source === 'app_logs').length,
        'app_logs',
      );
      const result = async (sql: string) => {
        const { body } = await ask(served, sql);
        expect(body.result, `${sql} ${body.error?.message}`).to.be.an('array');
        return body.result;
      };
      const { log_attributes: keys } = ODD_KEYS.row;
      const written = (key: string) => `'${key.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`;
      const values = Object.keys(keys).map((key, i) => `log_attributes[${written(key)}] as k${i}`);
      const [row] = await result(`select ${values.join(', ')} from logs where id = 'odd'`);
      expect(Object.values(row)).to.deep.equal(Object.values(keys));
      expect(await result("select log_attributes as m from logs where id = 'odd'")).to.deep.equal([
        { m: keys },
      ]);
      const pairs = "(('app_logs', 'odd'), ('edge_logs', 'odd'))";
      expect(await result(`select id from logs where (source, id) in ${pairs}`)).to.deep.equal([
        { id: 'odd' },
      ]);
      // As a name means the column of the result first, each ends at its own again.
      expect(
        await result("select id as source, source as id from logs where event_message = 'odd'"),
      ).to.deep.equal([{ source: 'app_logs', id: 'odd' }]);
    }));

  it('is for the entries of a pinned project alone, redacted where that is asked for', () =>
    serving(async (served) => {
      served.write(
        'app_logs/b.ndjson',
        '{"id":"x","project":"q","event_message":"from 192.0.2.7","metadata":{"ip":"192.0.2.7"}}\n',
      );
      await served.lines(1, 'app_logs');
      const { body } = await ask(
        served,
        "select event_message, log_attributes from logs where id = 'x'",
        {
          project: 'q',
        },
      ).set('LF-ENDPOINT-REDACT-PII', 'true');
      expect(body.result).to.deep.equal([
        { event_message: 'from REDACTED', log_attributes: { ip: 'REDACTED' } },
      ]);
    }, 0));
});
