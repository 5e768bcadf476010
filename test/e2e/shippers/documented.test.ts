import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { eventually, type Service, withFolder, withService } from '../../support/helpers.ts';
import { type Block, readBlocks } from '../docs/markdown.ts';
import { INSTALL, LOGROTATE, logrotate, rsyslog, type Shipping, syslogNg } from './shippers.ts';

const PAGE = 'docs/shippers.md';
const BLOCKS = readBlocks(PAGE, readFileSync(join(ROOT, PAGE), 'utf8'));
const [RSYSLOG, SYSLOG_NG, LOGROTATE_BLOCK] = BLOCKS.filter(({ language }) => language === '');
const IS_ROOT = process.getuid?.() === 0;

describe('the configurations of docs/shippers.md', () => {
  for (const [shipper, block, file] of [
    [rsyslog, RSYSLOG, 'syslog.ndjson'],
    [syslogNg, SYSLOG_NG, 'syslog-ng.ndjson'],
  ] as const) {
    it(`of ${shipper.name} and of logrotate: what PostgreSQL says becomes rows, once, over a rotation`, async function () {
      if (!shipper.program || !LOGROTATE) {
        console.log(`    skipped: ${shipper.name} or logrotate missing; ${INSTALL}`);
        return this.skip();
      }
      if (!IS_ROOT) {
        console.log('    skipped: files of root:adm are made by root alone');
        return this.skip();
      }
      await withFolder(async (folder) => {
        const data = join(folder, 'tailpond/data');
        await withService(data, async (service) => {
          const log = join(data, 'logs/postgres_logs', file);
          const shipping = await shipper.startBy(folder, below(folder, block));
          try {
            await shipping.send([message(1, 'postgres'), message(2, 'cron')]);
            await stored(service, 1);
            await rotateBy(folder, shipping);
            await shipping.send([message(3, 'postgres')]);
            await stored(service, 2);
            expect(readdirSync(dirname(log)).sort()).to.include.members([file, `${file}.1`]);
          } finally {
            await shipping.end();
          }
          await listed(service);
        });
      });
    });
  }
});

/** A configuration of the page with its data folder below `folder`. */
function below(folder: string, block: Block | undefined): string {
  if (!block) throw new Error(`${PAGE} has no such configuration`);
  return `${block.text.replaceAll('/srv/tailpond', join(folder, 'tailpond'))}\n`;
}

/** Rotates as the page says; the signal goes to the shipper that runs here. */
function rotateBy(folder: string, { pid }: Shipping): Promise<string> {
  const config = below(folder, LOGROTATE_BLOCK);
  const signal = 'systemctl kill -s HUP rsyslog.service';
  expect(config).to.include(signal);
  return logrotate(folder, config.replace(signal, `kill -HUP ${pid}`));
}

/** A message of RFC 5424, warning. */
function message(second: number, program: string): string {
  return `<132>1 2026-11-20T10:00:0${second}.5+01:00 db-1 ${program} 42 - - said "${second}"`;
}

async function stored(service: Service, rows: number): Promise<void> {
  await eventually(async () => {
    const { body } = await service.get('/api/ledger');
    const ledger = body.result as Record<string, unknown>[];
    const { refused, ...entry } = ledger.find(({ source }) => source === 'postgres_logs') ?? {};
    expect({ ...entry, refused }).to.deep.include({ rows, rejected: 0, undated: 0, refused: [] });
  });
}

async function listed(service: Service): Promise<void> {
  const sql = `select timestamp, event_message, m.program, m.host, m.severity
    from postgres_logs cross join unnest(metadata) as m order by timestamp`;
  const parameters = new URLSearchParams({ project: 'default', sql });
  const { body } = await service.get(`/api/endpoints/query/logs.all?${parameters}`);
  const row = (second: number) => ({
    timestamp: Date.parse(`2026-11-20T09:00:0${second}.500Z`) * 1000,
    event_message: `said "${second}"`,
    ...{ program: 'postgres', host: 'db-1', severity: 'warning' },
  });
  expect(body.result).to.deep.equal([row(1), row(3)]);
}
