import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { type Service, spawnService, withFolder, withService } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, drop, dropLines, ledger } from './lines.ts';
import { storeCommand } from './store-command.ts';

const EX_CONFIG = 78;
const databaseOf = (data: string) => join(data, 'store', 'tailpond.duckdb');
const logOf = (data: string) => `${databaseOf(data)}.wal`;

/** Made by the first case that needs it. */
let killed: { readonly data: string; readonly expectedLines: ExpectedLines } | null = null;

describe('a broken store', () => {
  after(() => {
    if (killed) rmSync(killed.data, { recursive: true, force: true });
  });

  faultCase(
    'D08a',
    'a write-ahead log whose last 4 KiB are zeros, as power leaves it, loses that commit alone; a check changes nothing',
    () =>
      withKilledStore(async (data, expectedLines) => {
        zeroTail(logOf(data));
        const before = contents(data);
        const { code, text } = await storeCommand(data, ['check']);
        expect(code, text).to.equal(1);
        expect(text).to.match(/write-ahead log .*loss of power.*next start of tailpond removes/);
        expect(contents(data)).to.deep.equal(before);
        await comesBack(data, expectedLines, (log) =>
          expect(log.map(({ msg }) => msg).join('\n')).to.match(/removed a commit .*loss of power/),
        );
      }),
  );

  for (const [id, what, damage] of [
    ['D08b', 'with a flipped bit in its middle', flipMiddle],
    ['D08c', 'with a page of zeros in its middle', zeroMiddle],
  ] as const)
    faultCase(id, `a write-ahead log ${what} is refused; without it all lines come back`, () =>
      withKilledStore(async (data, expectedLines) => {
        damage(logOf(data));
        await refused(data, /write-ahead log .*damaged.*Nothing was changed.*move the log away/);
        const { code, text } = await storeCommand(data, ['check']);
        expect(code, text).to.equal(1);
        expect(text).to.match(/write-ahead log/);
        renameSync(logOf(data), join(data, 'aside.wal'));
        await comesBack(data, expectedLines);
      }),
    );

  for (const [id, what, damage] of [
    ['D09a', 'is gone', (log: string) => rmSync(log)],
    ['D09b', 'has a flipped bit in its last entry', (log: string) => flip(log, -20)],
    ['D09c', 'is all zeros', (log: string) => writeFileSync(log, Buffer.alloc(statSync(log).size))],
    [
      'D09d',
      'is cut in its last entry',
      (log: string) => truncateSync(log, statSync(log).size - 3),
    ],
  ] as const)
    faultCase(id, `a write-ahead log that ${what}: the rows come back from the files`, () =>
      withKilledStore(async (data, expectedLines) => {
        damage(logOf(data));
        await comesBack(data, expectedLines);
      }),
    );

  faultCase(
    'D10n',
    "a file cut among rows that only the write-ahead log tells of, in the database's place, is refused and left as it is",
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        await withService(data, async (service) => {
          // A row group goes into the database file before its commit.
          const whole = Array.from({ length: 31_000 }, () => expectedLines.line());
          writeFileSync(join(data, 'b.ndjson'), whole.join(''));
          renameSync(join(data, 'b.ndjson'), join(data, 'logs/edge_logs/b.ndjson'));
          await allStored(service, expectedLines);
          await service.end('SIGKILL');
        });
        const { size } = statSync(databaseOf(data));
        for (const cut of [1, 400_000, Math.floor(size / 2)])
          await withCopy(data, async (copy) => {
            truncateSync(databaseOf(copy), size - cut);
            // It is not the log's fault, which is read first.
            await refused(copy, /tailpond\.duckdb is (?:cut off|damaged).*Nothing was changed/);
          });
      }),
  );

  faultCase(
    'D09e',
    'a write-ahead log that a kill cut anywhere in a batch of whole row groups: each line is stored once',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const sizeOf = () => statSync(logOf(data), { throwIfNoEntry: false })?.size ?? 0;
        let before = 0;
        await withService(data, async (service) => {
          dropLines(data, expectedLines, 10);
          await allStored(service, expectedLines);
          before = sizeOf();
          const whole = Array.from({ length: 31_000 }, () => expectedLines.line());
          writeFileSync(join(data, 'b.ndjson'), whole.join(''));
          renameSync(join(data, 'b.ndjson'), join(data, 'logs/edge_logs/b.ndjson'));
          await allStored(service, expectedLines);
          await service.end('SIGKILL');
        });
        const bytes = sizeOf() - before;
        // Its rows are in the database file by then, and the log says where.
        expect(bytes).to.be.within(200, 100_000);
        const parts = LONG ? 10 : 2;
        const cuts = [
          1,
          21,
          ...Array.from({ length: parts }, (_, n) => Math.ceil((bytes * (n + 1)) / parts)),
        ];
        for (const cut of cuts)
          await withCopy(data, async (copy) => {
            truncateSync(logOf(copy), sizeOf() - cut);
            await comesBack(copy, expectedLines);
          });
      }),
  );

  const damages: [string, string, (database: string) => void][] = [
    ['D10a', 'an empty file', (path) => writeFileSync(path, '')],
    ['D10b', 'a text file', (path) => writeFileSync(path, 'no database\n'.repeat(1000))],
    [
      'D10c',
      'a database of SQLite',
      (path) => writeFileSync(path, `SQLite format 3\0${'x'.repeat(8192)}`),
    ],
    ['D10d', 'a flipped bit in the first header', (path) => flip(path, 20)],
    ['D10e', 'a flipped bit in the second header', (path) => flip(path, 4096 + 20)],
    ['D10f', 'a flipped bit in the third header', (path) => flip(path, 8192 + 20)],
    ['D10g', 'a file of a newer engine', asNewer],
    ['D10h', 'a file cut after its headers', (path) => truncateSync(path, 12_288)],
    ['D10i', 'a file cut in its last block', (path) => truncateSync(path, statSync(path).size - 1)],
    ['D10j', 'no file beside a write-ahead log', (path) => renameSync(path, `${path}.away`)],
  ];
  for (const [id, what, damage] of damages)
    faultCase(id, `${what} in the database's place is refused and left as it is`, () =>
      withKilledStore(async (data) => {
        damage(databaseOf(data));
        await refused(data, REFUSED);
      }),
    );

  faultCase('D10o', 'commands on a write-ahead log without its database say so, too', () =>
    withKilledStore(async (data) => {
      renameSync(databaseOf(data), join(data, 'away.duckdb'));
      const saved = readFileSync(logOf(data));
      for (const words of [['check'], ['backup', join(data, 'copy.duckdb')]]) {
        const { code, text } = await storeCommand(data, words);
        expect(code, text).to.not.equal(0);
        expect(text).to.match(/is missing, but its write-ahead log .* is there/);
      }
      expect(readFileSync(logOf(data)).equals(saved)).to.equal(true);
      expect(existsSync(databaseOf(data))).to.equal(false);
    }),
  );

  faultCase('D10k', "another program's database is refused and left as it is", () =>
    withFolder(async (data) => {
      mkdirSync(join(data, 'store'), { recursive: true });
      writeFileSync(databaseOf(data), fixture('foreign'));
      await refused(data, /not of tailpond.*Nothing was changed/);
    }),
  );

  faultCase('D10l', 'a database of a newer tailpond is refused and left as it is', () =>
    withFolder(async (data) => {
      mkdirSync(join(data, 'store'), { recursive: true });
      writeFileSync(databaseOf(data), fixture('schema-999'));
      await refused(data, /schema version 999.*install the newer one/);
    }),
  );

  faultCase(
    'D10m',
    'a flipped bit in rows: what reads them fails, lines come in, all else is answered, and a check names it',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const noise = () => randomBytes(100).toString('hex');
        drop(
          data,
          'edge_logs/a.ndjson',
          Array.from({ length: 20_000 }, () => expectedLines.line('edge_logs', noise())).join(''),
        );
        await withService(data, async (service) => {
          await allStored(service, expectedLines);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        flipMiddle(databaseOf(data));
        await withService(data, async (service) => {
          const ask = (sql: string) =>
            service.get(`/api/endpoints/query/logs.all?project=p&sql=${encodeURIComponent(sql)}`);
          const texts = await ask(
            "select count(*) as n from edge_logs where event_message like '%z%'",
          );
          expect([texts.status, texts.body.code]).to.deep.equal([500, 'INTERNAL']);
          dropLines(data, expectedLines, 100);
          dropLines(data, expectedLines, 100, 'auth_logs');
          await allStored(service, expectedLines);
          const count = await ask('select count(*) as n from edge_logs');
          expect(count.body.result).to.deep.equal([{ n: 20_100 }]);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        const { code, text } = await storeCommand(data, ['check']);
        expect(code, text).to.equal(1);
        expect(text).to.match(/edge_logs cannot be read/);
      }),
  );

  faultCase(
    'D16b',
    'a database and a log of different moments are refused; then all comes back',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        await session(data, expectedLines, 'SIGTERM');
        const old = join(data, 'old.duckdb');
        copyFileSync(databaseOf(data), old);
        await session(data, expectedLines, 'SIGTERM');
        await session(data, expectedLines, 'SIGKILL');
        copyFileSync(old, databaseOf(data));
        await refused(data, /belongs to another state.*move the log away/);
        rmSync(logOf(data));
        await comesBack(data, expectedLines);
      }),
  );

  faultCase('D16c', "yesterday's database beside files of three days: the gap is read once", () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      const logs = join(data, 'logs', 'edge_logs');
      await session(data, expectedLines, 'SIGTERM');
      renameSync(join(logs, 'a.ndjson'), join(logs, 'a.ndjson.1'));
      await session(data, expectedLines, 'SIGTERM');
      copyFileSync(databaseOf(data), join(data, 'yesterday.duckdb'));
      renameSync(join(logs, 'a.ndjson.1'), join(logs, 'a.ndjson.2'));
      renameSync(join(logs, 'a.ndjson'), join(logs, 'a.ndjson.1'));
      await session(data, expectedLines, 'SIGTERM');
      copyFileSync(join(data, 'yesterday.duckdb'), databaseOf(data));
      await comesBack(data, expectedLines);
    }),
  );

  faultCase(
    'D18',
    'a database of an older engine is opened, its rows are kept, and lines are stored in it',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        mkdirSync(join(data, 'store'), { recursive: true });
        writeFileSync(databaseOf(data), fixture('duckdb-1.4.4'));
        for (let i = 0; i < 100; i++) expectedLines.row(`old-${i}`);
        await session(data, expectedLines, 'SIGKILL');
        await comesBack(data, expectedLines);
      }),
  );
});

const REFUSED =
  /tailpond\.duckdb.*Nothing was changed.*[Rr]estore a backup \(tailpond restore <file>\)/;

/** A copy of a store of two sessions; the second was killed and left a write-ahead log of several transactions. */
async function withKilledStore(
  action: (data: string, expectedLines: ExpectedLines) => Promise<void>,
) {
  killed ??= await killedStore();
  const { data, expectedLines } = killed;
  await withCopy(data, (copy) => action(copy, expectedLines));
}

async function withCopy(data: string, action: (copy: string) => Promise<void>) {
  await withFolder(async (copy) => {
    cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    await action(copy);
  });
}

async function killedStore() {
  const data = mkdtempSync(join(tmpdir(), 'tailpond-test-'));
  const expectedLines = newExpectedLines();
  await session(data, expectedLines, 'SIGTERM');
  await session(data, expectedLines, 'SIGKILL');
  expect(statSync(logOf(data)).size).to.be.greaterThan(20_000);
  return { data, expectedLines };
}

/** Serves while three times lines are written and stored, then ends so. */
async function session(data: string, expectedLines: ExpectedLines, signal: NodeJS.Signals) {
  await withService(data, async (service) => {
    for (let i = 0; i < 3; i++) {
      dropLines(data, expectedLines, 200);
      await allStored(service, expectedLines);
    }
    expect(await service.end(signal)).to.equal(signal === 'SIGTERM' ? 0 : signal);
  });
}

/** A start is refused with 78 and words like these; not a byte of the store is changed, and no database is made. */
async function refused(data: string, words: RegExp) {
  const before = contents(data);
  const { child, errors } = spawnService(data);
  const [code] = await once(child, 'close');
  expect(errors.join('\n')).to.match(words);
  expect(code).to.equal(EX_CONFIG);
  expect(contents(data)).to.deep.equal(before);
}

/** A start finds every line again, once, and ends clean; `judge` gets what it logged. */
async function comesBack(
  data: string,
  expectedLines: ExpectedLines,
  judge: (log: Service['log']) => void = () => {},
) {
  await withService(data, async (service) => {
    await allStored(service, expectedLines);
    judge(service.log);
    expect(
      (await ledger(service)).every(({ rows, removed, stored }) => stored === rows - removed),
    ).to.equal(true);
    expect(await service.end('SIGTERM')).to.equal(0);
  });
  expect(await expectedLines.differences(data)).to.deep.equal([]);
}

/** The files that hold the database, by name, with a hash of their bytes. */
function contents(data: string) {
  const folder = join(data, 'store');
  return readdirSync(folder)
    .filter((name) => name.startsWith('tailpond.duckdb'))
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]);
}

/** Flips the lowest bit of a byte; a negative `offset` counts from the end. */
function flip(path: string, offset: number) {
  const bytes = readFileSync(path);
  const at = offset < 0 ? bytes.length + offset : offset;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

function flipMiddle(log: string) {
  flip(log, Math.floor(statSync(log).size / 2));
}

/** As after a loss of power: the length is there, the last page is not. */
function zeroTail(log: string) {
  const bytes = readFileSync(log);
  bytes.fill(0, bytes.length - 4096);
  writeFileSync(log, bytes);
}

function zeroMiddle(log: string) {
  const bytes = readFileSync(log);
  const middle = Math.floor(bytes.length / 2);
  bytes.fill(0, middle, middle + 4096);
  writeFileSync(log, bytes);
}

/** Raises the storage version in the first header, and makes the header's checksum right again. */
function asNewer(database: string) {
  const bytes = readFileSync(database);
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(12) + 1000n, 12);
  let sum = 5381n;
  for (let at = 8; at < 4096; at += 8)
    sum ^= BigInt.asUintN(64, bytes.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n);
  bytes.writeBigUInt64LE(sum, 0);
  writeFileSync(database, bytes);
}

/** A database file, as it was made once by the engine of its name. */
function fixture(name: string): Buffer {
  return gunzipSync(readFileSync(join(ROOT, 'test/faults/fixtures', `${name}.duckdb.gz`)));
}
