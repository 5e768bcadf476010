import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import { eventually, withFolder, withIngest, withService } from '../support/helpers.ts';
import { edgeLines } from '../support/lines.ts';
import { SLOW } from '../support/slow.ts';

/** More than a full batch. */
const LINES = 125_000;

describe(`the least memory that is allowed ${SLOW}`, function () {
  this.timeout(300_000);

  it('is enough for a backlog of full batches, and for a query meanwhile', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          const folder = join(data, 'logs', 'edge_logs');
          mkdirSync(folder, { recursive: true });
          const lines = edgeLines(LINES, { seed: 1, end: Date.now(), spanMs: 3.6e6 });
          writeFileSync(join(folder, 'a.ndjson'), `${[...lines].join('\n')}\n`);
          await eventually(async () => {
            const { status, body } = await service.get('/api/ledger');
            expect(status).to.equal(200);
            const entry = (body.result as LedgerEntry[]).find((one) => one.source === 'edge_logs');
            expect(entry).to.include({ lines: LINES, rows: LINES, stored: LINES });
          }, 200_000);
          expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
        },
        { env: { TAILPOND_MEMORY: '96MB' } },
      ),
    ));

  it('is enough to settle rows and to fill the columns of what is left, of objects and of arrays, none of them with a severity', () =>
    withFolder((data) =>
      withIngest(
        data,
        async ({ store, write, ledger }) => {
          // A run, and some more.
          const count = 32_000;
          const options = { seed: 2, end: Date.now(), spanMs: 3.6e6 };
          const texts = [false, true].map((arrays) =>
            Array.from(edgeLines(count, { ...options, arrays })),
          );
          const mixed = Array.from({ length: count }, (_, i) => texts[i % 2]?.[i]);
          // No severity is known for a status of 600.
          const lines = mixed.map((line) =>
            line?.replace(/"status_code":\d+/, '"status_code":600'),
          );
          write('edge_logs/a.ndjson', `${lines.join('\n')}\n`);
          await eventually(async () => expect((await ledger()).stored).to.equal(count));
          while (await store.settling.settle('edge_logs'));
          while ((await store.settling.fill('edge_logs', 1)) > 0);
          const { rows } = await store.query(
            `select count("metadata.request.method"), count(severity) from edge_logs`,
            {},
            { maxRows: 1 },
          );
          expect(rows).to.deep.equal([[BigInt(count), 0n]]);
        },
        { memory: 96e6 },
      ),
    ));
});
