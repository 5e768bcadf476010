import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FileState, Source } from '../../ingest/index.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { startRetention } from '../../server/retention-job.ts';
import type { LedgerEntry, Removal } from '../../server/store/index.ts';
import { readBlocks } from '../e2e/docs/markdown.ts';
import { LONG } from '../faults/case.ts';
import { fakeClock } from '../support/fake-clock.ts';
import {
  eventually,
  keep,
  size,
  spawnService,
  type TestStore,
  unlimited,
  withApp,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import {
  append,
  DAY,
  HOUR,
  type SimulatedClock,
  simulatedClock,
} from '../support/simulated-store.ts';
import { SLOW } from '../support/slow.ts';

const ROW_GROUP = 30_720;

describe('retention', function () {
  this.timeout(600_000);

  it('removes rows and rejected lines of each source by its age, and the ledger says so', () =>
    withSimulated(async (store, clock) => {
      for (let day = 0; day < 3; day++) {
        await append(store, 'edge_logs', 100, { from: day * 100, rejected: 7 });
        await append(store, 'auth_logs', 50, { from: day * 50, rejected: 3 });
        await append(store, 'realtime_logs', 10, { from: day * 10 });
        clock.advance(DAY);
      }
      // The lines are 3, 2 and 1 days old.
      const limits = keep(1.5 * DAY, { auth_logs: 12 * HOUR, realtime_logs: Infinity });
      const removed = total(await store.retention.run(limits));
      expect(removed).to.deep.equal({
        'edge_logs rows': 200,
        'edge_logs rejected': 14,
        'auth_logs rows': 150,
        'auth_logs rejected': 9,
      });
      expect(await ids(store, 'edge_logs')).to.deep.equal([200, 299]);
      expect((await ledger(store, 'auth_logs')).oldest_ingested).to.equal(null);
      expect(await ids(store, 'realtime_logs')).to.deep.equal([0, 29]);
      const entry = await ledger(store, 'edge_logs');
      expect(entry).to.include({
        lines: 321,
        rows: 300,
        rejected: 21,
        removed: 200,
        removed_rejected: 14,
        stored: 100,
        oldest_ingested: '2026-03-03T00:00:00Z',
      });
      expect(await store.rejected('edge_logs', 1000)).to.have.length(7);
      await invariant(store);
      expect(await store.retention.run(limits)).to.deep.equal([]);
    }));

  it('removes rows by their age that were put in another order, and no younger ones', () =>
    withSimulated(async (store, clock) => {
      for (let day = 0; day < 3; day++) {
        await append(store, 'edge_logs', 4000, { from: day * 4000 });
        clock.advance(DAY);
      }
      const settled = await store.settling.settle('edge_logs', 12_000);
      expect(settled).to.deep.equal({ source: 'edge_logs', rows: 12_000, sorted: true });
      // Behind them, and not sorted.
      await append(store, 'edge_logs', 10, { from: 12_000 });
      const removed = total(await store.retention.run(keep(1.5 * DAY)));
      expect(removed).to.deep.equal({ 'edge_logs rows': 8000 });
      expect(await ids(store, 'edge_logs')).to.deep.equal([8000, 12_009]);
      await invariant(store);
      expect(await filters(store)).to.equal(1);
      clock.advance(3 * DAY);
      await store.retention.run(keep(1.5 * DAY));
      expect(await filters(store)).to.equal(0);
      await invariant(store);
    }));

  it(`keeps the filter of each of many settled runs, and removes it with its rows ${SLOW}`, () =>
    withSimulated(async (store, clock) => {
      // The newest 32 filters have a table of their own: there are some in both, also when ten are left.
      const RUNS = LONG ? 70 : 36;
      for (let run = 0; run < RUNS; run++) {
        await append(store, 'edge_logs', 3, { from: run * 3 });
        await store.settling.settle('edge_logs', 1);
        clock.advance(HOUR);
      }
      const { rows: first } = await store.query(
        'select event_message from edge_logs where id::int % 3 = 0 order by id::int',
        {},
        { maxRows: RUNS },
      );
      const texts = first.map(([text]) => String(text));
      expect(texts).to.have.length(RUNS);
      /** How many blocks may have a text, and how many rows that have it stand there. */
      const found = async (text: string) => {
        const condition = await store.mayHave('edge_logs', [{ text, escaped: false }]);
        const { rows } = await store.query(
          `select count(distinct text_block), count(*) filter (event_message = $text::varchar)
            from edge_logs where ${condition}`,
          { text },
          { maxRows: 1 },
        );
        return rows[0]?.map(Number) as [number, number];
      };
      // All that stay, the last one that goes, and one of five others.
      const asked = [...texts.entries()].filter(([run]) => run % 5 === 0 || run >= RUNS - 11);
      for (const [, text] of asked) {
        const [blocks, rows] = await found(text);
        expect(blocks).to.be.within(1, RUNS / 4);
        expect(rows).to.equal(1);
      }
      await store.retention.run(keep(10.5 * HOUR));
      expect(await ids(store, 'edge_logs')).to.deep.equal([3 * RUNS - 30, 3 * RUNS - 1]);
      expect(await filters(store)).to.equal(10);
      for (const [run, text] of asked)
        expect((await found(text))[1], text).to.equal(run < RUNS - 10 ? 0 : 1);
      await store.settling.settle('edge_logs', 1);
      expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
      await invariant(store);
    }));

  it('leaves the ledger right, which reads what was added since, when row groups before that are gone', () =>
    withSimulated(async (store, clock) => {
      let from = 0;
      const add = async (count: number) => {
        await append(store, 'edge_logs', count, { from });
        from += count;
        clock.advance(DAY);
      };
      const check = async (rows: number) => {
        const { rows: found } = await store.query(
          'select count(*), min(timestamp), max(timestamp), min(ingested_at) from edge_logs',
          {},
          { maxRows: 1 },
        );
        const { stored, oldest, newest, oldest_ingested } = await ledger(store, 'edge_logs');
        expect([stored, oldest, newest, oldest_ingested]).to.deep.equal([
          Number(found[0]?.[0]),
          ...(found[0]?.slice(1) ?? []),
        ]);
        expect(stored).to.equal(rows);
      };
      await add(ROW_GROUP);
      await check(ROW_GROUP);
      await add(ROW_GROUP);
      await add(500);
      await check(2 * ROW_GROUP + 500);
      // The rows behind take the places of those that are removed, and as many are added as are gone.
      expect(total(await store.retention.run(keep(2.5 * DAY)))).to.deep.equal({
        'edge_logs rows': ROW_GROUP,
      });
      await add(ROW_GROUP);
      await check(2 * ROW_GROUP + 500);
      await add(7);
      await check(2 * ROW_GROUP + 507);
      await store.retention.run(keep(0));
      await check(0);
      await add(3);
      await check(3);
    }));

  for (const [name, set] of [
    ['amid them', [0, -HOUR]],
    ['before all of them', [HOUR, 0, 0]],
    ['to a time to come', [0, 400 * DAY]],
  ] as const)
    it(`does not put rows in order of which some were stored by a clock that was wrong: ${name}`, () =>
      withSimulated(async (store, clock) => {
        const start = clock.now();
        const counts = { 'before all of them': [40_000, 2000, 2000] }[name as string] ?? [
          2000, 2000,
        ];
        let from = 0;
        for (const [i, count] of counts.entries()) {
          clock.set(start + (set[i] ?? 0));
          await append(store, 'edge_logs', count, { from });
          from += count;
        }
        clock.set(start);
        const sorted: boolean[] = [];
        for (let run = await store.settling.settle('edge_logs', 1); run; ) {
          sorted.push(run.sorted);
          run = await store.settling.settle('edge_logs', 1);
        }
        // The first run of the second case was stored by a clock that was ahead.
        expect(sorted, String(sorted)).to.not.include(true);
      }));

  it('removes long rejected lines completely, and counts all their bytes', () =>
    withSimulated(async (store, clock) => {
      const restOf = async () => {
        const { rows } = await store.query(
          'select count(distinct "offset"), count(*) from rejected_rest',
          {},
          { maxRows: 1 },
        );
        return rows[0]?.map(Number);
      };
      for (let day = 0; day < 2; day++) {
        await append(store, 'edge_logs', 1, { from: day, rejected: 40, rejectedBytes: 500_000 });
        clock.advance(DAY);
      }
      await append(store, 'auth_logs', 1, { rejected: 2, rejectedBytes: 4097 });
      const faults = async () => (await store.inspect(new AbortController().signal)).faults;
      expect(await faults()).to.deep.equal([]);
      expect(await restOf()).to.deep.equal([40, 80 * 122 + 2]);
      clock.advance(61_000);
      expect((await ledger(store, 'edge_logs')).size).to.be.within(39e6, 45e6);
      // An expired part of a row group goes when it is a day older.
      const removed = total(await store.retention.run(keep(1.02 * DAY)));
      expect(removed['edge_logs rejected']).to.equal(40);
      expect(await restOf()).to.deep.equal([40, 40 * 122 + 2]);
      expect(await faults()).to.deep.equal([]);
      await invariant(store);
    }));

  it(`removes a row at most a day after it reaches its age, and never before ${SLOW}`, () =>
    withSimulated(async (store, clock) => {
      const limits = keep(2 * DAY);
      // Rows are removed after three and four days, and each day then.
      const [hours, step] = LONG ? [192, 2] : [108, 6];
      for (let hour = 0; hour < hours; hour += step) {
        await append(store, 'auth_logs', 5, { from: hour * 5 });
        await store.retention.run(limits);
        const { oldest_ingested } = await ledger(store, 'auth_logs');
        const age = clock.now() - Date.parse(oldest_ingested ?? '');
        expect(age).to.be.at.most(3 * DAY);
        if (hour >= 48) expect(age).to.be.at.least(2 * DAY);
        clock.advance(step * HOUR);
      }
      // More than the first of these days takes.
      expect((await ledger(store, 'auth_logs')).removed).to.be.greaterThan((5 * 25) / step);
    }));

  it('removes the oldest row groups above the size, gives their blocks back, and keeps the newest hour', () =>
    withSimulated(async (store, clock) => {
      for (let i = 0; i < 4; i++) {
        await append(store, i % 2 ? 'auth_logs' : 'edge_logs', ROW_GROUP, { from: i * ROW_GROUP });
        if (i < 3) clock.advance(HOUR);
      }
      await append(store, 'auth_logs', ROW_GROUP, { from: 4 * ROW_GROUP });
      await settle(store, clock);
      const before = await blocks(store);
      const perGroup = before.used / 5;

      const removed = await store.retention.run(size(before.used - perGroup * 1.5));
      expect(total(removed)).to.deep.equal({
        'edge_logs rows': ROW_GROUP,
        'auth_logs rows': ROW_GROUP,
      });
      expect(await ids(store, 'edge_logs')).to.deep.equal([2 * ROW_GROUP, 3 * ROW_GROUP - 1]);
      const after = await blocks(store);
      expect(after.used).to.be.at.most(before.used - perGroup * 1.5);
      expect(after.used).to.be.at.least(before.used - perGroup * 2.5);

      // The limit is far too small for the rows: only the newest hour is left.
      const rest = total(await store.retention.run(size(1)));
      expect(rest).to.deep.equal({ 'edge_logs rows': ROW_GROUP });
      expect(await ids(store, 'auth_logs')).to.deep.equal([3 * ROW_GROUP, 5 * ROW_GROUP - 1]);
      await invariant(store);
    }));

  it('frees the space that a query held since before the removal, even if no more lines are stored', () =>
    withSimulated(async (store, clock) => {
      await append(store, 'edge_logs', ROW_GROUP);
      clock.advance(2 * HOUR);
      await append(store, 'edge_logs', 1000, { from: ROW_GROUP });
      await settle(store, clock);
      const before = await store.retention.freeBytes();
      const client = new AbortController();
      const reading = store
        .query(
          'select count(*) from edge_logs, range(1000000000000) numbers(n) where hash(id, n) = 0',
          {},
          { maxRows: 1, signal: client.signal },
        )
        .catch((error: Error) => error.name);
      await eventually(() => expect(store.stats().running).to.equal(1));

      expect(total(await store.retention.run(size(1)))).to.deep.equal({
        'edge_logs rows': ROW_GROUP,
      });
      expect(store.retention.owes()).to.equal(true);
      await store.retention.run(size(1));
      expect(store.retention.owes(), 'while it runs').to.equal(true);
      client.abort();
      expect(await reading).to.equal('AbortError');
      await eventually(async () => {
        await store.retention.run(size(1));
        expect(store.retention.owes()).to.equal(false);
      });
      expect(await store.retention.freeBytes()).to.be.above(before + 1e6);
    }));

  it('holds a source to its size, and leaves the others', () =>
    withSimulated(async (store, clock) => {
      for (const source of ['edge_logs', 'auth_logs', 'auth_logs'] as const) {
        await append(store, source, ROW_GROUP);
        clock.advance(2 * HOUR);
      }
      await settle(store, clock);
      const { size: both } = await ledger(store, 'auth_logs');
      const removed = total(await store.retention.run(size(Infinity, { auth_logs: both - 1 })));
      expect(removed).to.deep.equal({ 'auth_logs rows': ROW_GROUP });
      clock.advance(HOUR);
      expect((await ledger(store, 'auth_logs')).size).to.be.within(both * 0.3, both * 0.7);
    }));

  it('removes whole row groups while lines come in, and no line is lost or left', () =>
    withSimulated(async (store, clock) => {
      for (let i = 0; i < 4; i++) {
        await append(store, 'edge_logs', ROW_GROUP, { from: i * ROW_GROUP });
        clock.advance(DAY);
      }
      let next = 4 * ROW_GROUP;
      const running = store.retention.run(keep(36 * HOUR));
      for (let i = 0; i < 40; i++) {
        await append(store, 'edge_logs', 50, { from: next });
        next += 50;
      }
      const removed = await running;
      expect(total(removed)).to.deep.equal({ 'edge_logs rows': 3 * ROW_GROUP });
      expect(removed).to.have.length(3);
      expect(await ids(store, 'edge_logs')).to.deep.equal([3 * ROW_GROUP, next - 1]);
      const { rows } = await store.query('select count(*) from edge_logs', {}, { maxRows: 1 });
      expect(Number(rows[0]?.[0])).to.equal(next - 3 * ROW_GROUP);
      await invariant(store);
    }));

  it('is not misled by a clock that jumps a year ahead, and goes on when it is right again', () =>
    withSimulated(async (store, clock) => {
      const limits = keep(7 * DAY);
      for (let day = 0; day < 6; day++) {
        await append(store, 'edge_logs', 100, { from: day * 100 });
        await store.retention.run(limits);
        clock.advance(DAY);
      }
      await store.retention.run(limits);
      const right = clock.now();
      clock.set(right + 365 * DAY);
      for (let minute = 0; minute < 60; minute += 5) {
        await append(store, 'edge_logs', 1, { from: 600 + minute });
        expect(await store.retention.run(limits)).to.deep.equal([]);
        clock.advance(5 * 60_000);
      }
      expect(store.retention.lagMs()).to.be.greaterThan(300 * DAY);

      clock.set(right + HOUR);
      await append(store, 'edge_logs', 100, { from: 660 });
      for (let day = 0; day < 8; day++) {
        await store.retention.run(limits);
        clock.advance(DAY);
        await append(store, 'edge_logs', 1, { from: 760 + day });
      }
      await store.retention.run(limits);
      // Rows with a storage time in the next year were removed with their neighbours.
      expect((await ids(store, 'edge_logs'))[0]).to.be.greaterThan(659);
      await invariant(store);
    }));

  it('trusts a clock that stays ahead within days', () =>
    withSimulated(async (store, clock) => {
      await append(store, 'edge_logs', 100);
      await store.retention.run(keep(DAY));
      clock.set(clock.now() + 40 * DAY);
      await append(store, 'edge_logs', 100, { from: 100 });
      let hours = 0;
      while ((await ledger(store, 'edge_logs')).removed === 0) {
        clock.advance(HOUR);
        hours++;
        await store.retention.run(keep(DAY));
        expect(hours).to.be.at.most(48);
      }
      expect(hours).to.be.at.least(2);
    }));

  it('removes nothing while the clock is behind, and no row of that time once it is right', () =>
    withSimulated(async (store, clock) => {
      const limits = keep(7 * DAY);
      await append(store, 'edge_logs', 100);
      clock.advance(DAY);
      await append(store, 'edge_logs', 100, { from: 100 });
      await store.retention.run(limits);
      const right = clock.now();
      clock.set(Date.UTC(1970, 0, 2));
      await append(store, 'edge_logs', 100, { from: 200 });
      await append(store, 'auth_logs', 100);
      expect(await store.retention.run({ ...size(1), keepMs: limits.keepMs })).to.deep.equal([]);
      clock.set(right + 10 * 60_000);
      await append(store, 'edge_logs', 100, { from: 300 });
      await append(store, 'auth_logs', 100, { from: 100 });
      expect(await store.retention.run(limits)).to.deep.equal([]);
      expect(await ids(store, 'edge_logs')).to.deep.equal([0, 399]);
      expect(await ids(store, 'auth_logs')).to.deep.equal([0, 199]);

      for (let day = 0; day < 9; day++) {
        clock.advance(DAY);
        await append(store, 'edge_logs', 1, { from: 400 + day });
        await append(store, 'auth_logs', 1, { from: 200 + day });
        await store.retention.run(limits);
      }
      expect((await ids(store, 'edge_logs'))[0]).to.be.greaterThan(399);
      expect((await ids(store, 'auth_logs'))[0]).to.be.greaterThan(199);
    }));

  it('keeps its trusted time over a restart', () =>
    withFolder(async (data) => {
      const clock = simulatedClock();
      const during = <T>(action: (store: TestStore) => Promise<T>) =>
        withStore(data, action, { storeClock: clock });
      await during(async (store) => {
        await append(store, 'edge_logs', 100);
        await store.retention.run(keep(7 * DAY));
      });
      clock.set(clock.now() + 365 * DAY);
      await during(async (store) => {
        await append(store, 'edge_logs', 100, { from: 100 });
        expect(await store.retention.run(keep(7 * DAY))).to.deep.equal([]);
        expect(await ids(store, 'edge_logs')).to.deep.equal([0, 199]);
      });
    }));

  it('does not trust the clock before it was set once, and then trusts it fully', () =>
    withFolder((data) => {
      const clock = simulatedClock(60_000);
      return withStore(
        data,
        async (store) => {
          await append(store, 'edge_logs', 100);
          expect(await store.retention.run(keep(7 * DAY))).to.deep.equal([]);
          clock.set(Date.UTC(2026, 2, 1));
          clock.advance(10 * 60_000);
          expect(await store.retention.run(keep(7 * DAY))).to.deep.equal([]);
          expect(store.retention.lagMs()).to.equal(0);
        },
        { storeClock: clock },
      );
    }));

  it('forgets files that have been gone for 30 days, and only those', () =>
    withSimulated(async (store, clock) => {
      await store.sink.record([gone(1), { ...gone(2), gone: false }, gone(3)], []);
      clock.advance(29 * DAY);
      await store.sink.record([gone(5)], []);
      const known = async () => (await store.sink.files()).map(({ id }) => id).sort();
      await store.retention.run(unlimited());
      expect(await known()).to.deep.equal([1, 2, 3, 5]);
      clock.advance(2 * DAY);
      await store.retention.run(unlimited());
      expect(await known()).to.deep.equal([2, 5]);
    }));

  it('keeps the state of a file that was removed before the clock was set as long as any other', () =>
    withSimulated(async (store, clock) => {
      const right = clock.now();
      await store.retention.run(unlimited());
      clock.set(60_000);
      await store.sink.record([gone(1)], []);
      clock.set(right);
      for (const days of [0, 29]) {
        clock.advance(days * DAY);
        await store.retention.run(unlimited());
        expect(await store.sink.files()).to.have.length(1);
      }
      clock.advance(2 * DAY);
      await store.retention.run(unlimited());
      expect(await store.sink.files()).to.have.length(0);
    }));

  it('says what it would remove, and then removes just that', () =>
    withFolder((data) => {
      const clock = simulatedClock();
      return withApp(
        data,
        async ({ store, get }) => {
          await store.retention.run(unlimited());
          await append(store, 'edge_logs', ROW_GROUP, { rejected: 5 });
          clock.advance(2 * HOUR);
          await append(store, 'edge_logs', 100, { from: ROW_GROUP });
          await append(store, 'auth_logs', 30);
          clock.advance(2 * DAY);
          await append(store, 'auth_logs', 70, { from: 30 });
          const told = (await get('/api/retention').expect(200)).body.result;
          const [auth, edge] = ['auth_logs', 'edge_logs'].map((source) =>
            told.find((entry: { source: string }) => entry.source === source),
          );
          expect(edge).to.deep.include({
            why: 'age',
            would_remove_rows: ROW_GROUP + 100,
            would_remove_rejected: 5,
            oldest: '2026-03-01T00:00:00Z',
            newest: '2026-03-01T02:00:00Z',
          });
          expect(edge.bytes).to.be.greaterThan(1e6);
          expect(auth).to.deep.include({ would_remove_rows: 30, would_remove_rejected: 0 });
          expect(told).to.have.length(2);
          expect(kinds(documented())).to.deep.equal(kinds(edge));
          expect((await ledger(store, 'edge_logs')).stored).to.equal(ROW_GROUP + 100);

          expect(total(await store.retention.run(keep(DAY)))).to.deep.equal({
            'edge_logs rows': ROW_GROUP + 100,
            'edge_logs rejected': 5,
            'auth_logs rows': 30,
          });
          expect((await get('/api/retention')).body).to.deep.equal({ result: [] });
        },
        { storeClock: clock, limits: keep(DAY) },
      );
    }));

  // The file has its size by the day `full`. If no block were used again, it would grow by more than `most` until the last day.
  const { days, kept, perDay, full, most } = LONG
    ? { days: 60, kept: 7, perDay: 20_000, full: 10, most: 2 }
    : { days: 11, kept: 2, perDay: 10_000, full: 6, most: 1.5 };
  it(`keeps the file bounded over ${days} days of writing ${SLOW}`, () =>
    withSimulated(async (store, clock, data) => {
      const limits = keep(kept * DAY);
      const megabytes: number[] = [];
      let [edge, auth] = [0, 0];
      for (let day = 0; day < days; day++) {
        clock.advance(DAY - 10_000);
        await append(store, 'edge_logs', perDay, { from: edge });
        await append(store, 'auth_logs', 500, { from: auth, rejected: 200 });
        [edge, auth] = [edge + perDay, auth + 500];
        // As in production: ingest comes to rest, and the write-ahead log is written back.
        clock.advance(10_000);
        await store.sink.idle();
        await store.retention.run(limits);
        megabytes.push(statSync(join(data, 'store', 'tailpond.duckdb')).size / 1e6);
      }
      const reference = Math.max(...megabytes.slice(0, full));
      const later = Math.max(...megabytes.slice(full));
      console.log(
        `      until day ${full}: ${reference.toFixed(1)} MB at most, until day ${days}: ${later.toFixed(1)} MB`,
      );
      expect(later).to.be.lessThan(most * reference);
      const { stored } = await ledger(store, 'edge_logs');
      expect(stored).to.be.within(kept * perDay, (kept + 1.5) * perDay);
      expect(await ids(store, 'edge_logs')).to.deep.equal([edge - stored, edge - 1]);
      await invariant(store);
    }));
});

describe('the schedule of retention', () => {
  it('runs at once and every minute, logs what was removed, and goes on after an error', async () => {
    const clock = fakeClock();
    const lines: string[] = [];
    const log = (level: string) => (_fields: object, message: string) =>
      void lines.push(`${level}: ${message}`);
    const one: Removal = {
      source: 'edge_logs',
      kind: 'rows',
      why: 'age',
      rows: 5,
      bytes: 100,
      oldestMs: 0,
      newestMs: 1,
    };
    const answers: (Removal[] | Error)[] = [[one], [], new Error('no'), [one]];
    let runs = 0;
    const retention = {
      run: async () => {
        const answer = answers[runs++] ?? [];
        if (answer instanceof Error) throw answer;
        return answer;
      },
      lagMs: () => (runs === 2 ? 3 * DAY : 0),
      owes: () => runs === 5,
    } as unknown as TestStore['retention'];
    const { close } = startRetention({
      retention,
      limits: unlimited(),
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      timer: clock,
      everyMs: 60_000,
    });
    await clock.advance(0);
    expect(runs).to.equal(1);
    for (let i = 0; i < 3; i++) await clock.advance(60_000);
    expect(runs).to.equal(4);
    expect(lines.map((text) => text.split(':')[0])).to.deep.equal([
      'info',
      'warn',
      'error',
      'info',
    ]);
    await clock.advance(60_000);
    // There is still space to free.
    await clock.advance(2000);
    expect(runs).to.equal(6);
    await clock.advance(2000);
    expect(runs).to.equal(6);
    await close();
    await clock.advance(600_000);
    expect(runs).to.equal(6);
  });
});

describe('npm start -- --dry-run', function () {
  this.timeout(300_000);

  it('prints what would be removed and removes nothing', () =>
    withFolder(async (data) => {
      const clock = simulatedClock(Date.now() - 5 * DAY);
      await withStore(
        data,
        async (store) => {
          await append(store, 'edge_logs', 100, { rejected: 3 });
          clock.advance(5 * DAY);
          await append(store, 'edge_logs', 50, { from: 100 });
        },
        { storeClock: clock },
      );
      const { code, text, errors } = await dryRun(data, { TAILPOND_RETENTION: '2d' });
      expect(errors).to.deep.equal([]);
      expect(code).to.equal(0);
      const { result } = JSON.parse(text);
      expect(result).to.have.length(1);
      expect(result[0]).to.include({
        source: 'edge_logs',
        why: 'age',
        would_remove_rows: 100,
        would_remove_rejected: 3,
      });
      await withStore(data, async (store) => {
        const entry = await ledger(store, 'edge_logs');
        expect(entry).to.include({ stored: 150, removed: 0, removed_rejected: 0 });
        expect(await store.rejected('edge_logs', 10)).to.have.length(3);
      });
    }));

  it('says that the service has the store', () =>
    withFolder((data) =>
      withService(data, async () => {
        const { code, errors } = await dryRun(data);
        expect(code).to.equal(1);
        expect(errors.join('\n')).to.contain('GET /api/retention');
      }),
    ));

  it('prints an empty list for a folder without a store, and makes no store', () =>
    withFolder(async (data) => {
      const { code, text } = await dryRun(data);
      expect(code).to.equal(0);
      expect(JSON.parse(text)).to.deep.equal({ result: [] });
      expect(() => statSync(join(data, 'store'))).to.throw('ENOENT');
    }));
});

/** Runs `action` on a store with a simulated clock, which it has trusted from the beginning. */
async function withSimulated(
  action: (store: TestStore, clock: SimulatedClock, data: string) => Promise<void>,
) {
  const clock = simulatedClock();
  await withFolder((data) =>
    withStore(
      data,
      async (store) => {
        await store.retention.run(unlimited());
        await action(store, clock, data);
      },
      { storeClock: clock },
    ),
  );
}

/** Lets ingest come to rest, so that the write-ahead log is written back. */
async function settle(store: TestStore, clock: SimulatedClock) {
  clock.advance(10_000);
  await store.sink.idle();
}

function total(removals: readonly Removal[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { source, kind, rows } of removals)
    sums[`${source} ${kind}`] = (sums[`${source} ${kind}`] ?? 0) + rows;
  return sums;
}

async function ledger(store: TestStore, source: Source): Promise<LedgerEntry> {
  const entry = (await store.ledger()).find((candidate) => candidate.source === source);
  if (!entry) throw new Error(`no ledger entry of ${source}`);
  return entry;
}

/** The first and the last id of a source; they count up. */
async function ids(store: TestStore, source: Source): Promise<number[]> {
  const { rows } = await store.query(
    `select min(id::bigint), max(id::bigint) from ${source}`,
    {},
    { maxRows: 1 },
  );
  return (rows[0] ?? []).map(Number);
}

/** How many filters of texts there are. */
async function filters(store: TestStore): Promise<number> {
  const sql = 'select count(*) from (from text_filters union all by name from recent_text_filters)';
  const { rows } = await store.query(sql, {}, { maxRows: 1 });
  return Number(rows[0]?.[0]);
}

async function blocks(store: TestStore): Promise<{ used: number }> {
  const { rows } = await store.query(
    'select used_blocks * block_size from pragma_database_size()',
    {},
    { maxRows: 1 },
  );
  return { used: Number(rows[0]?.[0]) };
}

/** Checks of every source: lines = rows + rejected, and stored ones = all that came less the removed ones. */
async function invariant(store: TestStore) {
  expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
  for (const entry of await store.ledger()) {
    expect(entry.lines).to.equal(entry.rows + entry.rejected);
    expect(entry.stored).to.equal(entry.rows - entry.removed);
    const { rows } = await store.query(
      `select count(*) from rejected where source = '${entry.source}'`,
      {},
      { maxRows: 1 },
    );
    expect(Number(rows[0]?.[0])).to.equal(entry.rejected - entry.removed_rejected);
  }
}

async function dryRun(data: string, env: Record<string, string> = {}) {
  const { child, log, errors } = spawnService(data, {
    args: ['--dry-run'],
    env: { TAILPOND_LOG_LEVEL: 'silent', ...env },
  });
  const [code] = await once(child, 'close');
  return { code, text: log.map((entry) => entry.text ?? JSON.stringify(entry)).join('\n'), errors };
}

/** The state of a file that is gone. */
function gone(id: number): FileState {
  return {
    id,
    source: 'edge_logs',
    path: `edge_logs/${id}.log`,
    inode: `1:${id}`,
    birth: '',
    offset: 0,
    proofs: [],
    unterminated: false,
    gone: true,
    finished: null,
  };
}

/** The entry that docs/retention.md shows. */
function documented(): Record<string, unknown> {
  const page = 'docs/retention.md';
  const blocks = readBlocks(page, readFileSync(join(ROOT, page), 'utf8'));
  const text = blocks.find(({ info }) => info.example !== undefined)?.text ?? '';
  return JSON.parse(text).result[0];
}

/** Names of the fields in their order, each with the type of its value. */
function kinds(entry: Record<string, unknown>): string[] {
  return Object.entries(entry).map(([name, value]) => `${name} ${typeof value}`);
}
