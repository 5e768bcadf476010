import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createGzip } from 'node:zlib';
import { expect } from 'chai';
import { eventually, type Service } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import {
  holds,
  ledger,
  livezDuring,
  memoryMb,
  overKill,
  run,
  settles,
  withSetup,
} from './setup.ts';

const MB = 1024 * 1024;
/** The bytes that are kept of a line beyond the limit. */
const HEAD = 4096;

describe('a file that costs much to read', () => {
  const megabytes = LONG ? 5 * 1024 : 120;
  faultCase(
    'T18',
    `${megabytes} MB without a newline: memory stays flat, other files flow, and its end is found after a kill -9`,
    () =>
      withSetup(async (setup) => {
        const [endless, other] = [setup.at('endless.log'), setup.at('other.log')];
        await overKill(
          setup,
          async (service) => {
            writeFileSync(other, setup.lines(1));
            await holds(service, setup);
            const before = memoryMb(service, 'VmHWM');
            const answers = await livezDuring(service, async () => {
              for (let written = 0; written < megabytes; written += 40) {
                appendLong(endless, Math.min(40, megabytes - written) * MB);
                appendFileSync(other, setup.lines(20));
                await holds(service, setup);
              }
            });
            const grown = memoryMb(service, 'VmHWM') - before;
            console.log(
              `      ${grown.toFixed(0)} MB more, ${answers} answers of /livez meanwhile`,
            );
            // Buffers of reads that are over count until they are collected, later on a busy machine.
            expect(grown).to.be.below(LONG ? 160 : 80);
            expect((await ledger(service)).rejected).to.equal(0);
          },
          () => {
            appendFileSync(endless, `\n${setup.lines(3)}`);
            setup.expectedLines.bad('y'.repeat(HEAD));
          },
          async (service) => {
            await settles(service, setup);
            const { body } = await service.get('/api/rejected?source=edge_logs&limit=1');
            const [rejected] = body.result as { length: number; reason: string }[];
            expect(rejected?.length).to.equal(megabytes * MB);
            expect(rejected?.reason).to.include('TAILPOND_MAX_LINE');
          },
        );
      }),
    { timeoutMs: LONG ? 900_000 : 300_000 },
  );

  const bytes = LONG ? 10e9 : 0.2e9;
  faultCase(
    'T26',
    `a .gz that unpacks to ${bytes / 1e9} GB of one line: memory stays flat, and other files flow`,
    () =>
      withSetup(async (setup) => {
        const [bomb, other] = [setup.at('.bomb'), setup.at('other.log')];
        await writeBomb(bomb, bytes);
        await run(setup.data, async (service) => {
          writeFileSync(other, setup.lines(1));
          await holds(service, setup);
          const before = memoryMb(service, 'VmHWM');
          const answers = await livezDuring(service, async () => {
            renameSync(bomb, setup.at('bomb.log.gz'));
            setup.expectedLines.bad('z'.repeat(HEAD));
            const { rows } = await ledger(service);
            let flowed = 0;
            await eventually(
              async () => {
                appendFileSync(other, setup.lines(1));
                const now = await ledger(service);
                if (now.rejected === 0) flowed = now.rows - rows;
                expect(now.rejected).to.equal(1);
              },
              LONG ? 600_000 : 200_000,
            );
            expect(flowed, 'lines of the other file before the end of the bomb').to.be.above(0);
            await settles(service, setup);
          });
          const grown = memoryMb(service, 'VmHWM') - before;
          console.log(`      ${grown.toFixed(0)} MB more, ${answers} answers of /livez meanwhile`);
          expect(grown).to.be.below(150);
        });
      }),
    { timeoutMs: LONG ? 900_000 : 300_000 },
  );
});

describe('more files than may be open', () => {
  const FILES = LONG ? 2000 : 500;
  const HOT = LONG ? 200 : 100;
  const HANDLES = 256;
  const ROUNDS = LONG ? 5 : 1;

  faultCase(
    'T31',
    `${FILES} files, ${HOT} of them hot, and ${HANDLES} handles: all are read, and the service answers, over a kill -9`,
    () =>
      withSetup(async (setup) => {
        const names = Array.from({ length: FILES }, (_, n) => `d${n % 7}/f${n}.log`);
        const grow = (from: number) => {
          for (const name of names.slice(from, from + HOT))
            appendFileSync(setup.at(name), setup.lines(2));
        };
        for (const name of names) writeFileSync(setup.at(name), setup.lines(1));
        /** Every file is followed, none was refused, and there is room for more handles. */
        const isSound = async (service: Service) => {
          // Rows can be read a moment before their bytes are no longer pending.
          await eventually(async () =>
            expect(await ledger(service)).to.deep.include({
              files: FILES,
              refused: [],
              pending_bytes: 0,
            }),
          );
          expect(readdirSync(`/proc/${service.child.pid}/fd`).length).to.be.below(HANDLES);
          expect(service.log.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
        };
        await overKill(
          setup,
          async (service) => {
            await holds(service, setup);
            for (let round = 0; round < ROUNDS; round++) {
              grow(0);
              await holds(service, setup);
            }
            await isSound(service);
          },
          () => grow(FILES - HOT),
          async (service) => {
            await holds(service, setup);
            for (let round = 0; round < ROUNDS; round++) {
              grow(round * HOT);
              await holds(service, setup);
            }
            await settles(service, setup);
            await isSound(service);
          },
          { inside: ['prlimit', `--nofile=${HANDLES}:${HANDLES}`] },
        );
      }),
  );
});

/** Appends so many bytes without a newline, in blocks. */
function appendLong(path: string, bytes: number): void {
  const file = openSync(path, 'a');
  const block = Buffer.alloc(MB, 'y');
  for (let left = bytes; left > 0; left -= block.length)
    writeSync(file, block, 0, Math.min(left, block.length));
  closeSync(file);
}

/** A gzip file of one line of so many equal bytes; a thousandth of that in size. */
async function writeBomb(path: string, bytes: number): Promise<void> {
  const block = Buffer.alloc(1e7, 'z');
  const packer = createGzip();
  const file = openSync(path, 'w');
  packer.on('data', (chunk: Buffer) => writeSync(file, chunk));
  for (let left = bytes; left > 0; left -= block.length)
    await new Promise((resolve) => packer.write(block, resolve));
  await new Promise<void>((resolve) => {
    packer.once('end', resolve);
    packer.end('\n');
  });
  closeSync(file);
}
