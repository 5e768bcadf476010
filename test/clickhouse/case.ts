import { join } from 'node:path';
import { withFolder } from '../support/helpers.ts';
import { missing } from '../support/missing.ts';
import { opened } from '../support/opened.ts';
import { SLOW } from '../support/slow.ts';
import { type ClickHouseServer, whyNoClickHouse, withClickHouse } from './server.ts';
import { makeTables } from './tables.ts';

const LONGEST_MS = 300_000;

interface OwnOptions {
  /** More of the server's configuration; files for it may stand in the folder. */
  readonly config?: (folder: string) => string;
}

/** A ClickHouse that has the tables, and a folder beside it. */
export interface OwnClickHouse {
  readonly server: ClickHouseServer;
  readonly folder: string;
}

/** A slow test with a ClickHouse that has the tables, and a folder beside it; it is skipped by name where there can be none. */
export function clickhouseIt(
  title: string,
  action: (server: ClickHouseServer, folder: string) => Promise<void>,
  options: OwnOptions = {},
): void {
  it(`${title} ${SLOW}`, async function () {
    this.timeout(LONGEST_MS);
    const reason = whyNoClickHouse();
    if (reason) return missing(this, 'ClickHouse', reason);
    await withOwn(options, ({ server, folder }) => action(server, folder));
  });
}

/** A suite of slow tests that share a ClickHouse: each leaves its tables and its configuration as the next one expects them. */
export function clickhouseSuite(
  title: string,
  tests: (shared: () => OwnClickHouse) => void,
  options: OwnOptions = {},
): void {
  describe(`${title} ${SLOW}`, function () {
    this.timeout(LONGEST_MS);
    const reason = whyNoClickHouse();
    if (reason)
      before(function () {
        missing(this, 'ClickHouse', reason);
      });
    tests(opened<OwnClickHouse>((action) => withOwn(options, action)));
  });
}

function withOwn(
  { config }: OwnOptions,
  action: (own: OwnClickHouse) => Promise<void>,
): Promise<void> {
  return withFolder((folder) =>
    withClickHouse(
      join(folder, 'clickhouse'),
      async (server) => {
        await makeTables(server);
        await action({ server, folder });
      },
      config ? { config: config(folder) } : {},
    ),
  );
}
