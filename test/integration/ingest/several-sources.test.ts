import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Source } from '../../../ingest/index.ts';
import { eventually, withFolder, withIngest } from '../../support/helpers.ts';

/** How many lines each has: of some a megabyte and more, which are not stored in the way that a few lines are. */
const COUNTS: readonly (readonly [Source, number])[] = [
  ['edge_logs', 3000],
  ['postgres_logs', 3],
  ['function_logs', 3000],
  ['auth_logs', 1],
  ['storage_logs', 200],
];

/** Every tenth line is a flat log, and every fiftieth, from the seventh on, is broken. */
function line(source: Source, n: number): string {
  const id = `${source}-${n}`;
  if (n % 50 === 7) return `{"id":"${id}",}}`;
  const metadata = { request: { path: `/${n}` }, filler: 'x'.repeat(400) };
  return JSON.stringify(
    n % 10 === 3 ? { id, msg: 'flat', ...metadata } : { id, event_message: 'whole', metadata },
  );
}

describe('lines of several sources that are stored together', () => {
  it('become rows and rejected lines of their own sources, however many each has', () =>
    withFolder(async (data) => {
      for (const [source, count] of COUNTS) {
        const path = join(data, 'logs', source, 'app.ndjson');
        mkdirSync(dirname(path), { recursive: true });
        const lines = Array.from({ length: count }, (_, n) => `${line(source, n)}\n`);
        writeFileSync(path, lines.join(''));
      }
      await withIngest(data, async (ingesting) => {
        for (const [source, count] of COUNTS) {
          const broken = Array.from({ length: count }, (_, n) => n).filter((n) => n % 50 === 7);
          const entry = await ingesting.lines(count, source);
          expect(entry, source).to.include({
            lines: count,
            rows: count - broken.length,
            rejected: broken.length,
            stored: count - broken.length,
          });
          const rows = await ingesting.rows(source, 'id');
          const ids = Array.from({ length: count }, (_, n) => n)
            .filter((n) => !broken.includes(n))
            .map((n) => `${source}-${n}`);
          expect(rows.map(({ id }) => id)).to.deep.equal(ids.toSorted());
          expect(await ingesting.rejected(source)).to.have.length(broken.length);
        }
      });
    }));

  it('are counted by the ledger as they come, with the first and the last moment', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const write = (second: number) =>
          ingesting.write(
            'auth_logs/app.ndjson',
            `{"timestamp":"2026-01-01T00:00:${second}Z","event_message":"x"}\n`,
          );
        const seen: number[] = [];
        for (const second of [30, 40, 20, 50, 10, 35]) {
          write(second);
          seen.push(second);
          const { stored, oldest, newest } = await ingesting.lines(seen.length, 'auth_logs');
          expect([stored, oldest, newest]).to.deep.equal([
            seen.length,
            `2026-01-01T00:00:${Math.min(...seen)}Z`,
            `2026-01-01T00:00:${Math.max(...seen)}Z`,
          ]);
        }
        expect(await ingesting.ledger('edge_logs')).to.include({ stored: 0, oldest: null });
      }),
    ));

  it('are counted right when they were put in order before the ledger looked at them', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const { store } = ingesting;
        const write = (project: string, minute: number) =>
          ingesting.write(
            'auth_logs/app.ndjson',
            `{"timestamp":"2026-01-01T00:${minute}:00Z","project":"${project}","event_message":"x"}\n`,
          );
        const rows = async () =>
          Number(
            (await store.query('select count(*) from auth_logs', {}, { maxRows: 1 })).rows[0]?.[0],
          );
        for (let minute = 20; minute < 30; minute++) write('z', minute);
        await ingesting.lines(10, 'auth_logs');
        for (let minute = 30; minute < 35; minute++) write('a', minute);
        write('a', 10);
        await eventually(async () => expect(await rows()).to.equal(16));
        expect((await store.settling.settle('auth_logs', 1))?.sorted).to.equal(true);
        expect(await ingesting.ledger('auth_logs')).to.include({
          stored: 16,
          oldest: '2026-01-01T00:10:00Z',
          newest: '2026-01-01T00:34:00Z',
        });
      }),
    ));
});
