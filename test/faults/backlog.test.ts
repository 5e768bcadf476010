import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import { edgeLines } from '../bench/lines.ts';
import { eventually, type Service, withFolder, withService, withStore } from '../helpers.ts';

/** 8 × 55,000 lines of about 950 bytes: more than 400 MB. Neither names nor inodes are in the order of age. */
const FILES = 8;
const LINES = 55_000;
const HOURS_OLD = [3, 8, 1, 6, 2, 7, 5, 4];
const LIVE_EVERY_MS = 50;
const FRESH_MS = 5000;
const MEMORY_MB = 700;

describe('a backlog', function () {
  this.timeout(120_000);

  it('is read oldest file first in bounded memory, and a live file stays fresh meanwhile', () =>
    withFolder(async (data) => {
      const folder = join(data, 'logs', 'edge_logs');
      mkdirSync(folder, { recursive: true });
      writeBacklog(folder);

      const { written, lags } = await withService(data, async (service) => {
        const live = startLive(folder);
        const seen = watchLive(service, live.written);
        await eventually(async () => {
          const entry = await edgeLedger(service);
          expect(entry.lines).to.be.at.least(FILES * LINES);
        }, 60_000);
        live.stop();
        const total = FILES * LINES + live.written.length;
        await eventually(async () => expect((await edgeLedger(service)).rows).to.equal(total));
        const lags = await seen;
        const peak = peakMemoryMb(service);
        console.log(
          `      peak ${peak} MB, ${lags.length} live lines, greatest lag ${Math.max(...lags)} ms`,
        );
        expect(peak).to.be.below(MEMORY_MB);
        expect(await service.end('SIGTERM')).to.equal(0);
        return { written: live.written, lags };
      });
      // A backlog that was read in no time would prove nothing.
      expect(written.length).to.be.above(40);
      expect(lags).to.have.length(written.length);
      expect(Math.max(...lags)).to.be.below(FRESH_MS);
      expect(await filesInOrderOfReading(data)).to.deep.equal(
        HOURS_OLD.map((hours, file) => ({ hours, file }))
          .sort((a, b) => b.hours - a.hours)
          .map(({ file }) => `file${file}`),
      );
    }));
});

function writeBacklog(folder: string) {
  const block = [...edgeLines(LINES, { seed: 1, end: Date.now() - 3.6e6, spanMs: 3.6e6 })].map(
    (line) => line.slice(line.indexOf(',')),
  );
  for (const [file, hours] of HOURS_OLD.entries()) {
    const path = join(folder, `file${file}.ndjson`);
    const handle = openSync(path, 'w');
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

/** Appends a line to a live file every 50 ms; `written` holds when, by its number. */
function startLive(folder: string) {
  const written: number[] = [];
  const path = join(folder, 'live.ndjson');
  const timer = setInterval(() => {
    const at = new Date().toISOString();
    const number = written.length;
    appendFileSync(
      path,
      `{"id":"live-${number}","timestamp":"${at}","project":"live","event_message":"","metadata":{"n":1}}\n`,
    );
    written.push(performance.now());
  }, LIVE_EVERY_MS);
  return { written, stop: () => clearInterval(timer) };
}

/** Asks logs.all for the live lines until all are seen; gives the lag of each, in ms. */
async function watchLive(service: Service, written: readonly number[]): Promise<number[]> {
  const lags: number[] = [];
  let quiet = 0;
  // Until nothing was written and nothing is missing for a while.
  while (quiet < 20) {
    const before = written.length;
    const { body } = await service.get('/api/endpoints/query/logs.all?project=live');
    const now = performance.now();
    for (const { id } of (body.result ?? []) as { id: string }[]) {
      const number = Number(id.slice('live-'.length));
      lags[number] ??= Math.round(now - (written[number] ?? now));
    }
    const missing = written.some((_, number) => lags[number] === undefined);
    quiet = before === written.length && !missing ? quiet + 1 : 0;
    if (missing && now - (written.at(-1) ?? now) > 15_000) break;
    await delay(25);
  }
  return Array.from(written, (_, number) => lags[number] ?? Number.POSITIVE_INFINITY);
}

async function edgeLedger(service: Service): Promise<LedgerEntry> {
  const { body } = await service.get('/api/ledger');
  const entry = (body.result as LedgerEntry[]).find(({ source }) => source === 'edge_logs');
  if (!entry) throw new Error('no ledger entry');
  return entry;
}

function peakMemoryMb(service: Service): number {
  const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024);
}

/** The names of the backlog's files in the order of their last batch; each file's lines must be there once. */
async function filesInOrderOfReading(data: string): Promise<string[]> {
  return withStore(data, async (store) => {
    const { rows } = await store.query(
      `select split_part(id, '-', 1) as file, count(*) as lines, count(distinct id) as ids,
        epoch_us(min(ingested_at)) as first, epoch_us(max(ingested_at)) as last
      from edge_logs where id like 'file%' group by file order by last, first`,
      {},
      { maxRows: 100 },
    );
    let reached = 0;
    for (const [file, lines, ids, first, last] of rows) {
      expect([Number(lines), Number(ids)], String(file)).to.deep.equal([LINES, LINES]);
      // A batch may hold the end of one file and the beginning of the next.
      expect(Number(first), `${file} before the older one was read`).to.be.at.least(reached);
      reached = Number(last);
    }
    return rows.map(([file]) => String(file));
  });
}
