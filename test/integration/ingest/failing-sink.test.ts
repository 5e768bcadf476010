import { appendFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Sink, startIngest } from '../../../ingest/index.ts';
import {
  eventually,
  silent,
  type TestStore,
  withFolder,
  withStore,
} from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';

describe('a sink that fails', () => {
  it('loses no line and stores none twice when it cannot even return its file states', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const failing = failures(store.sink);
        const logs = join(data, 'logs');
        const write = writer(logs);
        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
          failing.sink,
        );
        try {
          write(0, 3);
          await eventually(async () => expect(await ids(store)).to.deep.equal(['0', '1', '2']));
          failing.next(1);
          write(3, 1);
          await eventually(() => expect(failing.left()).to.equal(0));
          write(4, 1);
          await eventually(async () =>
            expect(await ids(store)).to.deep.equal(['0', '1', '2', '3', '4']),
          );
        } finally {
          await ingest.close();
        }
      }),
    ));

  it('keeps apart two rejected lines at the same offset of two files with the same path', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const logs = join(data, 'logs');
        let reason: string | null = 'the test says so';
        const sink = { ...store.sink, room: async () => reason };
        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
          sink,
        );
        try {
          const path = join(logs, 'auth_logs/x.log');
          const files = () =>
            ingest.status().sources.find(({ source }) => source === 'auth_logs')?.files;
          const texts = ['a', 'b'].map((letter) => letter.repeat(9000));
          writeFileSync(path, `${texts[0]}\n`);
          await eventually(() => expect(files()).to.equal(1));
          unlinkSync(path);
          writeFileSync(path, `${texts[1]}\n`);
          await eventually(() => expect(files()).to.equal(2));
          reason = null;
          const lines = await eventually(async () => {
            const found = await store.rejected('auth_logs', 10);
            expect(found).to.have.length(2);
            return found;
          });
          const kept = [];
          for (const { id } of lines) kept.push(await store.rejectedLine(String(id)));
          expect(kept.map((line) => line?.line.toString()).sort()).to.deep.equal(texts);
          expect(await store.removeRejected(String(lines[0]?.id))).to.equal(true);
          expect(await store.rejected('auth_logs', 10)).to.have.length(1);
        } finally {
          await ingest.close();
        }
      }),
    ));

  it('loses no line of a file that was truncated, written to, and deleted before it could be recorded', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const logs = join(data, 'logs');
        const write = writer(logs);
        let failures = 0;
        const record: Sink['record'] = async (files, forgotten) => {
          if (failures++ === 0) throw new Error('No space left on device: made by the test');
          await store.sink.record(files, forgotten);
        };
        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
          { ...store.sink, record },
        );
        try {
          write(0, 3);
          await eventually(async () => expect(await ids(store)).to.deep.equal(['0', '1', '2']));
          truncateSync(join(logs, 'edge_logs/a.ndjson'));
          write(3, 1);
          await eventually(() => expect(failures).to.equal(1));
          unlinkSync(join(logs, 'edge_logs/a.ndjson'));
          await eventually(async () =>
            expect(await ids(store)).to.deep.equal(['0', '1', '2', '3']),
          );
        } finally {
          await ingest.close();
        }
      }),
    ));
});

function writer(logs: string) {
  return (from: number, count: number) => {
    const lines = Array.from({ length: count }, (_, i) => `{"id":"${from + i}"}\n`);
    appendFileSync(join(logs, 'edge_logs/a.ndjson'), lines.join(''));
  };
}

/** Wraps the store's sink so that `next` makes one `append` fail, and then `files` this many times. */
function failures(sink: Sink) {
  let appends = 0;
  let questions = 0;
  const fail = (): never => {
    throw new Error('Out of Memory Error: made by the test');
  };
  return {
    next(times: number) {
      appends = 1;
      questions = times;
    },
    left: () => Math.max(0, appends) + Math.max(0, questions),
    sink: {
      ...sink,
      async append(batches) {
        return appends-- > 0 ? fail() : sink.append(batches);
      },
      async files() {
        return appends <= 0 && questions-- > 0 ? fail() : sink.files();
      },
    } satisfies Sink,
  };
}

async function ids(store: TestStore): Promise<unknown[]> {
  const sql = 'select id from edge_logs order by id';
  return (await store.query(sql, {}, { maxRows: 100 })).rows.map(([id]) => id);
}
