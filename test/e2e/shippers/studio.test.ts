import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { STRANGE_PROJECT } from '../../caller-sql-oracle/events.ts';
import { OWN } from '../../caller-sql-oracle/own/index.ts';
import { type Failure, replay } from '../../caller-sql-oracle/replay.ts';
import { requestsOf } from '../../caller-sql-oracle/request.ts';
import { withEntries } from '../../caller-sql-oracle/with-entries.ts';
import { whyNoClickHouse, withClickHouse } from '../../clickhouse/server.ts';
import { makeTables } from '../../clickhouse/tables.ts';
import { withFolder } from '../../support/helpers.ts';
import { missing } from '../../support/missing.ts';
import { SLOW } from '../../support/slow.ts';

/** Requests of Supabase Studio, which are another project's and stand beside this one where they are at hand. */
const FOLDER = join(ROOT, '../shared/studio-queries');

describe(`requests in the dialect of Supabase Studio ${SLOW}`, function () {
  this.timeout(300_000);

  it('answer the right rows, or say what is wrong with them', () =>
    withEntries(async (target, events) => {
      const { failures } = await replay(target, OWN, events);
      expect(named(failures)).to.deep.equal([]);
    }));

  it('answer the same when rows are settled', () =>
    withEntries(
      async (target, events) => {
        const { failures } = await replay(target, OWN, events);
        expect(named(failures)).to.deep.equal([]);
      },
      { settled: true },
    ));

  it('are answered whatever values the entries hold', () =>
    withEntries(async (target) => {
      const { failures } = await replay({ ...target, project: STRANGE_PROJECT }, OWN);
      expect(named(failures)).to.deep.equal([]);
    }));

  if (existsSync(FOLDER))
    it('answer the right rows when Studio itself sends them', () =>
      withEntries(async (target, events) => {
        const { failures } = await replay(target, requestsOf(FOLDER), events);
        expect(named(failures)).to.deep.equal([]);
      }));

  if (existsSync(FOLDER))
    it('answer the right rows when Studio itself sends them and rows are settled', () =>
      withEntries(
        async (target, events) => {
          const { failures } = await replay(target, requestsOf(FOLDER), events);
          expect(named(failures)).to.deep.equal([]);
        },
        { settled: true },
      ));

  it('answer the right rows when these are forwarded to ClickHouse', function () {
    // Each of the 476 requests asks ClickHouse in three windows.
    this.timeout(1_200_000);
    const reason = whyNoClickHouse();
    if (reason) return missing(this, 'ClickHouse', reason);
    const requests = existsSync(FOLDER) ? [...requestsOf(FOLDER), ...OWN] : OWN;
    return withFolder((folder) =>
      withClickHouse(folder, async (server) => {
        await makeTables(server);
        await withEntries(
          async (target, events) => {
            const { failures } = await replay(target, requests, events);
            expect(named(failures)).to.deep.equal([]);
            const strange = await replay({ ...target, project: STRANGE_PROJECT }, OWN);
            expect(named(strange.failures)).to.deep.equal([]);
          },
          { clickhouse: server.url },
        );
      }),
    );
  });
});

function named(failures: readonly Failure[]): string[] {
  return failures.map(({ name, message }) => `${name}: ${message}`);
}
