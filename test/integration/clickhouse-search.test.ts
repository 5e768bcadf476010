import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clickhouseIt } from '../clickhouse/case.ts';
import { ledger } from '../faults/lines.ts';
import { eventually, withService } from '../support/helpers.ts';
import {
  FACETS,
  facetOf,
  LINES,
  PASTED_LINES,
  PASTED_QUERIES,
  QUERIES,
} from '../support/search-queries.ts';

const NUMBERS = [
  ...[
    '1',
    '0',
    '-2',
    '7.25',
    '1e400',
    '-1e400',
    'NaN',
    'Infinity',
    '-Infinity',
    '"1.0"',
    'true',
    'null',
  ],
  ...['18446744073709551615', '18446744073709551616', '-9223372036854775809', '9'.repeat(40)],
  ...['"a:1.0,\\"b:NaN"', '[7,1e400]', '[{"a":NaN}]', '{"a":1e400}'],
];
const TESTS = [
  '*',
  '>5',
  '<0',
  '>=1',
  '1',
  '7*',
  'NaN',
  'Infinity',
  '18446744073709551616',
  '1e400',
];

describe('a search query over ClickHouse', () => {
  clickhouseIt('finds the entries that it finds in the store', async (server, folder) => {
    const data = join(folder, 'data');
    mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
    mkdirSync(join(data, 'logs/app_logs'), { recursive: true });
    const asked = [
      ['edge_logs', LINES, QUERIES],
      ['app_logs', PASTED_LINES, PASTED_QUERIES],
    ] as const;
    for (const [name, lines] of asked) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      appendFileSync(join(data, `logs/${name}/a.log`), text);
    }
    await withService(
      data,
      async (service) => {
        for (const [name, lines, queries] of asked) {
          await eventually(async () => {
            const entry = (await ledger(service)).find(({ source }) => source === name);
            expect(entry).to.include({ forwarded: lines.length });
          });
          for (const [query, ids] of queries) {
            const search = new URLSearchParams({ q: query });
            const { status, body } = await service.get(`/api/entries/${name}?${search}`);
            expect(status, `${query} ${JSON.stringify(body)}`).to.equal(200);
            const found = (body.result as { id: string }[]).map(({ id }) => id);
            expect(found.sort().join(''), query).to.equal(ids);
          }
        }
        for (const [field, query, values] of FACETS)
          expect(await facetOf(service, field, query), field).to.have.members(values);
        const bounds = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
        const graded = new URLSearchParams({ ...bounds, buckets: '1', by: 'severity' });
        const { body } = await service.get(`/api/histogram/edge_logs?${graded}`);
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

  clickhouseIt('finds entries with numbers that it has no type for', async (server, folder) => {
    const lines = NUMBERS.flatMap((value, i) => [
      `{"id":"${i}","timestamp":"2026-11-20T10:00:00Z","metadata":{"n":${value},"b":"x:1e400,y"}}\n`,
      `{"id":"${i}b","timestamp":"2026-11-20T10:00:00Z","metadata":{"r":[{"n": ${value} , "b": "1.0"}]}}\n`,
    ]);
    const answers = async (name: string, env: Record<string, string>) => {
      const data = join(folder, name);
      mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
      appendFileSync(join(data, 'logs/edge_logs/a.log'), lines.join(''));
      return withService(
        data,
        async (service) => {
          await eventually(async () => {
            const entry = (await ledger(service)).find(({ source }) => source === 'edge_logs');
            expect(entry).to.include({
              [env.TAILPOND_CLICKHOUSE_URL ? 'forwarded' : 'stored']: lines.length,
            });
          });
          const found: Record<string, unknown> = {};
          for (const field of ['n', 'r.n', 'n.a', 'b', 'r.b']) {
            for (const test of TESTS)
              for (const query of [`${field}:${test}`, `-${field}:${test}`]) {
                const search = new URLSearchParams({ q: query });
                const { status, body } = await service.get(`/api/entries/edge_logs?${search}`);
                expect(status, `${query} ${JSON.stringify(body)}`).to.equal(200);
                found[query] = (body.result as { id: string }[]).map(({ id }) => id).sort();
              }
            found[field] = (await facetOf(service, field, '')).sort();
          }
          return found;
        },
        { env },
      );
    };
    const here = await answers('here', {});
    // NaN and the infinities are repaired, to null.
    expect(here['n:*']).to.have.length(NUMBERS.length - 4);
    const there = await answers('there', { TAILPOND_CLICKHOUSE_URL: server.url });
    for (const [query, found] of Object.entries(here))
      expect(there[query], query).to.deep.equal(found);
  });
});
