import { copyFileSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Sink, startIngest } from '../../../ingest/index.ts';
import { eventually, silent, withFolder, withStore } from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';
import { SLOW } from '../../support/slow.ts';

/** Enough for a first full batch, which tells how long lines are, and for two that are filled one after the other. */
const LINES = 600_000;

describe('the state of a file', function () {
  this.timeout(300_000);

  it(`is not recorded ahead of its lines when the file is truncated while the second of two batches is filled ${SLOW}`, () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const logs = join(data, 'logs');
        mkdirSync(join(logs, 'edge_logs'), { recursive: true });
        const path = join(logs, 'edge_logs/app.log');
        writeFileSync(path, Array.from({ length: LINES }, (_, i) => `{"id":"${i}"}\n`).join(''));

        let stored = 0;
        const ahead: number[] = [];
        let recorded = 0;
        const sink: Sink = {
          ...store.sink,
          parallelism: 2,
          async append(batches) {
            await store.sink.append(batches);
            for (const { files } of batches)
              for (const { offset } of files) stored = Math.max(stored, offset);
          },
          async record(files, forgotten) {
            for (const { offset } of files) {
              recorded++;
              if (offset > stored) ahead.push(offset);
            }
            await store.sink.record(files, forgotten);
          },
        };

        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
          sink,
        );
        let cut = false;
        const cutting = setInterval(() => {
          const staged = readdirSync(store.staging);
          if (cut || !staged.some((name) => /^batch-\d-1\.ndjson$/.test(name))) return;
          cut = true;
          copyFileSync(path, `${path}.1`);
          truncateSync(path, 0);
        }, 1);
        try {
          // The copy is read on from the offset of the original.
          await eventually(async () => {
            const [entry] = await store.ledger();
            expect(entry).to.include({ rows: LINES });
          }, 40_000);
          expect(cut).to.equal(true);
          expect(recorded).to.be.above(0);
          expect(ahead).to.deep.equal([]);
        } finally {
          clearInterval(cutting);
          await ingest.close();
        }
      }),
    ));
});
