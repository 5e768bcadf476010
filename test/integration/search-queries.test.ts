import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { FACETS, facetOf, LINES, QUERIES } from '../support/search-queries.ts';

describe('a search query', () => {
  it('finds the entries that it says, and no others, at every path', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
        const text = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
        appendFileSync(join(data, 'logs/edge_logs/a.log'), text);
        await eventually(async () => expect(await idsOf(service, '')).to.have.length(LINES.length));
        for (const [query, ids] of QUERIES)
          expect(await idsOf(service, query), query).to.equal(ids);
        const bounds = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
        const ask = (name: string, q: string, more: object) =>
          service.get(`/api/${name}/edge_logs?${new URLSearchParams({ q, ...more })}`);
        const { body } = await ask('histogram', 'level:error', bounds);
        const buckets = body.result as { entries: number }[];
        expect(buckets.reduce((sum, { entries }) => sum + entries, 0)).to.equal(2);
        const graded = await ask('histogram', '', { ...bounds, buckets: '1', by: 'severity' });
        expect(graded.body.result).to.have.deep.members(
          [
            ['error', 2],
            ['info', 1],
            ['warn', 2],
            [null, 2],
          ].map(([severity, entries]) => ({ timestamp: bounds.from, entries, severity })),
        );
        for (const [field, q, values] of FACETS)
          expect(await facetOf(service, field, q), field).to.have.members(values);
        expect((await ask('facets', '', { field: 'a b' })).status).to.equal(400);
        const exported = await ask('export', 'level:error', { format: 'json' });
        expect(exported.body).to.include({ count: 2 });
        const tail = await fetch(`${service.url}/api/tail/edge_logs?q=status:500`, {
          headers: { 'X-API-KEY': TOKEN },
        });
        for (const status of [200, 500])
          appendFileSync(
            join(data, 'logs/edge_logs/a.log'),
            `${JSON.stringify({ id: `tail-${status}`, metadata: { response: { status_code: status } } })}\n`,
          );
        let followed = '';
        for await (const chunk of tail.body ?? []) {
          followed += new TextDecoder().decode(chunk);
          if (followed.includes('tail-500')) break;
        }
        expect(followed).not.to.include('tail-200');
      }),
    ));

  it('that cannot be read is refused, with the place and what was expected', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        for (const [query, said] of [
          [
            'user.id:[1 TO 42',
            'Expected a range such as [400 TO 499] at character 9, got "[1 TO 42".',
          ],
          ['a status:abc', 'Expected a number to compare with at character 10, got "abc".'],
          [
            'timestamp:2026',
            'Expected a field but timestamp, which "from" and "to" bound at character 1, got "timestamp".',
          ],
          [
            'a OR',
            'Expected a word, a "phrase", field:value or an opening bracket at character 5, got the end.',
          ],
          ['status:>abc', 'a number to compare with'],
          ['status:abc', 'a number to compare with'],
          ['level:loud', 'a severity, one of trace, debug, info, warn, error, fatal'],
          ['a.b.c.d.e.f.g:1', 'a field of at most 6 names'],
        ] as const) {
          const { status, body } = await service.get(
            `/api/entries/edge_logs?${new URLSearchParams({ q: query })}`,
          );
          expect([status, body.code], query).to.deep.equal([400, 'PARAMETER_INVALID']);
          expect(JSON.stringify(body.errors), query).to.include(JSON.stringify(said).slice(1, -1));
        }
      }),
    ));
});

async function idsOf(service: Service, q: string): Promise<string> {
  const { status, body } = await service.get(
    `/api/entries/edge_logs?${new URLSearchParams({ q })}`,
  );
  expect(status, `${q} ${JSON.stringify(body)}`).to.equal(200);
  const ids = (body.result as { id: string }[]).map(({ id }) => id);
  return ids.sort().join('');
}
