import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { BATCH_LINES, type Sink, startIngest } from '../../../ingest/index.ts';
import {
  eventually,
  silent,
  type TestStore,
  withFolder,
  withStore,
} from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';
import { SLOW } from '../../support/slow.ts';

/** Full batches that are filled in one go. */
const LANES = 2;

describe('a file that was replaced before or while several full batches are filled', function () {
  this.timeout(300_000);

  it(`is not followed twice, which would double its lines ${SLOW}`, () =>
    withIngest(async ({ drop, ledgerLines, hold, store, logs }) => {
      drop('old.ndjson', lines('long', 3, 500), 3);
      drop('first.ndjson', lines('first', BATCH_LINES), 2);
      await ledgerLines(3 + BATCH_LINES);

      const release = hold();
      writeFileSync(join(logs, 'old.ndjson'), lines('short', 2));
      age(join(logs, 'old.ndjson'), 3);
      drop('backlog.ndjson', lines('backlog', 3 * BATCH_LINES), 1);
      await release(3);
      await ledgerLines(3 + 2 + 4 * BATCH_LINES);
      expect(await doubled(store)).to.deep.equal([]);
    }));

  it(`leaves its copy every line of a batch that could not be stored ${SLOW}`, () =>
    withIngest(async ({ drop, ledgerLines, hold, logs, staging, failNext }) => {
      const all = 4 * BATCH_LINES;
      drop('a.ndjson', lines('first', BATCH_LINES), 1);
      await ledgerLines(BATCH_LINES);

      const log = join(logs, 'b.ndjson');
      drop('b.ndjson', lines('before', 10), 1);
      await ledgerLines(BATCH_LINES + 10);

      const release = hold();
      appendFileSync(log, lines('b', all, 100));
      copyFileSync(log, `${log}.1`);
      await release(3);
      // The second of the two batches is being filled, with the lines behind those of the first.
      const second = () =>
        [0, 1].some((slot) => existsSync(join(staging, `batch-${slot}-1.ndjson`)));
      while (!second()) await turn();
      failNext();
      truncateSync(log);
      await ledgerLines(BATCH_LINES + 10 + all);
    }));
});

interface Subject {
  readonly logs: string;
  readonly staging: string;
  readonly store: TestStore;
  /** Puts a whole file in its place that looks `hours` old, so that it is backlog. */
  drop(name: string, text: string, hours: number): void;
  /** Keeps lines from being taken until this many files are followed. */
  hold(): (files: number) => Promise<void>;
  /** Lets one `append` fail. */
  failNext(): void;
  ledgerLines(count: number): Promise<void>;
}

async function withIngest(action: (subject: Subject) => Promise<void>) {
  await withFolder((data) =>
    withStore(data, async (store) => {
      const logs = join(data, 'logs', 'edge_logs');
      let room: string | null = null;
      let failures = 0;
      const sink: Sink = {
        ...store.sink,
        parallelism: LANES,
        room: async () => room,
        async append(batches) {
          if (failures-- > 0) throw new Error('made by the test');
          await store.sink.append(batches);
        },
      };
      mkdirSync(logs, { recursive: true });
      const ingest = await startIngest(
        {
          logs: join(data, 'logs'),
          staging: store.staging,
          maxLine: 1 << 20,
          readerOf: lineReaders,
          log: silent,
        },
        sink,
      );
      const own = async () => (await store.ledger()).find(({ source }) => source === 'edge_logs');
      try {
        await action({
          logs,
          staging: store.staging,
          store,
          drop(name, text, hours) {
            writeFileSync(join(data, 'new'), text);
            age(join(data, 'new'), hours);
            renameSync(join(data, 'new'), join(logs, name));
          },
          hold() {
            room = 'the test says so';
            return async (files) => {
              await eventually(() => expect(ingest.status().sources[0]?.files).to.equal(files));
              room = null;
            };
          },
          failNext: () => {
            failures = 1;
          },
          ledgerLines: (count) =>
            eventually(async () => void expect((await own())?.lines).to.equal(count), 30_000),
        });
      } finally {
        await ingest.close();
      }
    }),
  );
}

function age(path: string, hours: number) {
  const at = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, at, at);
}

function lines(name: string, count: number, bytes = 0): string {
  const filler = 'x'.repeat(bytes);
  return Array.from({ length: count }, (_, i) => `{"id":"${name}-${i}","msg":"${filler}"}\n`).join(
    '',
  );
}

async function doubled(store: TestStore) {
  const sql = 'select id, count(*) from edge_logs group by id having count(*) > 1 limit 10';
  return (await store.query(sql, {}, { maxRows: 10 })).rows;
}
