import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BATCH_LINES } from '../../../ingest/index.ts';
import { type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';

/** At most four full batches are stored at once. One goes before them and tells how long lines are. */
const LINES = 5 * BATCH_LINES + 20_000;
const NORMAL = '{"timestamp":"2026-11-20T10:00:00Z","event_message":"m","metadata":';
const LANES = Math.min(4, availableParallelism());

describe(`a backlog of many row groups ${SLOW}`, function () {
  this.timeout(300_000);

  it('is stored several full batches at a time', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        dropFile(data, new Map());
        expect(await ingesting.lines(LINES)).to.include({ rows: LINES, rejected: 0 });
        expect(await numbers(ingesting)).to.deep.equal([LINES, LINES, sumTo(LINES)]);
        const transactions = await ingesting.store.query(
          'select max(n) from (select count(*) as n from edge_logs group by ingested_at)',
          {},
          { maxRows: 1 },
        );
        expect(Number(transactions.rows[0]?.[0])).to.equal(LANES * BATCH_LINES);
      }),
    ));

  it('loses and doubles no line when some are odd, and does not stop at any', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const at = (batch: number) => batch * BATCH_LINES + 777;
        const odd = new Map([
          [at(0), 'no JSON'],
          // The engine finds it: a line in normal form is not read before.
          [at(1), `${NORMAL}{"a":[}}}`],
          [at(2), '{"timestamp":never}'],
          [at(3), '{"id":"n","msg":"without metadata"}'],
          [at(4), '{\0"a":1}'],
        ]);
        dropFile(data, odd);
        const rows = LINES - 4;
        expect(await ingesting.lines(LINES)).to.include({ rows, rejected: 4 });
        const rejected = (await ingesting.rejected()).map(({ line }) => String(line));
        const bad = [...odd.values()].filter((line) => !line.includes('without'));
        expect(rejected).to.have.members(bad);
        const missing = [...odd.keys()].reduce((sum, n) => sum + n, 0);
        expect(await numbers(ingesting)).to.deep.equal([
          rows - 1,
          rows - 1,
          sumTo(LINES) - BigInt(missing),
        ]);
      }),
    ));
});

describe('a full batch with a line that does not become a row', function () {
  this.timeout(300_000);

  it('hides no row that is stored after it', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const lines = 2 * BATCH_LINES + 20_000;
        const odd = BATCH_LINES + 777;
        dropFile(data, new Map([[odd, '{"timestamp":never}']]), lines);
        expect(await ingesting.lines(lines)).to.include({ rows: lines - 1, rejected: 1 });
        expect(await numbers(ingesting)).to.deep.equal([
          lines - 1,
          lines - 1,
          sumTo(lines) - BigInt(odd),
        ]);
      }),
    ));
});

describe('a full batch of lines that do not become rows', function () {
  this.timeout(300_000);

  it('is kept as rejected lines in one transaction', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const bad = `${NORMAL}{"a":[}}}\n`;
        const folder = join(data, 'logs', 'edge_logs');
        writeFileSync(join(folder, '.new'), bad.repeat(BATCH_LINES));
        renameSync(join(folder, '.new'), join(folder, 'a.ndjson'));
        expect(await ingesting.lines(BATCH_LINES)).to.include({ rows: 0, rejected: BATCH_LINES });
        const { rows } = await ingesting.store.query(
          'select count(*), count(distinct "offset"), count(distinct rejected_at) from rejected',
          {},
          { maxRows: 1 },
        );
        expect(rows[0]?.map(Number)).to.deep.equal([BATCH_LINES, BATCH_LINES, 1]);
        expect(ingesting.ingest.status().lastError).to.equal(null);
      }),
    ));
});

/** Makes a file of numbered lines, some of them replaced by `odd` ones. The file appears whole. */
function dropFile(data: string, odd: ReadonlyMap<number, string>, lines = LINES) {
  const at = new Date().toISOString();
  const texts = Array.from(
    { length: lines },
    (_, n) =>
      odd.get(n) ??
      `{"id":"${String(n).padStart(6, '0')}","timestamp":"${at}","project":"p","event_message":"m","metadata":{}}`,
  );
  const folder = join(data, 'logs', 'edge_logs');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.new'), `${texts.join('\n')}\n`);
  renameSync(join(folder, '.new'), join(folder, 'a.ndjson'));
}

/** Returns how many rows have a number, how many different numbers there are, and their sum. */
async function numbers(ingesting: Ingesting) {
  const { rows } = await ingesting.store.query(
    'select count(n), count(distinct n), sum(n)::varchar from (select try_cast(id as bigint) as n from edge_logs)',
    {},
    { maxRows: 1 },
  );
  const [count, distinct, sum] = rows[0] ?? [];
  return [Number(count), Number(distinct), BigInt(String(sum))];
}

function sumTo(count: number): bigint {
  return (BigInt(count) * BigInt(count - 1)) / 2n;
}
