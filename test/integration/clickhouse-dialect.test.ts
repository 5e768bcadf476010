import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { clickhouseSuite } from '../clickhouse/case.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { LONG } from '../faults/case.ts';
import { CORNERS, STATEMENTS_OF_CLIENTS } from '../support/clickhouse-statements.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { ODD_KEYS, type OtelEntry, otelEntries, otelStatement } from '../support/otel-logs.ts';
import { randomOf } from '../support/random.ts';
import { SAMPLE_SEED, sampleOf } from '../support/sample.ts';

const ENTRIES = 500;
/** The random statements are the same each time; the long form has more of them. */
const STATEMENTS = LONG ? 250 : 40;
/** One of so many statements is asked again, when rows are settled. */
const SAMPLE = LONG ? 1 : 2;

async function ownAnswer({ http }: Served, sql: string): Promise<string[]> {
  const { status, body } = await http
    .post('/api/endpoints/query/logs.all.otel')
    .set('X-API-KEY', TOKEN)
    .send({ project: 'p', sql });
  expect(status, `${sql}\n${body.error?.message}`).to.equal(200);
  return linesOf(body.result.map((row: object) => Object.values(row)));
}

async function engineAnswer({ client }: ClickHouseServer, sql: string): Promise<string[]> {
  const result = await client.query({
    query: sql.replace(/;\s*$/, ''),
    format: 'JSONCompact',
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      session_timezone: 'UTC',
      date_time_output_format: 'iso',
    },
  });
  const { data } = (await result.json()) as { data: unknown[][] };
  return linesOf(data.slice(0, 1000));
}

/** Values are compared, rather than how they are written. */
function linesOf(rows: readonly (readonly unknown[])[]): string[] {
  return rows.map((row) => JSON.stringify(row.map(comparable))).sort();
}

/** Moments are written with a Z by the engine, texts of moments with a blank, and doubles with digits that depend on the order of a sum. */
function comparable(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9));
  if (typeof value === 'string')
    return value.replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)Z?$/, '$1T$2');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, each]) => [name, comparable(each)]));
}

async function store(served: Served, entries: readonly OtelEntry[]) {
  for (const source of new Set(entries.map((entry) => entry.source))) {
    const own = entries.filter((entry) => entry.source === source);
    served.write(`${source}/a.ndjson`, own.map(({ line }) => line).join(''));
    await served.lines(own.length, source);
  }
}

clickhouseSuite("SQL in ClickHouse's dialect has the answers of the engine", (shared) => {
  const served = opened<Served>((action) =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const entries = [...otelEntries(randomOf(31), ENTRIES), ODD_KEYS];
        const { client } = shared().server;
        await client.command({
          query: `create table logs (id String, timestamp DateTime64(6, 'UTC'), event_message String, severity_text String, source String, log_attributes Map(String, String)) engine = MergeTree order by timestamp`,
        });
        const values = entries.map(({ row }) => row);
        await client.insert({ table: 'logs', values, format: 'JSONEachRow' });
        await store(served, entries);
        await action(served);
      }),
    ),
  );
  const random = randomOf(32);
  const sets: readonly (readonly [title: string, statements: readonly string[]])[] = [
    ['statements of clients', STATEMENTS_OF_CLIENTS],
    ['corners of the dialect', CORNERS],
    ['random statements', Array.from({ length: STATEMENTS }, () => otelStatement(random))],
  ];
  const check = async (statements: readonly string[]) => {
    let rows = 0;
    for (const sql of statements) {
      const theirs = await engineAnswer(shared().server, sql);
      rows += theirs.length;
      expect(await ownAnswer(served(), sql), sql).to.deep.equal(theirs);
    }
    // Answers without rows would all be the same.
    expect(rows).to.be.above(2 * statements.length);
  };

  for (const [title, statements] of sets)
    it(`to ${title}, from rows as they came`, () => check(statements));

  describe(`from settled rows, TAILPOND_TEST_SEED=${SAMPLE_SEED}`, () => {
    before(async () => {
      for (const source of allSources()) await served().store.settling.settle(source, 1);
    });

    for (const [title, statements] of sets)
      it(`to ${title}`, () => check(sampleOf(statements, SAMPLE)));
  });
});
