import { appendFileSync, closeSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  eventually,
  type Service,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { edgeLines } from '../support/lines.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, ledger } from './lines.ts';
import { memoryMb } from './setup.ts';

/** So many lines of about 950 bytes: more than 400 MB, or 240 MB of three batches. Neither names nor inodes are in the order of age. */
const FILES = 8;
const LINES = LONG ? 55_000 : 32_000;
const HOURS_OLD = [3, 8, 1, 6, 2, 7, 5, 4];
const LIVE_EVERY_MS = 50;
/** docs/decisions/0005: a live line waits for so many batches of the backlog at most. */
const BATCHES_BEFORE = 2;
const MEMORY_MB = LONG ? 700 : 550;

describe('a backlog', () => {
  faultCase(
    'T32',
    'is read oldest file first in bounded memory, and a live file stays fresh meanwhile',
    () =>
      withFolder(async (data) => {
        const folder = join(data, 'logs', 'edge_logs');
        mkdirSync(folder, { recursive: true });
        const expectedLines = newExpectedLines();
        writeBacklog(folder, expectedLines);

        await withService(data, async (service) => {
          const live = startLive(folder, expectedLines);
          const seen = watchLive(service, live);
          try {
            await eventually(async () => {
              const [entry] = await ledger(service);
              expect(entry?.lines).to.be.at.least(FILES * LINES);
            }, 200_000);
          } finally {
            live.stop();
          }
          await seen;
          await allStored(service, expectedLines);
          const peak = Math.round(memoryMb(service, 'VmHWM'));
          console.log(`      peak ${peak} MB, ${live.written.length} live lines`);
          expect(peak).to.be.below(MEMORY_MB);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        await wereReadOldestFirst(data);
        await wereNotHeldUp(data);
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    { timeoutMs: 300_000 },
  );
});

function writeBacklog(folder: string, expectedLines: ExpectedLines) {
  const block = [...edgeLines(LINES, { seed: 1, end: Date.now() - 3.6e6, spanMs: 3.6e6 })].map(
    (line) => line.slice(line.indexOf(',')),
  );
  for (const [file, hours] of HOURS_OLD.entries()) {
    const path = join(folder, `file${file}.ndjson`);
    const handle = openSync(path, 'w');
    for (let i = 0; i < LINES; i++) expectedLines.row(`file${file}-${i}`);
    for (let from = 0; from < LINES; from += 5000) {
      const lines = block.slice(from, from + 5000);
      writeSync(
        handle,
        lines.map((rest, i) => `{"id":"file${file}-${from + i}"${rest}\n`).join(''),
      );
    }
    closeSync(handle);
    const at = new Date(Date.now() - hours * 3.6e6);
    utimesSync(path, at, at);
  }
}

interface Live {
  /** When each line was written, by its number, in ms since the epoch. */
  readonly written: { at: number }[];
  stopped: boolean;
  stop(): void;
}

/** Appends a line to a live file every 50 ms. */
function startLive(folder: string, expectedLines: ExpectedLines): Live {
  const path = join(folder, 'live.ndjson');
  const timer = setInterval(() => {
    const at = Date.now();
    const id = `live-${live.written.length}`;
    const timestamp = new Date(at).toISOString();
    appendFileSync(
      path,
      `{"id":"${id}","timestamp":"${timestamp}","project":"live","event_message":"","metadata":{"n":1}}\n`,
    );
    expectedLines.row(id);
    live.written.push({ at });
  }, LIVE_EVERY_MS);
  const live: Live = {
    written: [],
    stopped: false,
    stop() {
      live.stopped = true;
      clearInterval(timer);
    },
  };
  return live;
}

/** Asks logs.all for the oldest live lines not yet seen, until every one has been in an answer. */
async function watchLive(service: Service, live: Live): Promise<void> {
  let count = 0;
  while (!live.stopped || count < live.written.length) {
    const next = live.written[count];
    if (next) {
      // Fewer lines than an answer holds.
      const [start, end] = [next.at - 1, next.at + 3000].map((ms) => new Date(ms).toISOString());
      const query = `project=live&iso_timestamp_start=${start}&iso_timestamp_end=${end}`;
      const { body } = await service.get(`/api/endpoints/query/logs.all?${query}`);
      const seen = new Set((body.result as { id: string }[]).map(({ id }) => id));
      while (seen.has(`live-${count}`)) count++;
    }
    await delay(25);
  }
}

/** No file was begun before the older ones had been read. */
async function wereReadOldestFirst(data: string) {
  await withStore(data, async (store) => {
    const { rows } = await store.query(
      `select split_part(id, '-', 1) as file,
        epoch_us(min(ingested_at)) as first, epoch_us(max(ingested_at)) as last
      from edge_logs where id like 'file%' group by file`,
      {},
      { maxRows: 100 },
    );
    const found = new Map(rows.map(([file, ...numbers]) => [file, numbers.map(Number)]));
    const oldestFirst = [...HOURS_OLD.entries()].sort(([, a], [, b]) => b - a);
    let reached = 0;
    for (const [file] of oldestFirst) {
      const name = `file${file}`;
      const [first = 0, last = 0] = found.get(name) ?? [];
      // A batch may hold the end of one file and the beginning of the next.
      expect(first, `${name} was begun before an older file had been read`).to.be.at.least(reached);
      reached = last;
    }
  });
}

/** Between the writing of a live line and its batch no more than so many batches of the backlog were stored. */
async function wereNotHeldUp(data: string) {
  await withStore(data, async (store) => {
    const { rows } = await store.query(
      `with batches as (
        select distinct ingested_at as moment from edge_logs where id like 'file%'
      ), live as (
        select timestamp as written, ingested_at as stored from edge_logs where project = 'live'
      ), held as (
        select written, count(moment) as batches
        from live left join batches on moment > written and moment < stored
        group by all
      )
      select max(batches), (select count(*) from batches), (
        select count(*) from live where stored < (select max(moment) from batches)
      ) from held`,
      {},
      { maxRows: 1 },
    );
    const [most = 0, all = 0, during = 0] = rows[0]?.map(Number) ?? [];
    console.log(`      a live line waited for ${most} of ${all} batches of the backlog at most`);
    expect(most).to.be.at.most(BATCHES_BEFORE);
    // Live lines that all came before or after the backlog, or a backlog of few batches, would prove nothing.
    expect(all).to.be.above(BATCHES_BEFORE);
    expect(during, 'live lines stored before the backlog was').to.be.above(0);
  });
}
