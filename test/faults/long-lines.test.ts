import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LedgerEntry } from '../../server/store/index.ts';
import {
  eventually,
  type Service,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';

const SOURCE = 'auth_logs';
const MEMORY = '96MB';
/** Without what a line may have of the memory, so many bytes of them ended the process, again and again. */
const BYTES = LONG ? 100e6 : 20e6;

/** Text that cannot be compressed. */
const text = (bytes: number) => randomBytes((bytes * 3) / 4).toString('base64');
const now = () => new Date().toISOString();

/** Lines of one kind, by what they would be as a row. */
const KINDS: Record<string, (id: string, bytes: number) => string> = {
  'that carry all': (id, bytes) =>
    JSON.stringify({ id, timestamp: now(), event_message: text(bytes), metadata: {} }),
  'whose metadata is long': (id, bytes) =>
    JSON.stringify({ id, timestamp: now(), event_message: 'm', metadata: { text: text(bytes) } }),
  'that are flat and undated': (id, bytes) => JSON.stringify({ id, msg: 'm', text: text(bytes) }),
  'that are not JSON': (id, bytes) => `${id} ${text(bytes)}`,
};

const entryOf = async (service: Service) => {
  const { status, body } = await service.get('/api/ledger');
  expect(status).to.equal(200);
  return (body.result as LedgerEntry[]).find(({ source }) => source === SOURCE);
};

/** By so many characters the lines of a case differ. */
const HEAD = 60;

/** What each line is kept as: rows as `id length`, rejected ones by their beginning, and all or, in the short form, one of ten as a whole. */
const kept = (data: string) =>
  withStore(data, async (store) => {
    const ask = async (sql: string) =>
      (await store.query(sql, {}, { maxRows: 100_000 })).rows.map((row) => row.map(String));
    const rows = await ask(
      `select id, length(event_message) + coalesce(length(metadata->>'text'), 0) from ${SOURCE}`,
    );
    const listed = await store.rejected(SOURCE, 1000);
    const whole: string[] = [];
    for (const { id } of listed.filter((_, n) => LONG || n % 10 === 0)) {
      const line = await store.rejectedLine(String(id));
      expect(line?.whole).to.equal(true);
      whole.push(line?.line.toString() ?? '');
    }
    expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
    return { rows, heads: listed.map(({ line }) => String(line).slice(0, HEAD)), whole };
  });

describe('more long lines than the memory holds', function () {
  this.timeout(LONG ? 600_000 : 300_000);

  faultCase(
    'D24e',
    'last lines without a newline that no batch holds together: each is a row',
    () =>
      withFolder((data) =>
        withService(
          data,
          async (service) => {
            const folder = join(data, 'logs', SOURCE);
            mkdirSync(folder, { recursive: true });
            for (const name of ['a', 'b', 'c'])
              writeFileSync(
                join(folder, `${name}.log`),
                KINDS['that carry all']?.(name, 500_000) ?? '',
              );
            await eventually(async () =>
              expect(await entryOf(service)).to.include({ lines: 3, rows: 3 }),
            );
          },
          { env: { TAILPOND_MEMORY: MEMORY } },
        ),
      ),
  );

  faultCase(
    'D24f',
    'a burst after each of many kills: they are not too many together, either',
    () =>
      withFolder(async (data) => {
        const folder = join(data, 'logs', SOURCE);
        mkdirSync(folder, { recursive: true });
        const [starts, each, bytes] = [LONG ? 10 : 3, 30, 500_000];
        for (let start = 1; start <= starts; start++) {
          const lines = Array.from(
            { length: each },
            (_, n) => `${KINDS['that carry all']?.(`${start}.${n}`, bytes)}\n`,
          );
          writeFileSync(join(folder, `${start}.log`), lines.join(''));
          await withService(
            data,
            async (service) => {
              await eventually(
                async () => expect((await entryOf(service))?.lines).to.equal(start * each),
                60_000,
              );
              expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
              await service.end(start < starts ? 'SIGKILL' : 'SIGTERM');
            },
            { env: { TAILPOND_MEMORY: MEMORY } },
          );
        }
        await withStore(data, async (store) => {
          const { faults } = await store.inspect(new AbortController().signal);
          expect(faults).to.deep.equal([]);
        });
      }),
  );

  faultCase(
    'D24g',
    'bursts with lines between them that are not rows: they are not too many together, either',
    () =>
      withFolder(async (data) => {
        const folder = join(data, 'logs', SOURCE);
        mkdirSync(folder, { recursive: true });
        const [bursts, each, between] = [LONG ? 12 : 5, 23, 2048];
        for (let burst = 10; burst < 10 + bursts; burst++) {
          const lines = Array.from(
            { length: each },
            (_, n) => `${KINDS['that carry all']?.(`${burst}.${n}`, 500_000)}\n`,
          );
          const none = '{"timestamp":"x"}\n'.repeat(between);
          writeFileSync(join(folder, `${burst}.log`), lines.join('') + none);
        }
        await withService(
          data,
          async (service) => {
            await eventually(
              async () =>
                expect((await entryOf(service))?.lines).to.equal(bursts * (each + between)),
              90_000,
            );
            expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { env: { TAILPOND_MEMORY: MEMORY } },
        );
        await withStore(data, async (store) => {
          const { faults } = await store.inspect(new AbortController().signal);
          expect(faults).to.deep.equal([]);
        });
      }),
  );

  for (const [index, [kind, line]] of Object.entries(KINDS).entries()) {
    for (const bytes of LONG
      ? [1_000_000, 300_000, 20_000]
      : [index % 2 === 0 ? 1_000_000 : 20_000]) {
      const name = `${'abcd'[index]}${bytes / 1000}`;
      faultCase(`D24${name}`, `lines of ${bytes} bytes ${kind}: each is a row or kept whole`, () =>
        withFolder(async (data) => {
          const lines = new Map<string, string>();
          for (let n = 0; n < Math.min(BYTES / bytes, 1000); n++)
            lines.set(`l${n}`, line(`l${n}`, bytes));
          const folder = join(data, 'logs', SOURCE);
          mkdirSync(folder, { recursive: true });
          writeFileSync(join(folder, 'a.log'), `${[...lines.values()].join('\n')}\n`);
          await withService(
            data,
            async (service) => {
              const short = '{"id":"short","event_message":"m"}\n';
              await eventually(
                async () => expect((await entryOf(service))?.lines).to.equal(lines.size),
                LONG ? 300_000 : 60_000,
              );
              writeFileSync(join(folder, 'b.log'), short);
              await eventually(async () =>
                expect((await entryOf(service))?.lines).to.equal(lines.size + 1),
              );
              expect(service.log.filter(({ level }) => Number(level) > 50)).to.deep.equal([]);
              expect(await service.end('SIGTERM')).to.equal(0);
            },
            { env: { TAILPOND_MEMORY: MEMORY } },
          );
          const { rows, heads, whole } = await kept(data);
          const longRows = rows.filter(([id]) => id !== 'short');
          expect(longRows.length).to.equal(rows.length - 1);
          for (const [id, length] of longRows)
            expect(Number(length), id).to.be.within(bytes, bytes + 2);
          const byHead = new Map([...lines].map(([id, text]) => [text.slice(0, HEAD), id]));
          const ids = [...longRows.map(([id]) => id), ...heads.map((head) => byHead.get(head))];
          expect(ids.sort()).to.deep.equal([...lines.keys()].sort());
          const texts = new Set(lines.values());
          expect(whole.every((text) => texts.has(text))).to.equal(true);
        }),
      );
    }
  }
});
