import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import {
  eventually,
  type Service,
  type TestStore,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, drop, dropLines, endsWhole, ledger, startWriter } from './lines.ts';
import { olderDatabase, unpackOlder } from './older-store.ts';
import { run } from './setup.ts';
import { storeCommand } from './store-command.ts';

const rowsOf = async (service: Service) => (await ledger(service))[0]?.rows ?? 0;

describe('a backup', () => {
  faultCase('D16a', 'made under load, restored over a destroyed store: every line once', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      const writer = startWriter(data, expectedLines);
      const file = join(data, 'out', 'backup.duckdb');
      try {
        await withService(data, async (service) => {
          await eventually(async () => expect(await rowsOf(service)).to.be.at.least(2000));
          // As a command leaves it that was killed.
          writeFileSync(join(data, 'store', 'staging', 'backup-killed.duckdb'), 'half a copy');
          const { code, text } = await storeCommand(data, ['backup', file]);
          expect(code, text).to.equal(0);
          const then = await rowsOf(service);
          await eventually(async () => expect(await rowsOf(service)).to.be.greaterThan(then));
          expect(readdirSync(join(data, 'store', 'staging')).join()).not.to.contain('backup');
          await service.end('SIGKILL');
        });
      } finally {
        await writer.stop();
      }
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      for (const name of ['tailpond.duckdb', 'tailpond.duckdb.wal'])
        if (existsSync(join(data, 'store', name)))
          writeFileSync(join(data, 'store', name), 'no database');

      const broken = await storeCommand(data, ['check']);
      expect(broken.code, broken.text).to.equal(1);
      const restored = await storeCommand(data, ['restore', file]);
      expect(restored.code, restored.text).to.equal(0);
      expect(restored.text).to.match(/Now start tailpond/);
      const checked = await storeCommand(data, ['check']);
      expect(checked.code, checked.text).to.equal(0);
      expect(
        readdirSync(join(data, 'store')).filter((name) => /until-/.test(name)),
      ).to.have.length.at.least(1);

      await endsWhole(data, expectedLines);
    }),
  );

  faultCase(
    'D16d',
    'is refused where it would overwrite, and a restore beside a running service',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const file = join(data, 'backup.duckdb');
        await withService(data, async (service) => {
          dropLines(data, expectedLines, 100);
          await allStored(service, expectedLines);
          expect((await storeCommand(data, ['backup', file])).code).to.equal(0);
          const bytes = readFileSync(file);
          const again = await storeCommand(data, ['backup', file]);
          expect(again.code).to.equal(1);
          expect(again.text).to.match(/is there already; nothing is overwritten/);
          expect(readFileSync(file).equals(bytes)).to.equal(true);

          const restore = await storeCommand(data, ['restore', file]);
          expect(restore.code).to.equal(1);
          expect(restore.text).to.match(/Another process has the store .* open/);
          const check = await storeCommand(data, ['check']);
          expect(check.code, check.text).to.equal(0);
          expect(check.text).to.match(/asked of the service[\s\S]*edge_logs: 100 rows, 0 rejected/);
          expect(await service.end('SIGTERM')).to.equal(0);
        });
        const other = join(data, 'stopped.duckdb');
        expect((await storeCommand(data, ['backup', other])).code).to.equal(0);

        for (const [wrong, bytes] of [
          ['text.duckdb', 'no database'],
          ['cut.duckdb', readFileSync(other).subarray(0, 300_000)],
        ] as const) {
          writeFileSync(join(data, wrong), bytes);
          const { code, text } = await storeCommand(data, ['restore', join(data, wrong)]);
          expect(code, text).to.equal(1);
          expect(text).to.match(/is not a backup that can be restored; nothing was changed/);
        }
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
  );

  faultCase('D16e', 'keeps the order of the rows and how they are compressed', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      const [backup, other] = [join(data, 'backup.duckdb'), join(data, 'other')];
      mkdirSync(other);
      await run(data, async (service) => {
        for (const count of [5000, 30_720, 10_000, 31_000]) {
          dropNoise(data, expectedLines, count);
          await allStored(service, expectedLines);
        }
        const { code, text } = await storeCommand(data, ['backup', backup]);
        expect(code, text).to.equal(0);
      });
      const original = await withStore(data, async (store) => {
        // The order of a copy is then easily lost.
        expect(await column(store, PARTIAL_GROUPS)).to.have.length.at.least(2);
        return column(store, IN_ORDER);
      });

      const { code, text } = await storeCommand(other, ['restore', backup]);
      expect(code, text).to.equal(0);
      const copy = await withStore(other, (store) => column(store, IN_ORDER));
      expect(copy.join() === original.join()).to.equal(true);
      await run(other, async (service) => {
        dropNoise(other, expectedLines, 31_000);
        await allStored(service, expectedLines);
      });
      await withStore(other, async (store) => {
        expect(await column(store, COMPRESSIONS)).to.include('ZSTD');
        expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
      });
      expect(await expectedLines.differences(other)).to.deep.equal([]);
    }),
  );

  faultCase(
    'D16j',
    'of a store with the larger row groups of an earlier version, in their order',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        const [backup, other] = [join(data, 'backup.duckdb'), join(data, 'other')];
        mkdirSync(other);
        await run(data, async (service) => {
          dropNoise(data, expectedLines, 50_000);
          await allStored(service, expectedLines);
        });
        asEarlierVersion(join(data, 'store', 'tailpond.duckdb'));
        // Settling would make the large row groups small as soon as they were left alone.
        const settings = { env: { TAILPOND_SETTLING: 'off' } };
        const backUp = async (service: Service) => {
          // One batch, which is seen whole.
          dropNoise(data, expectedLines, 62_000, 'edge_logs.part');
          renameSync(join(data, 'logs', 'edge_logs.part'), join(data, 'logs/edge_logs/b.ndjson'));
          await allStored(service, expectedLines);
          const { code, text } = await storeCommand(data, ['backup', backup]);
          expect(code, text).to.equal(0);
        };
        await run(data, backUp, settings);
        const original = await withStore(data, async (store) => {
          const sizes = (await column(store, GROUPS)).map(Number);
          expect(Math.max(...sizes), 'as they were').to.be.above(45_000);
          expect(
            sizes.filter((rows) => rows === 30_720),
            'new ones',
          ).to.have.length.at.least(2);
          return column(store, IN_ORDER);
        });
        expect(await expectedLines.differences(data)).to.deep.equal([]);

        const { code, text } = await storeCommand(other, ['restore', backup]);
        expect(code, text).to.equal(0);
        await withStore(other, async (store) => {
          expect((await column(store, IN_ORDER)).join() === original.join()).to.equal(true);
          expect(Math.max(...(await column(store, GROUPS)).map(Number))).to.equal(30_720);
        });
      }),
  );

  faultCase(
    'D16f',
    "the control socket is its owner's alone, and wrong requests get an error",
    () =>
      withFolder((data) =>
        withService(data, async (service) => {
          const path = join(data, 'store', 'control.sock');
          expect(statSync(path).mode & 0o777).to.equal(0o600);
          const answer = async (request: string) => {
            const socket = connect(path);
            socket.write(request);
            for await (const line of createInterface({ input: socket })) return JSON.parse(line);
            return null;
          };
          expect((await answer('{"command":"drop"}\n')).error).to.match(
            /Expected "command" to be check or backup or address or tokens, got "drop"/,
          );
          expect((await answer('no json\n')).error).to.be.a('string');
          const tooMuch = await answer('x'.repeat(100_000)).catch(({ code }) => code);
          expect(tooMuch).to.be.oneOf([null, 'ECONNRESET', 'EPIPE']);
          expect((await answer('{"command":"check"}\n')).result.faults).to.deep.equal([]);
          expect(await service.end('SIGTERM')).to.equal(0);
          expect(existsSync(path)).to.equal(false);
        }),
      ),
  );

  faultCase('D16g', 'a check names what is not as the ledger says, and what cannot be read', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 20_000);
        await allStored(service, expectedLines);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      const database = join(data, 'store', 'tailpond.duckdb');
      const bytes = readFileSync(database);
      // Each block has a checksum of its own; the first may be free.
      for (let at = 12_288 + 4096; at < bytes.length; at += 262_144)
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(database, bytes);
      const { code, text } = await storeCommand(data, ['check']);
      expect(code, text).to.equal(1);
      expect(text).to.match(/Corrupt database file|cannot be read/);
    }),
  );

  faultCase('D16i', 'of an older version of the schema: it is restored, and goes on', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      unpackOlder(data, expectedLines);
      const other = join(data, 'other');
      mkdirSync(other);
      const restored = await storeCommand(other, ['restore', olderDatabase(data)]);
      expect(restored.code, restored.text).to.equal(0);
      renameSync(join(data, 'logs'), join(other, 'logs'));
      await endsWhole(other, expectedLines);
      const checked = await storeCommand(other, ['check']);
      expect(checked.code, checked.text).to.equal(0);
    }),
  );

  faultCase('D16h', 'that is given up, or that the service stops in, leaves nothing behind', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      const copies = () =>
        readdirSync(join(data, 'store', 'staging')).filter((name) => name.startsWith('backup'));
      const begun = async () => {
        const asked = askBackup(data);
        await eventually(() => expect(copies()).to.not.deep.equal([]));
        return asked;
      };
      await withService(data, async (service) => {
        dropNoise(data, expectedLines, 100_000);
        await allStored(service, expectedLines);
        const answers: ({ result: string } | null)[] = [];
        for (const afterMs of [0, 60]) {
          const { socket, answer } = await begun();
          expect((await askBackup(data).answer).error).to.match(/A backup is being made/);
          await delay(afterMs);
          socket.destroy();
          const given = await answer;
          answers.push(given);
          // A backup that was made by then is for the one who asked to remove.
          if (given) rmSync(given.result);
          await eventually(() => expect(copies()).to.deep.equal([]));
        }
        expect(answers).to.include(null);
        const whole = await storeCommand(data, ['backup', join(data, 'backup.duckdb')]);
        expect(whole.code, whole.text).to.equal(0);

        const { answer } = await begun();
        expect(await service.end('SIGTERM')).to.equal(0);
        expect((await answer).error).to.match(/is stopping/);
        expect(copies()).to.deep.equal([]);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );
});

const IN_ORDER = 'select id from edge_logs order by rowid';
const COMPRESSIONS = `select distinct compression from pragma_storage_info('edge_logs')
  where column_name = 'event_message' and segment_type = 'VARCHAR'`;
const GROUPS = `select sum(count) from pragma_storage_info('edge_logs')
  where column_id = 0 and segment_type <> 'VALIDITY'
  group by row_group_id`;

/** Writes a database anew with the engine's own sizes of blocks and row groups, in a process that has no other. */
function asEarlierVersion(database: string) {
  const script = `
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const [, database] = process.argv;
    const instance = await DuckDBInstance.create(database + '.earlier', { storage_compatibility_version: 'v1.5.0' });
    const connection = await instance.connect();
    const catalog = (await connection.runAndReadAll('select current_database()')).getRows()[0][0];
    await connection.run(\`attach '\${database}' as now (read_only)\`);
    await connection.run(\`copy from database now to "\${catalog}"\`);
    connection.closeSync();
    instance.closeSync();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, database], { cwd: ROOT });
  renameSync(`${database}.earlier`, database);
}

/** The row groups that have fewer rows than one may. */
const PARTIAL_GROUPS = `select row_group_id from pragma_storage_info('edge_logs')
  where column_id = 0 and segment_type <> 'VALIDITY'
  group by row_group_id
  having sum(count) < 30_720`;

async function column(store: TestStore, sql: string) {
  const { rows } = await store.query(sql, {}, { maxRows: 1_000_000 });
  return rows.map(([value]) => value);
}

/** Appends so many lines that cannot be compressed much. */
function dropNoise(
  data: string,
  expectedLines: ExpectedLines,
  count: number,
  path = 'edge_logs/a.ndjson',
) {
  let text = '';
  for (let i = 0; i < count; i++) {
    const message = `GET /rest/v1/todos/${randomBytes(16).toString('hex')} 200`;
    text += expectedLines.line('edge_logs', message);
  }
  drop(data, path, text);
}

/** Asks the service for a backup, as the command does; the answer is null when the one who asked has gone before. */
function askBackup(data: string) {
  const socket = connect(join(data, 'store', 'control.sock'));
  socket.write('{"command":"backup"}\n');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  return { socket, answer: once(socket, 'close').then(() => JSON.parse(text || 'null')) };
}
