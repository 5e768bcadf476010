import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import { edgeLines } from '../bench/lines.ts';
import { eventually, withFolder, withService } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

/** More than a full batch. */
const LINES = 150_000;

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
});
