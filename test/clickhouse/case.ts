import { join } from 'node:path';
import { withFolder } from '../support/helpers.ts';
import { missing } from '../support/missing.ts';
import { SLOW } from '../support/slow.ts';
import { type ClickHouseServer, whyNoClickHouse, withClickHouse } from './server.ts';
import { makeTables } from './tables.ts';

const LONGEST_MS = 300_000;

/** A slow test with a ClickHouse that has the tables, and a folder beside it; it is skipped by name where there can be none. */
export function clickhouseIt(
  title: string,
  action: (server: ClickHouseServer, folder: string) => Promise<void>,
  /** More of the server's configuration; files for it may stand in the folder. */
  { config }: { readonly config?: (folder: string) => string } = {},
): void {
  it(`${title} ${SLOW}`, async function () {
    this.timeout(LONGEST_MS);
    const reason = whyNoClickHouse();
    if (reason) return missing(this, 'ClickHouse', reason);
    await withFolder((folder) =>
      withClickHouse(
        join(folder, 'clickhouse'),
        async (server) => {
          await makeTables(server);
          await action(server, folder);
        },
        config ? { config: config(folder) } : {},
      ),
    );
  });
}
