import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clickhouseIt } from '../clickhouse/case.ts';
import { ledger } from '../faults/lines.ts';
import { eventually, withService } from '../support/helpers.ts';
import { FACETS, facetOf, LINES, QUERIES } from '../support/search-queries.ts';

describe('a search query over ClickHouse', () => {
  clickhouseIt('finds the entries that it finds in the store', async (server, folder) => {
    const data = join(folder, 'data');
    mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
    const text = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
    appendFileSync(join(data, 'logs/edge_logs/a.log'), text);
    await withService(
      data,
      async (service) => {
        await eventually(async () => {
          const entry = (await ledger(service)).find(({ source }) => source === 'edge_logs');
          expect(entry).to.include({ forwarded: LINES.length });
        });
        for (const [query, ids] of QUERIES) {
          const search = new URLSearchParams({ q: query });
          const { status, body } = await service.get(`/api/entries/edge_logs?${search}`);
          expect(status, `${query} ${JSON.stringify(body)}`).to.equal(200);
          const found = (body.result as { id: string }[]).map(({ id }) => id);
          expect(found.sort().join(''), query).to.equal(ids);
        }
        for (const [field, query, values] of FACETS)
          expect(await facetOf(service, field, query), field).to.have.members(values);
        const bounds = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
        const asked = new URLSearchParams({ ...bounds, buckets: '1', by: 'severity' });
        const { body } = await service.get(`/api/histogram/edge_logs?${asked}`);
        const buckets = body.result as { severity: string | null; entries: number }[];
        expect(buckets.map(({ severity, entries }) => `${severity} ${entries}`)).to.have.members([
          'error 2',
          'info 1',
          'warn 2',
          'null 2',
        ]);
      },
      { env: { TAILPOND_CLICKHOUSE_URL: server.url } },
    );
  });
});
