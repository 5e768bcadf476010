import { createHash } from 'node:crypto';
import { mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually, withFolder, withIngest } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';

const MIB = 1024 * 1024;
const line = (id: string) => `{"id":"${id}"}\n`;

/** Counts the bytes that are read of files whose names end in `.gz`, while `action` runs, and calls `onRead` with each sum. */
async function packedBytesRead(
  folder: string,
  action: () => Promise<void>,
  onRead: (bytes: number) => void = () => {},
): Promise<number> {
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { read } = prototype;
  let bytes = 0;
  prototype.read = async function counted(this: FileHandle, ...given: unknown[]) {
    const isPacked = readlinkSync(`/proc/self/fd/${this.fd}`).endsWith('.gz');
    const result = await (read as (...all: unknown[]) => ReturnType<typeof read>).apply(
      this,
      given,
    );
    if (isPacked) {
      bytes += result.bytesRead;
      onRead(bytes);
    }
    return result;
  } as typeof read;
  try {
    await action();
  } finally {
    prototype.read = read;
  }
  return bytes;
}

describe('a packed log', () => {
  const cases: Readonly<Record<string, () => { text: Buffer[]; ids: string[] }>> = {
    'with NULs that copytruncate left': () => ({
      text: [
        Buffer.from(line('a')),
        Buffer.alloc(200 * MIB),
        Buffer.from(line('b')),
        Buffer.alloc(100 * MIB),
        Buffer.from(line('c')),
      ],
      ids: ['a', 'b', 'c'],
    }),
    'with a line far beyond the limit': () => ({
      text: [Buffer.from(line('a')), Buffer.alloc(200 * MIB, 'x'), Buffer.from(`\n${line('b')}`)],
      ids: ['a', 'b'],
    }),
    'that fills several batches': () => {
      // Texts that hardly pack, so that the packed bytes go by the lines.
      const ids = Array.from({ length: 250_000 }, (_, n) =>
        createHash('sha1').update(String(n)).digest('hex'),
      );
      return { text: [Buffer.from(ids.map(line).join(''))], ids };
    },
  };
  for (const [name, made] of Object.entries(cases))
    it(`${name} is unpacked once ${SLOW}`, () =>
      withFolder(async (data) => {
        const folder = join(data, 'logs/edge_logs');
        mkdirSync(folder, { recursive: true });
        const file = join(folder, 'app.log.1.gz');
        const { text, ids } = made();
        writeFileSync(file, gzipSync(Buffer.concat(text), { level: 1 }));
        const read = await packedBytesRead(data, () =>
          withIngest(data, async (ingesting) => {
            await eventually(async () =>
              expect(
                (await ingesting.store.ledger()).find(({ source }) => source === 'edge_logs')?.rows,
              ).to.equal(ids.length),
            );
          }),
        );
        // Once for its lines, and its first bytes for what it is.
        expect(read).to.be.lessThan(1.5 * statSync(file).size + 256 * 1024);
      }));

  it(`with many runs of NULs leaves other sources their turns ${SLOW}`, () =>
    withFolder(async (data) => {
      const at = (source: string, name: string) => {
        mkdirSync(join(data, 'logs', source), { recursive: true });
        return join(data, 'logs', source, name);
      };
      const packed = at('edge_logs', 'app.log.1.gz');
      const member = gzipSync(Buffer.concat([Buffer.alloc(32 * MIB), Buffer.from(line('a'))]));
      writeFileSync(packed, Buffer.concat(Array.from({ length: 24 }, () => member)));
      const other = at('auth_logs', 'app.log');
      const quarter = statSync(packed).size / 4;
      let isWritten = false;
      await packedBytesRead(
        data,
        () =>
          withIngest(data, async (ingesting) => {
            const rows = async (source: string) =>
              (await ingesting.store.ledger()).find((entry) => entry.source === source)?.rows;
            await eventually(async () => expect(await rows('auth_logs')).to.equal(1));
            expect(await rows('edge_logs')).to.be.lessThan(24);
            await eventually(async () => expect(await rows('edge_logs')).to.equal(24));
          }),
        (bytes) => {
          if (isWritten || bytes < quarter) return;
          isWritten = true;
          writeFileSync(other, line('b'));
        },
      );
    }));
});
