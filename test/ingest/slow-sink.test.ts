import { mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Sink, startIngest } from '../../ingest/index.ts';
import { eventually, silent, withFolder, withStore } from '../helpers.ts';

describe('a sink that is slow to record where files are', () => {
  it('gives the lines of a file that was seen and is gone by then', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const [waiting, room] = [gate(), gate()];
        const sink: Sink = {
          ...store.sink,
          async room() {
            await room.passed();
            return null;
          },
          async record(...change) {
            await waiting.passed();
            await store.sink.record(...change);
          },
        };
        const folder = join(data, 'logs', 'edge_logs');
        mkdirSync(folder, { recursive: true });
        const log = join(folder, 'app.log');
        writeFileSync(log, '{"id":"a"}\n');
        const ingest = await startIngest(
          { logs: join(data, 'logs'), staging: store.staging, maxLine: 1 << 20, log: silent },
          sink,
        );
        try {
          const stored = (lines: number) =>
            eventually(async () => expect((await store.ledger())[0]?.lines).to.equal(lines));
          await stored(1);
          // Both are there when the files are listed next.
          room.close();
          await room.reached();
          renameSync(log, `${log}.1`);
          writeFileSync(log, '{"id":"b"}\n');
          waiting.close();
          room.open();
          await waiting.reached();
          unlinkSync(log);
          waiting.open();
          await stored(2);
        } finally {
          room.open();
          waiting.open();
          await ingest.close();
        }
      }),
    ));
});

/** Lets through whoever comes, or keeps them until it is opened. */
function gate() {
  let wait = Promise.resolve();
  let [open, reach] = [() => {}, () => {}];
  let reached = Promise.resolve();
  return {
    close() {
      wait = new Promise((done) => {
        open = done;
      });
      reached = new Promise((done) => {
        reach = done;
      });
    },
    open: () => {
      open();
      wait = Promise.resolve();
    },
    passed: () => {
      reach();
      return wait;
    },
    /** Waits until somebody stands before it. */
    reached: () => reached,
  };
}
