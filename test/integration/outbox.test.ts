import { existsSync, rmSync, truncateSync } from 'node:fs';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import { ShipmentMismatch } from '../../server/store/index.ts';
import { type Ingesting, keep, unlimited, withFolder, withIngest } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const ENDPOINT = 'http://127.0.0.1:8123';
const DAY_MS = 24 * 3_600_000;
const MANY = 200_000;
const { signal } = new AbortController();

describe('the outbox of a store', () => {
  it('gives the oldest rows in numbered shipments, and removes them once they are settled', () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines, ledger, rows }) => {
        const outbox = await store.outbox();
        expect(await outbox.cut('edge_logs', ENDPOINT, signal)).to.equal(null);
        write('edge_logs/a.ndjson', numbered(0, 3));
        await lines(3);
        const first = await outbox.cut('edge_logs', ENDPOINT, signal);
        expect(first?.hasMore).to.equal(false);
        expect(first?.shipment).to.include({ source: 'edge_logs', seq: 1, rows: 3 });
        expect(first?.shipment).to.include({ node: outbox.node, endpoint: ENDPOINT });
        // What comes after it was cut is not of it.
        write('edge_logs/a.ndjson', numbered(3, 5));
        await lines(5);
        expect(await outbox.open('edge_logs')).to.include(first?.shipment);
        if (first) await outbox.settle(first.shipment);
        expect(await outbox.open('edge_logs')).to.equal(null);
        expect(await outbox.last('edge_logs')).to.equal(1);
        expect((await rows()).map(({ id }) => id)).to.deep.equal(['3', '4']);
        expect(await ledger()).to.include({ rows: 5, stored: 2, forwarded: 3, removed: 0 });
        const second = await outbox.cut('edge_logs', ENDPOINT, signal);
        expect(second?.shipment).to.include({ seq: 2, rows: 2 });
        expect((await store.inspect(signal)).faults).to.deep.equal([]);
      }),
    ));

  it('has rows of one day, and of so many bytes, in a shipment', () =>
    withFolder((data) => {
      let nowMs = Date.UTC(2026, 10, 25, 23, 59);
      const storeClock = { now: () => nowMs, monotonic: () => performance.now() };
      return withIngest(
        data,
        async (ingesting) => {
          const { store, write, lines } = ingesting;
          const outbox = await store.outbox();
          write('edge_logs/a.ndjson', numbered(0, 2));
          await lines(2);
          nowMs += 5 * 60_000;
          write('edge_logs/a.ndjson', numbered(2, 5));
          await lines(5);
          // More than 32 MiB.
          write('edge_logs/a.ndjson', numbered(5, 2505, 'x'.repeat(16_000)));
          await lines(2505);
          const cuts = await forwardAll(ingesting, outbox);
          expect(cuts[0]).to.deep.equal({ day: '2026-11-25', rows: 2, hasMore: true });
          expect(cuts.slice(1).map(({ day, hasMore }) => [day, hasMore])).to.deep.equal([
            ['2026-11-26', true],
            ['2026-11-26', false],
          ]);
          expect(cuts.reduce((sum, { rows }) => sum + rows, 0)).to.equal(2505);
        },
        { storeClock },
      );
    }));

  it('makes a file anew that is lost or torn, also after a restart', () =>
    withFolder(async (data) => {
      await withIngest(data, async ({ store, write, lines }) => {
        write('edge_logs/a.ndjson', numbered(0, 100));
        await lines(100);
        const outbox = await store.outbox();
        const cut = await outbox.cut('edge_logs', ENDPOINT, signal);
        if (!cut) throw new Error('nothing was cut');
        const file = await outbox.file(cut.shipment, signal);
        truncateSync(file.path, 100);
        write('edge_logs/a.ndjson', numbered(100, 200));
        await lines(200);
        expect(await outbox.file(cut.shipment, signal)).to.deep.equal(file);
        rmSync(file.path);
      });
      await withIngest(data, async ({ store }) => {
        const outbox = await store.outbox();
        const open = await outbox.open('edge_logs');
        if (!open) throw new Error('no shipment is open');
        const file = await outbox.file(open, signal);
        expect(existsSync(file.path)).to.equal(true);
        await outbox.mark(open, file);
        expect((await outbox.open('edge_logs'))?.sha256).to.equal(file.sha256);
        await outbox.settle(open);
        expect(existsSync(file.path)).to.equal(false);
      });
    }));

  it('removes nothing where the oldest rows are no longer those of the shipment', () =>
    withFolder((data) => {
      let nowMs = Date.now() - 3 * DAY_MS;
      const storeClock = { now: () => nowMs, monotonic: () => performance.now() + nowMs };
      return withIngest(
        data,
        async ({ store, write, lines, ledger }) => {
          write('edge_logs/a.ndjson', numbered(0, 10));
          await lines(10);
          const outbox = await store.outbox();
          const cut = await outbox.cut('edge_logs', ENDPOINT, signal);
          if (!cut) throw new Error('nothing was cut');
          // What retention believes of the time begins here.
          await store.retention.run(unlimited());
          nowMs += 3 * DAY_MS;
          // As if it were not known that rows are to be forwarded.
          await store.retention.run(keep(DAY_MS));
          write('edge_logs/a.ndjson', numbered(10, 30));
          await lines(30);
          const failure = await outbox.settle(cut.shipment).catch((error: unknown) => error);
          expect(failure).to.be.instanceOf(ShipmentMismatch);
          // Nor is its file made anew of the rows that stand there now.
          rmSync((await outbox.file(cut.shipment, signal)).path);
          const other = await outbox.file(cut.shipment, signal).catch((error: unknown) => error);
          expect(other).to.be.instanceOf(ShipmentMismatch);
          expect(await ledger()).to.include({ removed: 10, stored: 20, forwarded: 0 });
        },
        { storeClock },
      );
    }));

  it(`has the oldest rows while checkpoints move rows to the places of those that are gone ${SLOW}`, () =>
    withFolder((data) =>
      withIngest(data, async ({ store, write, lines, ledger }) => {
        write('edge_logs/a.ndjson', numbered(0, MANY, 'x'.repeat(1000)));
        await lines(MANY);
        const outbox = await store.outbox();
        const shipped: number[] = [];
        // Beyond its size the store is written back, and no row may go.
        const limits = { ...unlimited(), maxBytes: 1, rowsStay: true };
        for (;;) {
          const [cut] = await Promise.all([
            outbox.cut('edge_logs', ENDPOINT, signal),
            store.retention.run(limits),
          ]);
          if (!cut) break;
          await outbox.settle(cut.shipment);
          shipped.push(cut.shipment.rows);
        }
        expect(shipped.length).to.be.above(3);
        expect(await ledger()).to.include({ rows: MANY, stored: 0, forwarded: MANY });
      }),
    ));

  it('keeps rows from retention that are to be forwarded', () =>
    withFolder((data) => {
      let nowMs = Date.now() - 3 * DAY_MS;
      const storeClock = { now: () => nowMs, monotonic: () => performance.now() + nowMs };
      return withIngest(
        data,
        async ({ store, write, lines, ledger }) => {
          write('edge_logs/a.ndjson', `${numbered(0, 10)}no object\n`);
          await lines(11);
          await store.retention.run(unlimited());
          nowMs += 3 * DAY_MS;
          await store.retention.run({ ...keep(DAY_MS), rowsStay: true });
          expect(await ledger()).to.include({ stored: 10, removed: 0, removed_rejected: 1 });
        },
        { storeClock },
      );
    }));
});

/** Lines with their numbers as ids. */
function numbered(from: number, until: number, text = ''): string {
  return Array.from(
    { length: until - from },
    (_, i) =>
      `${JSON.stringify({ id: String(from + i), timestamp: '2026-11-25T10:00:00Z', project: 'p', event_message: text, metadata: {} })}\n`,
  ).join('');
}

/** Cuts and settles until nothing is left, and tells of each shipment. */
async function forwardAll(
  { store }: Ingesting,
  outbox: Awaited<ReturnType<Ingesting['store']['outbox']>>,
) {
  const cuts: { day: string; rows: number; hasMore: boolean }[] = [];
  for (const source of allSources())
    for (;;) {
      const cut = await outbox.cut(source, ENDPOINT, signal);
      if (!cut) break;
      await outbox.settle(cut.shipment);
      const { day, rows } = cut.shipment;
      cuts.push({ day, rows, hasMore: cut.hasMore });
    }
  expect((await store.inspect(signal)).faults).to.deep.equal([]);
  return cuts;
}
