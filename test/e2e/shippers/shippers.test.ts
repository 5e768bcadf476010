import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { LONG } from '../../faults/case.ts';
import {
  eventually,
  type Service,
  withFolder,
  withService,
  withStore,
} from '../../support/helpers.ts';
import { SAMPLE_SEED } from '../../support/sample.ts';
import { SLOW } from '../../support/slow.ts';
import { INSTALL, LOGROTATE, rotate, rsyslog, type Shipping, syslogNg } from './shippers.ts';

/** Ways of logrotate. `hup`: the shipper goes on in the renamed file until it is told to open a new one. */
const WAYS = [
  { name: 'renames the file', directives: 'create', hup: true },
  {
    name: 'renames the file and compresses the one before',
    directives: 'create\ncompress\ndelaycompress',
    hup: true,
  },
  { name: 'copies and truncates the file', directives: 'copytruncate', hup: false },
  {
    name: 'copies and truncates the file and compresses the copy',
    directives: 'copytruncate\ncompress',
    hup: false,
  },
] as const;

const BURST = LONG ? 10_000 : 2000;
const CHUNK = 200;
/** Longer than a sweep and than a rotated file has to be quiet: what is read twice is read twice by then. */
const SETTLE_MS = 2500;

// Each way with one of the two, by the seed.
for (const [i, shipper] of [rsyslog, syslogNg].entries()) {
  describe(`lines of ${shipper.name} are counted exactly once, TAILPOND_TEST_SEED=${SAMPLE_SEED} ${SLOW}`, () => {
    before(function () {
      const missing = [!shipper.program && shipper.name, !LOGROTATE && 'logrotate'].filter(Boolean);
      if (missing.length === 0) return;
      console.log(`    skipped: ${missing.join(' and ')} missing; ${INSTALL}`);
      this.skip();
    });

    for (const way of LONG ? WAYS : WAYS.filter((_, n) => (n + i + SAMPLE_SEED) % 2 === 0)) {
      it(`while logrotate ${way.name}, and the service runs, stands still, is killed and starts again`, () =>
        withFolder(async (folder) => {
          const stream = new Stream(folder);
          const shipping = await shipper.start(folder, stream.file);
          const turn = () => stream.rotate(way, shipping);
          const turns = async () => {
            for (let i = 0; i < 2; i++) {
              await turn();
              await stream.burst(shipping);
            }
          };
          try {
            await withService(stream.data, async (service) => {
              await stream.burst(shipping);
              for (let i = 0; i < 2; i++) {
                if (way.hup) await stream.sendDuring(shipping, turn);
                else await stream.burst(shipping).then(turn);
              }
              await stream.burst(shipping);
              await stream.begun(service);
              service.child.kill('SIGSTOP');
              await turns();
              service.child.kill('SIGCONT');
              await stream.begun(service);
              await service.end('SIGKILL');
              await turns();
            });
            await withService(stream.data, (service) => stream.counted(service));
            await stream.check();
          } finally {
            await shipping.end();
          }
        }));
    }
  });
}

/** Numbered messages on their way: sent to a shipper, written to its file, counted by the service. */
class Stream {
  readonly data: string;
  readonly file: string;
  private readonly folder: string;
  private sent = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.data = join(folder, 'data');
    this.file = join(this.data, 'logs/edge_logs/shop.ndjson');
    mkdirSync(dirname(this.file), { recursive: true });
  }

  /** Sends so many messages, and waits until the shipper has written them all. */
  async burst(shipping: Shipping): Promise<void> {
    for (let i = 0; i < BURST / CHUNK; i++) await this.chunk(shipping);
    await this.written();
  }

  /** Sends without a pause until `action` is over. */
  async sendDuring(shipping: Shipping, action: () => Promise<void>): Promise<void> {
    let over = false;
    const acting = action().finally(() => {
      over = true;
    });
    while (!over) {
      await this.chunk(shipping);
      await delay(5);
    }
    await acting;
  }

  /** Rotates the file, once the shipper writes to it. */
  async rotate(way: (typeof WAYS)[number], shipping: Shipping): Promise<void> {
    await eventually(async () => {
      if (statSync(this.file).size > 0) return;
      // A shipper may notice the signal late, or not at all, and write the whole burst to the renamed file.
      if (way.hup) process.kill(shipping.pid, 'SIGHUP');
      await this.chunk(shipping);
      expect(statSync(this.file).size).to.be.above(0);
    });
    const hup = `postrotate\nkill -HUP ${shipping.pid}\nendscript`;
    await rotate(this.folder, this.file, `rotate 100\n${way.directives}\n${way.hup ? hup : ''}`);
  }

  /** Waits until the service has counted a line more, and maybe not all. */
  async begun(service: Service): Promise<void> {
    const before = (await edgeLogs(service)).lines as number;
    if (before > 0) return;
    await eventually(async () => expect((await edgeLogs(service)).lines).to.be.above(0));
  }

  /** Waits until the service has counted what was sent, and longer, in case it counts on. */
  async counted(service: Service): Promise<void> {
    await this.written();
    await eventually(async () => {
      expect((await edgeLogs(service)).lines).to.be.at.least(this.sent);
    });
    await delay(SETTLE_MS);
    // What logrotate has packed is pending for a moment, some seconds after the file that it was is gone.
    await eventually(async () => {
      const { lines, rows, rejected, repaired, undated, stored, pending_bytes, refused } =
        await edgeLogs(service);
      expect({ lines, rows, rejected, repaired, undated, stored, pending_bytes, refused }).to.eql({
        lines: this.sent,
        rows: this.sent,
        rejected: 0,
        repaired: 0,
        undated: 0,
        stored: this.sent,
        pending_bytes: 0,
        refused: [],
      });
    });
    const { body } = await service.get('/api/endpoints/query/logs.all?project=shop');
    const listed = (body.result as { event_message: string }[]).map((row) => row.event_message);
    expect(listed).to.have.length(100);
    expect([listed[0], listed[99]]).to.eql([text(this.sent - 1), text(this.sent - 100)]);
  }

  /** Once the service has ended: every message that was sent is a row, with its text and time. */
  check(): Promise<void> {
    return withStore(this.data, async (store) => {
      const { rows } = await store.query(
        `select event_message, epoch_ms(timestamp)::varchar, metadata ->> 'host'
          from edge_logs order by timestamp`,
        {},
        { maxRows: this.sent + 1 },
      );
      expect(rows).to.have.length(this.sent);
      const wrong = rows.findIndex(
        ([message, timeMs, host], i) =>
          message !== text(i) || timeMs !== String(timeMsOf(i)) || host !== 'shop-1',
      );
      if (wrong !== -1)
        expect(rows[wrong]).to.eql([text(wrong), String(timeMsOf(wrong)), 'shop-1']);
    });
  }

  private async chunk(shipping: Shipping): Promise<void> {
    const messages = Array.from({ length: CHUNK }, (_, i) => message(this.sent + i));
    this.sent += CHUNK;
    await shipping.send(messages);
  }

  /** The count is measured by what the shipper wrote: all generations of its file together. */
  private async written(): Promise<void> {
    await eventually(() => expect(linesBelow(dirname(this.file))).to.equal(this.sent));
  }
}

const START_MS = Date.parse('2026-11-20T10:00:00Z');

/** A message of RFC 5424. */
function message(number: number): string {
  const time = new Date(timeMsOf(number)).toISOString();
  return `<134>1 ${time} shop-1 checkout 42 - - ${text(number)}`;
}

function text(number: number): string {
  return `line ${number} "quoted" C:\\new\tgrüße 🦆`;
}

function timeMsOf(number: number): number {
  return START_MS + number;
}

function linesBelow(folder: string): number {
  let lines = 0;
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    for (const byte of name.endsWith('.gz') ? gunzipSync(bytes) : bytes) if (byte === 10) lines++;
  }
  return lines;
}

async function edgeLogs(service: Service): Promise<Record<string, unknown>> {
  const { body } = await service.get('/api/ledger');
  const entries = body.result as Record<string, unknown>[];
  return entries.find(({ source }) => source === 'edge_logs') ?? {};
}
