import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { type ClickHouseServer, whyNoClickHouse, withClickHouse } from '../clickhouse/server.ts';
import { makeTables } from '../clickhouse/tables.ts';
import { eventually, type Service, type SpawnOptions, withFolder } from '../support/helpers.ts';
import { type CaseOptions, faultCase, notHere } from './case.ts';
import type { ExpectedLines } from './expected-lines.ts';
import { drop, hasEnded, ledger } from './lines.ts';

/** What the service logs when it could not forward rows. */
export const NOT_FORWARDED = 'rows are not forwarded; it is tried again';

/** The level of log lines that an operator should look at. */
export const WARNING = 40;

/** A shipment in doubt waits for as long as an INSERT may go on, and a request has as long for its answer: 90 s each, perhaps twice. */
export const FORWARDED_MS = 400_000;

/** Registers a case with a ClickHouse that has the tables, and a folder beside it. */
export function clickhouseCase(
  id: string,
  title: string,
  action: (server: ClickHouseServer, folder: string) => Promise<void>,
  options: CaseOptions = {},
  register: typeof faultCase = faultCase,
): void {
  const reason = whyNoClickHouse();
  if (reason) {
    notHere(id, title, reason);
    return;
  }
  register(
    id,
    title,
    () =>
      withFolder((folder) =>
        withClickHouse(join(folder, 'clickhouse'), async (server) => {
          await makeTables(server);
          await action(server, folder);
        }),
      ),
    options,
  );
}

/** Starts the service so that it forwards its rows. */
export function forwarding(url: string): SpawnOptions {
  return { env: { TAILPOND_CLICKHOUSE_URL: url } };
}

/** Drops lines that cannot be packed into less than half. */
export function dropBulky(data: string, expected: ExpectedLines, count = 500): void {
  const line = () => expected.line('edge_logs', randomBytes(500).toString('hex'));
  drop(data, 'edge_logs/a.ndjson', Array.from({ length: count }, line).join(''));
}

/** What the ledger says of `edge_logs`. */
export async function edge(service: Service) {
  const entry = (await ledger(service)).find(({ source }) => source === 'edge_logs');
  if (!entry) throw new Error('the ledger has no entry of edge_logs');
  return entry;
}

/** Waits until every expected row has left the store. Throws when the service ends before. */
export async function forwarded(service: Service, expected: ExpectedLines): Promise<void> {
  await eventually(async () => {
    if (hasEnded(service)) return;
    for (const entry of await ledger(service)) {
      const { rows } = expected.expected(entry.source);
      const told = JSON.stringify([entry, service.log.filter((line) => !line.req).slice(-20)]);
      expect(entry, told).to.include({ rows, forwarded: rows, stored: 0 });
    }
  }, FORWARDED_MS);
  expect(hasEnded(service), 'the service has ended').to.equal(false);
}

/** Rows that are not in ClickHouse once, and those that nobody has written. */
export async function differences(
  { client }: ClickHouseServer,
  expected: readonly ExpectedLines[],
): Promise<string[]> {
  const found: string[] = [];
  for (const source of allSources()) {
    const answer = await client.query({
      query: `select id, count() as times from ${source} group by id`,
      format: 'JSONEachRow',
    });
    const times = new Map(
      (await answer.json<{ id: string; times: string }>()).map((row) => [
        row.id,
        Number(row.times),
      ]),
    );
    const ids = expected.flatMap((each) => each.ids(source));
    for (const id of ids)
      if (times.get(id) !== 1) found.push(`${source} ${id}: ${times.get(id) ?? 0} times`);
    if (times.size > ids.length) found.push(`${source}: ${times.size} ids, of ${ids.length}`);
  }
  return found.slice(0, 10);
}
