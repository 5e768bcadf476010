import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { TrackedFile } from '../../../ingest/identity/tracked-file.ts';
import { type Ingest, type Sink, startIngest } from '../../../ingest/index.ts';
import { createLag } from '../../../ingest/tail/lag.ts';
import type { Store } from '../../../server/store/index.ts';
import { eventually, silent, withApp, withFolder, withStore } from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';

interface Tried {
  readonly ingest: Ingest;
  readonly store: Store;
  /** Keeps lines from being stored, in this way; null lets them be stored again. */
  block(how: 'no room' | 'fails' | null): void;
  /** A path in the drop folder of edge_logs. */
  at(name: string): string;
  status(): { pendingBytes: number; lagMs: number };
}

/** Runs `action` beside an ingest whose sink can be told to take nothing. */
function trying(action: (tried: Tried) => Promise<void>) {
  return withFolder((data) =>
    withStore(data, async (store) => {
      let blocked: 'no room' | 'fails' | null = null;
      const sink: Sink = {
        ...store.sink,
        room: async () => (blocked === 'no room' ? 'made by the test' : null),
        async append(batches) {
          if (blocked === 'fails') throw new Error('made by the test');
          await store.sink.append(batches);
        },
      };
      const logs = join(data, 'logs');
      const ingest = await startIngest(
        { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
        sink,
      );
      const status = () => {
        const found = ingest.status().sources.find(({ source }) => source === 'edge_logs');
        if (!found) throw new Error('no status of edge_logs');
        return found;
      };
      const at = (name: string) => join(logs, 'edge_logs', name);
      const block = (how: typeof blocked) => {
        blocked = how;
      };
      await action({ ingest, store, block, at, status }).finally(() => ingest.close());
    }),
  );
}

/** A log file as the lag sees it. */
function growing() {
  const state = { path: 'edge_logs/a.ndjson', offset: 0 };
  const file = {
    state,
    committed: 0,
    copy: null,
    hole: null,
    size: 0,
    version: '',
    exhausted: null,
    changedAt: 0,
  };
  return file as unknown as Writable<TrackedFile>;
}

type Writable<T> = {
  -readonly [Key in keyof T]: T[Key] extends object ? Writable<T[Key]> : T[Key];
};

const LINE = '{"id":"1"}\n';

async function stored(store: Store, lines: number) {
  await eventually(async () => expect((await store.ledger())[0]?.lines).to.equal(lines));
}

describe('the lag of a source', () => {
  it('is how long unread bytes have waited, and zero once they are stored', () =>
    trying(async ({ store, block, at, status }) => {
      expect(status()).to.include({ pendingBytes: 0, lagMs: 0 });
      block('no room');
      const began = performance.now();
      appendFileSync(at('a.ndjson'), LINE);
      await eventually(() => expect(status().lagMs).to.be.above(600));
      expect(status().lagMs).to.be.at.most(performance.now() - began);
      // What comes later does not make the first bytes younger.
      const before = status().lagMs;
      appendFileSync(at('a.ndjson'), LINE);
      appendFileSync(at('b.ndjson'), LINE);
      await eventually(() => expect(status().pendingBytes).to.equal(3 * LINE.length));
      expect(status().lagMs).to.be.above(before);
      block(null);
      await stored(store, 3);
      await eventually(() => expect(status()).to.include({ pendingBytes: 0, lagMs: 0 }));
    }));

  it('does not count a last line whose newline has not come, and counts it from when it has', () =>
    trying(async ({ store, block, at, status }) => {
      appendFileSync(at('a.ndjson'), `${LINE}{"id":"2"`);
      await stored(store, 1);
      await eventually(() => expect(status()).to.include({ pendingBytes: 9, lagMs: 0 }));
      block('no room');
      await delay(1200);
      expect(status().lagMs).to.equal(0);
      const closedAt = performance.now();
      appendFileSync(at('a.ndjson'), '}\n');
      await eventually(() => expect(status().lagMs).to.be.above(100));
      expect(status().lagMs).to.be.at.most(performance.now() - closedAt);
      block(null);
      await stored(store, 2);
    }));

  it('goes on while lines cannot be stored, however often they are read', () =>
    trying(async ({ store, block, at, status }) => {
      appendFileSync(at('a.ndjson'), LINE);
      await stored(store, 1);
      block('fails');
      appendFileSync(at('a.ndjson'), LINE);
      await eventually(() => expect(status().lagMs).to.be.above(2500));
      expect(status().pendingBytes).to.equal(LINE.length);
      block(null);
      await stored(store, 2);
      await eventually(() => expect(status()).to.include({ pendingBytes: 0, lagMs: 0 }));
    }));

  it('stays small for a file that grows all the time and is read all the time', () => {
    const lag = createLag();
    const file = growing();
    for (let now = 0; now < 60_000; now += 10) {
      // All its bytes are stored, but by then there are more: the file is never found at its end.
      file.state.offset = file.committed = file.size;
      file.size += LINE.length;
      file.version = String(now);
      file.changedAt = now;
      lag.look([file], now);
      expect(lag.ofFile(file, now)).to.be.at.most(20);
    }
  });

  it('counts a file that was found and not looked at yet', () => {
    const lag = createLag();
    const file = growing();
    file.size = LINE.length;
    file.changedAt = 1000;
    expect(lag.ofFile(file, 4000)).to.equal(3000);
    lag.look([file], 5000);
    expect(lag.ofFile(file, 6000)).to.equal(5000);
    file.committed = file.state.offset = file.size;
    expect(lag.ofFile(file, 7000)).to.equal(0);
  });

  it('begins anew for a file that was truncated, and counts a .gz too', () =>
    trying(async ({ store, block, at, status }) => {
      appendFileSync(at('a.ndjson'), LINE.repeat(3));
      await stored(store, 3);
      block('no room');
      truncateSync(at('a.ndjson'), 0);
      appendFileSync(at('a.ndjson'), '{"id":"new"}\n{"id":"newer"}\n{"id":"newest"}\n');
      writeFileSync(at('b.ndjson.gz'), gzipSync(LINE.repeat(100)));
      await eventually(() => expect(status().lagMs).to.be.above(300));
      block(null);
      await stored(store, 106);
      await eventually(() => expect(status()).to.include({ pendingBytes: 0, lagMs: 0 }));
    }));

  it('stands in the ledger in seconds', () =>
    withFolder((data) =>
      withApp(data, async ({ get, write, lines }) => {
        write('edge_logs/a.ndjson', LINE);
        await lines(1);
        const { result } = (await get('/api/ledger')).body;
        for (const { lag_seconds } of result) expect(lag_seconds).to.equal(0);
        const columns = Object.keys(result[0]);
        expect(columns[columns.indexOf('pending_bytes') + 1]).to.equal('lag_seconds');
      }),
    ));

  it('is told in seconds by the ledger and by the metric while nothing can be stored', () =>
    withFolder((data) =>
      withApp(
        data,
        async ({ get, ingest, write }) => {
          write('edge_logs/a.ndjson', LINE);
          const lagS = () => {
            const found = ingest.status().sources.find(({ source }) => source === 'edge_logs');
            return (found?.lagMs ?? 0) / 1000;
          };
          await eventually(() => expect(lagS()).to.be.above(0.5));
          const told = {
            ledger: async () => (await get('/api/ledger')).body.result[0].lag_seconds,
            metric: async () =>
              /^tailpond_ingest_lag_seconds\{source="edge_logs"\} (.*)$/m.exec(
                (await get('/metrics')).text,
              )?.[1],
          };
          for (const [name, ask] of Object.entries(told)) {
            const least = lagS();
            expect(Number(await ask()), name).to.be.within(least - 0.01, lagS() + 0.01);
          }
        },
        { minFree: Number.MAX_SAFE_INTEGER },
      ),
    ));
});
