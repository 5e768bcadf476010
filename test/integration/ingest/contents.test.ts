import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import { eventually, type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';

const SOURCE = 'app_logs';

const at = (data: string, name: string) => {
  const path = join(data, 'logs', SOURCE, name);
  mkdirSync(dirname(path), { recursive: true });
  return path;
};
const line = (id: string) => `${JSON.stringify({ id, project: 'p' })}\n`;

async function holds(ingesting: Ingesting, ids: readonly string[]): Promise<void> {
  await eventually(async () => {
    const stored = (await ingesting.rows(SOURCE)).map(({ id }) => String(id));
    expect(stored).to.deep.equal([...ids].sort());
  });
}

async function refuses(ingesting: Ingesting, reasons: Record<string, RegExp>): Promise<void> {
  await eventually(() => {
    const refused = ingesting.refused().filter(({ source }) => source === SOURCE);
    expect(refused.map(({ path }) => path.slice(SOURCE.length + 1))).to.have.members(
      Object.keys(reasons),
    );
    for (const { path, reason } of refused)
      expect(reason).to.match(reasons[path.slice(SOURCE.length + 1)] ?? /^$/);
  });
}

/** A zstd frame of one raw block, and one of a repeated byte. */
const zstdOf = (bytes: Buffer): Buffer => {
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };
  if (zstdCompressSync) return zstdCompressSync(bytes);
  // The magic number, one segment with a size of four bytes, and the last block, which is not compressed.
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
};
const readsZstd = 'createZstdDecompress' in zlib;

describe('what a file holds', () => {
  it('is unpacked where it is gzip data, whatever its name, and when it comes after the name', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(at(data, 'x-1.log'), zlib.gzipSync(line('a')));
        writeFileSync(at(data, 'late.json'), '');
        await holds(ingesting, ['a']);
        const packed = zlib.gzipSync(line('b'));
        appendFileSync(at(data, 'late.json'), packed.subarray(0, 1));
        writeFileSync(at(data, 'other.log'), line('c'));
        await holds(ingesting, ['a', 'c']);
        appendFileSync(at(data, 'late.json'), packed.subarray(1));
        await holds(ingesting, ['a', 'b', 'c']);
        expect(ingesting.refused()).to.deep.equal([]);
        expect((await ingesting.ledger(SOURCE)).rejected).to.equal(0);
      }),
    ));

  it('is unpacked where it is zstd data and Node.js can, in one frame or more', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const frames = ['a', 'b', 'c'].map((id) => zstdOf(Buffer.from(line(id))));
        writeFileSync(at(data, 'app.log.zst'), Buffer.concat(frames));
        writeFileSync(at(data, 'app.log'), line('d'));
        if (readsZstd) return holds(ingesting, ['a', 'b', 'c', 'd']);
        await holds(ingesting, ['d']);
        return refuses(ingesting, { 'app.log.zst': /packed as zstd/ });
      }),
    ));

  it('is read as far as its packed data goes, and on once that goes on', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log.gz');
        const [first, second] = [line('a') + line('b'), line('c') + line('d')];
        writeFileSync(file, zlib.gzipSync(first));
        await holds(ingesting, ['a', 'b']);
        // Not compressed, and cut in its second line.
        const whole = zlib.gzipSync(second, { level: 0 });
        const cut = whole.indexOf(second) + line('c').length + 5;
        appendFileSync(file, whole.subarray(0, cut));
        await holds(ingesting, ['a', 'b', 'c']);
        await refuses(ingesting, { 'app.log.gz': /ends early; the rest is read once/ });
        const { sources } = ingesting.ingest.status();
        const pending = sources.find(({ source }) => source === SOURCE)?.pendingBytes;
        expect(pending).to.be.greaterThan(0);
        appendFileSync(file, whole.subarray(cut));
        await holds(ingesting, ['a', 'b', 'c', 'd']);
        await refuses(ingesting, {});
      }),
    ));

  it('is refused by name where it is packed otherwise, and read once it is not', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const kinds = {
          zip: [0x50, 0x4b, 0x03, 0x04, 0x14, 0],
          bzip2: Buffer.from('BZh91AY&SY'),
          xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
        };
        for (const [kind, bytes] of Object.entries(kinds))
          writeFileSync(at(data, `${kind}.log`), Buffer.from(bytes));
        writeFileSync(at(data, 'app.log.1.bz2'), Buffer.from(kinds.bzip2));
        await refuses(ingesting, {
          'zip.log': /packed as zip/,
          'bzip2.log': /packed as bzip2/,
          'xz.log': /packed as xz/,
          'app.log.1.bz2': /packed as bzip2/,
        });
        rmSync(at(data, 'app.log.1.bz2'));
        for (const kind of Object.keys(kinds)) writeFileSync(at(data, `${kind}.log`), line(kind));
        await holds(ingesting, ['bzip2', 'xz', 'zip']);
        await refuses(ingesting, {});
        expect((await ingesting.ledger(SOURCE)).rejected).to.equal(0);
      }),
    ));

  it('is refused as one entry where it is a JSON document, however often it is rewritten', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const documents: Record<string, (n: number) => string> = {
          'pretty.json': (n) => JSON.stringify({ n, list: [1, 2] }, null, 2),
          'array.json': (n) => JSON.stringify([{ n }, { n: n + 1 }]),
          'pretty-array.json': (n) => `${JSON.stringify([{ n }, { n: n + 1 }], null, 2)}\n`,
          'blank.json': (n) => `\n\n  ${JSON.stringify({ n }, null, 1)}`,
        };
        const reasons = Object.fromEntries(
          Object.keys(documents).map((name) => [name, /document/]),
        );
        for (let n = 0; n < 4; n++) {
          for (const [name, documentOf] of Object.entries(documents)) {
            const path = at(data, name);
            if (n % 2 === 0) writeFileSync(path, documentOf(n));
            else {
              writeFileSync(at(data, `.${name}`), documentOf(n));
              renameSync(at(data, `.${name}`), path);
            }
          }
          await refuses(ingesting, reasons);
          writeFileSync(at(data, 'app.log'), line(`${n}`));
          await holds(
            ingesting,
            Array.from({ length: n + 1 }, (_, i) => `${i}`),
          );
        }
        expect((await ingesting.ledger(SOURCE)).rejected).to.equal(0);
        const named = ingesting.warnings.filter(({ msg }) => msg === 'this is not read');
        expect(named.length).to.equal(Object.keys(documents).length);
      }),
    ));

  it('is read as lines where arrays stand between good ones, or an object opens slowly', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(at(data, 'arrays.log'), `[{"id":"no"}]\n${line('a')}`);
        // A first line that a crash has torn.
        writeFileSync(at(data, 'torn.log'), `{\n{"id":"t","pad":"${'x'.repeat(2000)}"}\n`);
        const slow = at(data, 'slow.log');
        writeFileSync(slow, '\n{');
        await holds(ingesting, ['a', 't']);
        appendFileSync(slow, line('b').slice(1));
        await holds(ingesting, ['a', 'b', 't']);
        expect((await ingesting.rejected(SOURCE)).map(({ file }) => file)).to.have.members([
          `${SOURCE}/arrays.log`,
          `${SOURCE}/torn.log`,
        ]);
      }),
    ));
});

describe('a name', () => {
  const NAMES = {
    files: { [SOURCE]: ['*.txt', 'catalina.out', 'access_log', 'web/**/*.out', '*.[Ll][Oo][Gg]'] },
  };
  const READ = [
    'a.txt',
    'deep/er/b.txt',
    'catalina.out',
    'catalina.out-20261120.gz',
    'access_log',
    'access_log.1',
    'web/x/y.out',
    'web/z.out.2',
    'BIG.LOG',
  ];
  const REFUSED = ['c.text', 'other.out', 'access_logs', 'd.txt.old'];

  it('is one of a log where a pattern says so, with its rotations', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const write = (name: string) => {
            const text = line(name);
            writeFileSync(at(data, name), name.endsWith('.gz') ? zlib.gzipSync(text) : text);
          };
          for (const name of [...READ, ...REFUSED]) write(name);
          await holds(ingesting, READ);
          await refuses(
            ingesting,
            Object.fromEntries(REFUSED.map((name) => [name, /TAILPOND_FILES=app_logs=/])),
          );
          // A watch has told of these.
          renameSync(at(data, 'catalina.out'), at(data, 'catalina.out.2026-11-20'));
          write('catalina.out');
          unlinkSync(at(data, 'access_log'));
          await holds(ingesting, [...READ, 'catalina.out']);
        },
        NAMES,
      ),
    ));

  it('that is hidden is in the ledger, unless the file is empty', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(at(data, '.gitkeep'), '');
        writeFileSync(at(data, '.app.log.swp'), line('no'));
        writeFileSync(at(data, '.old/app.log'), line('no'));
        writeFileSync(at(data, 'app.log'), line('a'));
        await holds(ingesting, ['a']);
        await refuses(ingesting, { '.app.log.swp': /hidden/, '.old': /hidden/ });
        truncateSync(at(data, '.app.log.swp'));
        renameSync(at(data, '.old'), at(data, 'old'));
        await holds(ingesting, ['a', 'no']);
        await refuses(ingesting, {});
      }),
    ));
});
