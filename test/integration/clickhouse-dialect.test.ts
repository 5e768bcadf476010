import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { clickhouseIt } from '../clickhouse/case.ts';
import type { ClickHouseServer } from '../clickhouse/server.ts';
import { LONG } from '../faults/case.ts';
import { CORNERS, STATEMENTS_OF_CLIENTS } from '../support/clickhouse-statements.ts';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { ODD_KEYS, type OtelEntry, otelEntries, otelStatement } from '../support/otel-logs.ts';
import { randomOf } from '../support/random.ts';

const ENTRIES = 500;
/** The random statements are the same each time; the long form has more of them. */
const STATEMENTS = LONG ? 250 : 80;

/** Asks the service, and the engine itself, of which values are compared rather than how they are written. */
async function answersOf(
  { http }: Served,
  { client }: ClickHouseServer,
  sql: string,
): Promise<{ readonly ours: string[]; readonly theirs: string[] }> {
  const { status, body } = await http
    .post('/api/endpoints/query/logs.all.otel')
    .set('X-API-KEY', TOKEN)
    .send({ project: 'p', sql });
  expect(status, `${sql}\n${body.error?.message}`).to.equal(200);
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
  const lines = (rows: readonly (readonly unknown[])[]) =>
    rows.map((row) => JSON.stringify(row.map(comparable))).sort();
  return {
    ours: lines(body.result.map((row: object) => Object.values(row))),
    theirs: lines(data.slice(0, 1000)),
  };
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

describe("SQL in ClickHouse's dialect", () => {
  clickhouseIt(
    'has the answers of the engine, from rows as they came and from settled ones',
    async (server) => {
      const entries = [...otelEntries(randomOf(31), ENTRIES), ODD_KEYS];
      await server.client.command({
        query: `create table logs (id String, timestamp DateTime64(6, 'UTC'), event_message String, severity_text String, source String, log_attributes Map(String, String)) engine = MergeTree order by timestamp`,
      });
      const values = entries.map(({ row }) => row);
      await server.client.insert({ table: 'logs', values, format: 'JSONEachRow' });
      await withFolder((data) =>
        withApp(data, async (served) => {
          await store(served, entries);
          const random = randomOf(32);
          const statements = [
            ...STATEMENTS_OF_CLIENTS,
            ...CORNERS,
            ...Array.from({ length: STATEMENTS }, () => otelStatement(random)),
          ];
          let rows = 0;
          const check = async (state: string) => {
            for (const sql of statements) {
              const { ours, theirs } = await answersOf(served, server, sql);
              rows += theirs.length;
              expect(ours, `${state}: ${sql}`).to.deep.equal(theirs);
            }
          };
          await check('as they came');
          expect(rows).to.be.above(10 * statements.length);
          for (const source of allSources()) await served.store.settling.settle(source, 1);
          await check('settled');
        }),
      );
    },
  );
});
