import { schemaStatements } from '../../server/clickhouse/schema.ts';
import { readConfig } from '../../server/config/config.ts';
import { membersOf } from '../../server/config/members.ts';
import type { ClickHouseServer } from './server.ts';

const MEMBERS = membersOf(readConfig({}).config);

/** Makes the tables of one server, as an operator does. */
export async function makeTables({ client }: ClickHouseServer): Promise<void> {
  for (const query of schemaStatements({
    cluster: null,
    replicated: false,
    days: 30,
    members: MEMBERS,
  }))
    await client.command({ query });
}

/** Makes the tables of a server that is a shard of `pond`, without what spreads statements over a cluster. */
export async function makeShardTables({ client }: ClickHouseServer): Promise<void> {
  for (const query of schemaStatements({
    cluster: 'pond',
    replicated: false,
    days: 30,
    members: MEMBERS,
  }))
    await client.command({ query: query.replace('on cluster `pond`', '') });
}
