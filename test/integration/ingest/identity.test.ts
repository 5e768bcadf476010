import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources, type Sink, startIngest } from '../../../ingest/index.ts';
import {
  eventually,
  type Ingesting,
  silent,
  withFolder,
  withIngest,
  withStore,
} from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';
import { SLOW } from '../../support/slow.ts';

const SOURCE = 'edge_logs';

const line = (id: string) =>
  `${JSON.stringify({ id, timestamp: '2026-11-20T10:00:00Z', project: 'p', event_message: `message ${id}`, metadata: {} })}\n`;
const lines = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
const text = (ids: readonly string[]) => ids.map(line).join('');
const at = (data: string, name: string, source = SOURCE) => {
  const folder = join(data, 'logs', source);
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
};

async function idsOf(
  ingesting: Ingesting,
  source: 'edge_logs' | 'auth_logs' = SOURCE,
): Promise<string[]> {
  return (await ingesting.rows(source)).map(({ id }) => String(id));
}

/** Returns the paths of the files that this process has open; the path of a deleted file says so. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // This was the descriptor of the listing itself.
      return [];
    }
  });
}

/** Waits until these ids are stored, each as often as listed, and all files that are in the folder now have been looked at. */
async function settles(ingesting: Ingesting, ids: readonly string[]): Promise<void> {
  const holds = () =>
    eventually(async () => expect((await idsOf(ingesting)).sort()).to.deep.equal([...ids].sort()));
  await holds();
  const mark = `mark-${marks++}`;
  appendFileSync(at(ingesting.data, `${mark}.log.gz`, 'auth_logs'), gzipSync(line(mark)));
  await eventually(async () => expect(await idsOf(ingesting, 'auth_logs')).to.include(mark));
  await holds();
}
let marks = 0;

/** Appends lines to a file, ten a second, until `action` is over. */
async function whileGrowing(file: string, action: () => Promise<unknown>): Promise<void> {
  let count = 0;
  const timer = setInterval(() => appendFileSync(file, line(`grown-${count++}`)), 100);
  await action().finally(() => clearInterval(timer));
}

function holdsTwice(ingesting: Ingesting, id: string): Promise<void> {
  return eventually(async () => {
    const found = (await idsOf(ingesting)).filter((each) => each === id);
    expect(found).to.deep.equal([id, id]);
  });
}

/** A line without a newline is soon taken, and a deleted file soon let go. */
const SOON = { waits: { quiet: 300, deleted: 300 } };

describe('which file it is', () => {
  it('is not decided by a reused inode: logrotate with compress, the oldest dropped', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const all: string[] = [];
      await withIngest(data, async (ingesting) => {
        for (let round = 0; round < 5; round++) {
          const ids = lines(`r${round}`, 50);
          all.push(...ids);
          appendFileSync(file, text(ids));
          await settles(ingesting, all);
          // The new .gz gets the inode that the oldest has just freed.
          rmSync(`${file}.3.gz`, { force: true });
          for (const n of [2, 1]) {
            if (round >= n) renameSync(`${file}.${n}.gz`, `${file}.${n + 1}.gz`);
          }
          renameSync(file, `${file}.1`);
          execFileSync('gzip', ['-f', `${file}.1`]);
          writeFileSync(file, '');
        }
        await settles(ingesting, all);
      });
      await withIngest(data, (ingesting) => settles(ingesting, all));
    })).timeout(300_000);

  it('is not decided by an inode: a file of another source with the same bytes is another file', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log', 'auth_logs');
      writeFileSync(file, line('same'));
      await withIngest(data, (ingesting) => ingesting.lines(1, 'auth_logs'));
      const { ino } = statSync(file);
      // The file system decides whether the new file gets the same inode.
      unlinkSync(file);
      const other = at(data, 'other.log');
      writeFileSync(other, line('same'));
      await withIngest(data, (ingesting) => settles(ingesting, ['same']));
      expect(ino).to.be.above(0);
    }));

  it(`is decided while lines are written over reserved room ${SLOW}`, () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const ids = lines('room', 120);
      await withIngest(data, async (ingesting) => {
        const handle = openSync(file, 'w+');
        ftruncateSync(handle, 512 * 1024);
        let position = 0;
        for (const id of ids) {
          position += writeSync(handle, line(id), position);
          if (id.endsWith('0'))
            await eventually(async () => expect(await idsOf(ingesting)).to.include(id));
        }
        closeSync(handle);
        await settles(ingesting, ids);
        const status = () =>
          ingesting.ingest.status().sources.find(({ source }) => source === SOURCE);
        await eventually(() => expect(status()?.pendingBytes).to.equal(0));
      });
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('leaves half a line before reserved room, until the rest is written there', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const ids = lines('torn', 20);
      const whole = text(ids);
      await withIngest(data, async (ingesting) => {
        const handle = openSync(file, 'w+');
        ftruncateSync(handle, 2 * 1024 * 1024);
        const half = line('torn-0').length + 20;
        writeSync(handle, whole.slice(0, half), 0);
        await settles(ingesting, ['torn-0']);
        writeSync(handle, whole.slice(half), half);
        closeSync(handle);
        await settles(ingesting, ids);
        expect(await ingesting.rejected()).to.deep.equal([]);
      });
    }));

  it('takes an unterminated last line behind the room once the file has been quiet', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const file = at(data, 'app.log');
          writeFileSync(file, '{"id":"torn"');
          appendFileSync(file, Buffer.alloc(4096));
          appendFileSync(file, line('behind').trimEnd());
          await settles(ingesting, ['behind']);
          expect(await ingesting.rejected()).to.have.length(1);
          appendFileSync(file, `\n${line('after')}`);
          await settles(ingesting, ['after', 'behind']);
        },
        SOON,
      ),
    ));

  it('rejects a line that was torn before reserved room, and takes what follows the room', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      for (const room of [4096, 1024 * 1024]) {
        appendFileSync(file, `${line(`before-${room}`)}{"id":"torn-${room}`);
        truncateSync(file, statSync(file).size + room);
        appendFileSync(file, line(`after-${room}`));
      }
      const ids = ['before-4096', 'after-4096', 'before-1048576', 'after-1048576'];
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, ids);
        expect(await ingesting.rejected()).to.have.length(2);
      });
    }));

  it('compares rotated logs that begin with more NULs than a block', () =>
    withFolder(async (data) => {
      const write = (name: string, nuls: number, ids: readonly string[]) => {
        mkdirSync(dirname(at(data, name)), { recursive: true });
        writeFileSync(at(data, name), Buffer.alloc(nuls));
        appendFileSync(at(data, name), text(ids));
      };
      const [x, y] = [lines('x', 100), lines('y', 50)];
      write('x/app.log.1', 60_000, x);
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, x);
        write('y/app.log.1', 90_000, y);
        await settles(ingesting, [...x, ...y]);
        // A copy, and a copy with room behind it: neither has a new line.
        write('z/app.log.1', 90_000, y);
        truncateSync(at(data, 'z/app.log.1'), 500_000);
        await settles(ingesting, [...x, ...y]);
      });
    }));

  it('knows a log that was packed while nothing ran among many in other folders that begin alike', () =>
    withFolder(async (data) => {
      const header = 'x'.repeat(2000);
      const folders = ['first', ...lines('other', 40)];
      const ids = folders.flatMap((name) => [header, `${name}-1`]);
      for (const name of folders) {
        mkdirSync(at(data, name));
        writeFileSync(at(data, `${name}/app.log`), text([header, `${name}-1`]));
        // The first log is known before the others.
        if (name === 'first')
          await withIngest(data, (ingesting) => settles(ingesting, [header, 'first-1']));
      }
      await withIngest(data, (ingesting) => settles(ingesting, ids));
      const file = at(data, 'first/app.log');
      writeFileSync(`${file}.1.gz`, gzipSync(readFileSync(file)));
      unlinkSync(file);
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  for (const restart of [false, true])
    it(`knows a rotated log under the number of another one${restart ? ', over a stop' : ''}`, () =>
      withFolder(async (data) => {
        const ids = lines('a', 100);
        writeFileSync(at(data, 'app.log.1'), text(ids));
        const shift = async (ingesting: Ingesting) => {
          // As rsync does: a new file is renamed to each name.
          for (const [name, bytes] of [
            ['app.log.1', line('b')],
            ['app.log.2', text(ids)],
          ] as const) {
            writeFileSync(at(data, `.${name}`), bytes);
            renameSync(at(data, `.${name}`), at(data, name));
          }
          await settles(ingesting, [...ids, 'b']);
        };
        await withIngest(data, async (ingesting) => {
          await settles(ingesting, ids);
          if (!restart) await shift(ingesting);
        });
        await withIngest(data, (ingesting) =>
          restart ? shift(ingesting) : settles(ingesting, [...ids, 'b']),
        );
      }));

  it('closes a deleted file although its path is busy, and keeps its half line', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const file = at(data, 'app.log');
          writeFileSync(file, `${line('a')}{"id":"half`);
          await settles(ingesting, ['a']);
          unlinkSync(file);
          let n = 0;
          await eventually(() => {
            appendFileSync(file, line(`b-${n++}`));
            expect(openFiles()).not.to.include(`${realpathSync(file)} (deleted)`);
          }, 30_000);
          await settles(ingesting, ['a', ...Array.from({ length: n }, (_, i) => `b-${i}`)]);
          const rejected = await ingesting.rejected();
          expect(rejected.map((kept) => String(kept.line))).to.deep.equal(['{"id":"half']);
        },
        SOON,
      ),
    )).timeout(300_000);

  it('doubles no line and logs no warning when lines are written to a log that was packed', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const [packed, late] = [lines('packed', 500), lines('late', 5)];
      appendFileSync(file, text(packed));
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, packed);
        renameSync(file, `${file}.1`);
        writeFileSync(`${file}.1.gz`, gzipSync(readFileSync(`${file}.1`)));
        await settles(ingesting, packed);
        appendFileSync(`${file}.1`, text(late));
        await settles(ingesting, [...packed, ...late]);
        unlinkSync(`${file}.1`);
        await settles(ingesting, [...packed, ...late]);
      });
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, [...packed, ...late]);
        expect(ingesting.warnings).to.deep.equal([]);
      });
    }));

  it(`passes over a hole, while other files are read ${SLOW}`, () =>
    withFolder(async (data) => {
      const hole = at(data, 'hole.log');
      writeFileSync(hole, line('before'));
      // Beyond what 31 bits count.
      truncateSync(hole, 2.2e9);
      writeFileSync(at(data, 'other.log'), line('other'));
      await withIngest(data, async (ingesting) => {
        await eventually(async () =>
          expect(await idsOf(ingesting)).to.include.members(['before', 'other']),
        );
        appendFileSync(hole, line('behind'));
        await eventually(
          async () => expect(await idsOf(ingesting)).to.have.members(['before', 'other', 'behind']),
          60_000,
        );
      });
    })).timeout(300_000);

  it('reads two files with the same header whole, once they differ, whatever their names', () =>
    withFolder(async (data) => {
      const [first, second] = [at(data, 'app.log'), at(data, 'app-1.log')];
      const header = line('header');
      await withIngest(data, async (ingesting) => {
        writeFileSync(first, header + text(['a0', 'a1', 'a2']));
        writeFileSync(second, header);
        await settles(ingesting, ['header', 'a0', 'a1', 'a2']);
        appendFileSync(second, line('b0'));
        await settles(ingesting, ['header', 'header', 'a0', 'a1', 'a2', 'b0']);
        appendFileSync(first, line('a3'));
        appendFileSync(second, line('b1'));
        unlinkSync(second);
        await settles(ingesting, ['header', 'header', 'a0', 'a1', 'a2', 'a3', 'b0', 'b1']);
      });
    }));

  for (const isDown of [false, true])
    it(`reads the banner of each worker${isDown ? ', over a stop' : ''}, and names who waits`, () =>
      withFolder(async (data) => {
        const banner = '{"id":"boot","msg":"boot"}\n';
        const workers = [1, 2, 3].map((n) => at(data, `w-${n}.log`));
        const boots = workers.map(() => 'boot');
        const waiting = (ingesting: Ingesting) =>
          ingesting.refused().filter(({ reason }) => /begins like another log/.test(reason));
        await withIngest(data, async (ingesting) => {
          for (const worker of workers) writeFileSync(worker, banner);
          await settles(ingesting, ['boot']);
          await eventually(() => expect(waiting(ingesting).length).to.equal(2));
          if (isDown) return;
          for (const [n, worker] of workers.entries()) appendFileSync(worker, line(`${n}`));
          await settles(ingesting, [...boots, '0', '1', '2']);
          expect(waiting(ingesting)).to.deep.equal([]);
        });
        if (isDown)
          for (const [n, worker] of workers.entries()) appendFileSync(worker, line(`${n}`));
        await withIngest(data, (ingesting) => settles(ingesting, [...boots, '0', '1', '2']));
      }));

  it('reads a file whole that begins like another log and rests', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          for (const name of ['a.log', 'b.log']) writeFileSync(at(data, name), '{"id":"boot"}\n');
          await settles(ingesting, ['boot', 'boot']);
        },
        { waits: { atRest: 300 } },
      ),
    ));

  it('reads a busy file whose banner was that of a log that is gone', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'w.log');
        const banner = '{"id":"boot","msg":"boot"}\n';
        writeFileSync(file, banner);
        await settles(ingesting, ['boot']);
        unlinkSync(file);
        writeFileSync(file, banner);
        await whileGrowing(file, () => holdsTwice(ingesting, 'boot'));
      }),
    ));

  it('reads a busy file that may be an older copy which is put back, after a time', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const file = at(data, 'app.log');
          const ids = lines('kept', 1000);
          writeFileSync(file, text(ids));
          await settles(ingesting, ids);
          unlinkSync(file);
          writeFileSync(file, text(ids.slice(0, 500)));
          await whileGrowing(file, () =>
            eventually(async () => expect(await idsOf(ingesting)).to.include('grown-0')),
          );
        },
        { waits: { undecided: 1000 } },
      ),
    ));

  it('stores once what was taken without its newline, and what a longer copy has behind it', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const ids = ['a', 'b', 'c', 'd'];
      await withIngest(
        data,
        async (ingesting) => {
          writeFileSync(file, text(['a', 'b']).trimEnd());
          await settles(ingesting, ['a', 'b']);
          writeFileSync(`${file}.1`, text(ids));
          await settles(ingesting, ids);
        },
        SOON,
      );
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  for (const moved of ['app.log.old', 'kept/app.bak', '../app.log.moved', '.hidden'])
    for (const isDown of [false, true])
      it(`reads to its end what is moved to ${moved}${isDown ? ' while nothing runs' : ''}`, () =>
        withFolder(async (data) => {
          const file = at(data, 'app.log');
          mkdirSync(at(data, 'kept'));
          writeFileSync(file, line('a'));
          const ids = ['a', 'b', 'c'];
          await withIngest(data, async (ingesting) => {
            await settles(ingesting, ['a']);
            if (isDown) return;
            appendFileSync(file, line('b'));
            renameSync(file, at(data, moved));
            writeFileSync(file, line('c'));
            await settles(ingesting, ids);
          });
          if (isDown) {
            appendFileSync(file, line('b'));
            renameSync(file, at(data, moved));
            writeFileSync(file, line('c'));
          }
          await withIngest(data, (ingesting) => settles(ingesting, ids));
        }));

  it(`reads to its end what is moved while nothing runs, beside more logs than handles ${SLOW}`, () =>
    withFolder(async (data) => {
      const others = lines('other', 600);
      mkdirSync(at(data, 'others'));
      for (const id of others) writeFileSync(at(data, `others/${id}.log`), line(id));
      const file = at(data, 'app.log');
      writeFileSync(file, line('a'));
      await withIngest(data, (ingesting) => settles(ingesting, [...others, 'a']));
      appendFileSync(file, line('b'));
      renameSync(file, `${file}.old`);
      await withIngest(data, (ingesting) => settles(ingesting, [...others, 'a', 'b']));
    }));

  it(`reads to its end what is moved to a name that is not read, of more logs than handles ${SLOW}`, () =>
    withFolder(async (data) => {
      const logs = Array.from({ length: 700 }, (_, n) => at(data, `${n}/app.log`));
      const write = (prefix: string) => {
        for (const [n, log] of logs.entries()) appendFileSync(log, line(`${prefix}-${n}`));
        return logs.map((_, n) => `${prefix}-${n}`);
      };
      for (const log of logs) mkdirSync(dirname(log));
      const before = write('before');
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, before);
        const last = write('last');
        for (const log of logs) renameSync(log, `${log}.old`);
        const after = write('after');
        await settles(ingesting, [...before, ...last, ...after]);
        const { sources } = ingesting.ingest.status();
        expect(sources.find(({ source }) => source === SOURCE)?.pendingBytes).to.equal(0);
      });
    }));

  it('reads two rotated logs whole that were equal when they were found', () =>
    withFolder(async (data) => {
      const [first, second] = [at(data, 'app-1.log'), at(data, 'app-2.log')];
      writeFileSync(first, line('header'));
      writeFileSync(second, line('header'));
      const ids = ['header', 'header', 'a', 'b'];
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, ['header']);
        appendFileSync(first, line('a'));
        appendFileSync(second, line('b'));
        await settles(ingesting, ids);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('knows a log that was packed while nothing ran beside a new one with the same header', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const header = line('header');
      const old = lines('old', 30);
      writeFileSync(file, header + text(old.slice(0, 10)));
      await withIngest(data, (ingesting) => settles(ingesting, ['header', ...old.slice(0, 10)]));
      appendFileSync(file, text(old.slice(10)));
      execFileSync('gzip', [file]);
      renameSync(`${file}.gz`, `${file}.1.gz`);
      const next = lines('new', 30);
      writeFileSync(file, header + text(next));
      await withIngest(data, (ingesting) =>
        settles(ingesting, ['header', 'header', ...old, ...next]),
      );
    }));

  it('reads a busy file at once whose name looks rotated', () =>
    withFolder(async (data) => {
      writeFileSync(at(data, 'worker.log'), text(['w0', 'w1']));
      await withIngest(data, async (ingesting) => {
        let over = false;
        const ids = ['w0', 'w1'];
        const writing = (async () => {
          for (let n = 0; !over; n++) {
            appendFileSync(at(data, 'worker-2.log'), line(`busy-${n}`));
            ids.push(`busy-${n}`);
            await new Promise((resume) => setTimeout(resume, 50));
          }
        })();
        await eventually(async () => expect(await idsOf(ingesting)).to.include('busy-3')).finally(
          () => {
            over = true;
          },
        );
        await writing;
        unlinkSync(at(data, 'worker-2.log'));
        await settles(ingesting, ids);
      });
    }));

  it('says that bytes are pending until they are committed', () =>
    withFolder((data) =>
      withStore(data, async (store) => {
        const logs = join(data, 'logs');
        let commit = () => {};
        const gate = new Promise<void>((open) => {
          commit = open;
        });
        const sink: Sink = {
          ...store.sink,
          async append(batches) {
            await gate;
            await store.sink.append(batches);
          },
        };
        writeFileSync(at(data, 'app.log'), text(lines('p', 100)));
        const { size } = statSync(at(data, 'app.log'));
        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: 1 << 20, readerOf: lineReaders, log: silent },
          sink,
        );
        const status = () => ingest.status().sources.find(({ source }) => source === SOURCE);
        try {
          await eventually(() => expect(status()?.lagMs).to.be.above(0));
          expect(status()?.pendingBytes).to.equal(size);
          commit();
          await eventually(() => expect(status()).to.include({ pendingBytes: 0, lagMs: 0 }));
          expect((await store.ledger())[0]?.lines).to.equal(100);
        } finally {
          commit();
          await ingest.close();
        }
      }),
    ));

  it('reads on from the last proof when an older file stands beside a newer store', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const ids = lines('kept', 1000);
      writeFileSync(file, text(ids));
      await withIngest(data, (ingesting) => settles(ingesting, ids));
      const older = readFileSync(file).subarray(0, text(ids.slice(0, 500)).length);
      unlinkSync(file);
      writeFileSync(file, Buffer.concat([older, Buffer.from(line('later'))]));
      await withIngest(data, async (ingesting) => {
        await eventually(async () => expect(await idsOf(ingesting)).to.include('later'));
        const found = await idsOf(ingesting);
        expect(new Set(found).size).to.equal(1001);
        // The proofs may leave open a quarter of the distance to the end.
        expect(found.length - 1001).to.be.below(150);
      });
    }));

  it('waits for a log that is put back slowly, and reads on from its offset', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      const ids = lines('kept', 1000);
      writeFileSync(file, text(ids));
      await withIngest(
        data,
        async (ingesting) => {
          await settles(ingesting, ids);
          unlinkSync(file);
          // Its handle is soon closed, and the file at the path is identified anew.
          for (let n = 0; n < 10; n++) {
            appendFileSync(file, text(ids.slice(n * 100, n * 100 + 100)));
            await delay(150);
          }
          appendFileSync(file, line('later'));
          await settles(ingesting, [...ids, 'later']);
        },
        SOON,
      );
    }));

  it(`reads on in logs whose files are replaced by longer ones while other folders are listed ${SLOW}`, () =>
    withFolder(async (data) => {
      for (const source of allSources().filter((name) => name !== SOURCE))
        for (let n = 0; n < 300; n++)
          mkdirSync(join(data, 'logs', source, `${n}`), { recursive: true });
      const ids = lines('line', 100);
      for (const id of ids) writeFileSync(at(data, `${id}x.log`), text([`${id}-a`, `${id}-b`]));
      await withIngest(data, async (ingesting) => {
        const first = ids.flatMap((id) => [`${id}-a`, `${id}-b`]);
        await settles(ingesting, first);
        for (const id of ids) {
          const next = join(data, 'next');
          writeFileSync(next, text([`${id}-a`, `${id}-b`, `${id}-c`]));
          renameSync(next, at(data, `${id}x.log`));
          await delay(20);
        }
        await settles(ingesting, [...first, ...ids.map((id) => `${id}-c`)]);
      });
    }));

  it(`reads once what is written, rotated and packed while other folders are listed ${SLOW}`, () =>
    withFolder(async (data) => {
      for (let n = 0; n < 2000; n++) mkdirSync(at(data, `${n}`), { recursive: true });
      const ids = lines('line', 100);
      const first = lines('first', ids.length);
      for (const [n, id] of ids.entries()) {
        mkdirSync(at(data, `${id}x`));
        // Another log in a folder with one is seen at once.
        writeFileSync(at(data, `${id}x/other.log`), line(first[n] ?? ''));
      }
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, first);
        for (const id of ids) {
          const file = at(data, `${id}x/app.log`);
          writeFileSync(file, line(id));
          await delay(5);
          renameSync(file, `${file}.1`);
          execFileSync('gzip', [`${file}.1`]);
        }
        await settles(ingesting, [...first, ...ids]);
      });
    }));

  it(`knows a log that was packed and is unpacked again, and reads a new one beside a packed one ${SLOW}`, () =>
    withFolder(async (data) => {
      const [file, ids] = [at(data, 'app.log'), lines('kept', 300)];
      const header = lines('header', 3);
      const next = at(data, 'next.log');
      writeFileSync(file, text(ids));
      writeFileSync(next, text([...header, 'old']));
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, [...ids, ...header, 'old']);
        for (const each of [file, next]) execFileSync('gzip', [each]);
        await eventually(() => expect(openFiles().join()).not.to.include('app.log'));
        execFileSync('gunzip', [`${file}.gz`]);
        writeFileSync(next, text([...header, 'new']));
        appendFileSync(file, line('later'));
        await settles(ingesting, [...ids, ...header, 'old', 'later', ...header, 'new']);
        execFileSync('gzip', [file]);
        await eventually(() => expect(openFiles().join()).not.to.include('app.log'));
      });
      execFileSync('gunzip', [`${file}.gz`]);
      appendFileSync(file, line('last'));
      await withIngest(data, (ingesting) =>
        settles(ingesting, [...ids, ...header, 'old', 'later', ...header, 'new', 'last']),
      );
    }));

  it('lists copies with their original, and reads them when it is gone', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, text(['a', 'b']));
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, ['a', 'b']);
        copyFileSync(file, `${file}.1`);
        const copies = () =>
          ingesting.ingest.status().sources.find(({ source }) => source === SOURCE)?.copies;
        await eventually(() =>
          expect(copies()).to.deep.equal([
            { path: 'edge_logs/app.log.1', of: 'edge_logs/app.log' },
          ]),
        );
        truncateSync(file);
        appendFileSync(`${file}.1`, line('c'));
        await settles(ingesting, ['a', 'b', 'c']);
        expect(copies()).to.deep.equal([]);
      });
    }));

  for (const { how, end, isDown } of [
    {
      how: 'truncated and written to',
      end: (file: string) => writeFileSync(file, line('next')),
      isDown: false,
    },
    { how: 'deleted, while nothing ran', end: unlinkSync, isDown: true },
  ])
    it(`stores a log once that two programs copied before it was ${how}`, () =>
      withFolder(async (data) => {
        const file = at(data, 'app.log');
        const ids = lines('once', 20);
        writeFileSync(file, text(ids));
        const rotate = () => {
          copyFileSync(file, `${file}-20261119`);
          copyFileSync(file, `${file}.2026-11-20T10`);
          end(file);
        };
        const after = isDown ? ids : [...ids, 'next'];
        await withIngest(data, async (ingesting) => {
          await settles(ingesting, ids);
          if (isDown) return;
          rotate();
          await settles(ingesting, after);
        });
        if (isDown) rotate();
        await withIngest(data, (ingesting) => settles(ingesting, after));
      }));

  it('stores a log once of which there are copies of several ages, when it begins anew', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const ids = ['first'];
        appendFileSync(file, line('first'));
        for (const suffix of ['.1', '.2', '.3']) {
          appendFileSync(file, line(suffix));
          ids.push(suffix);
          await settles(ingesting, ids);
          copyFileSync(file, file + suffix);
          await settles(ingesting, ids);
        }
        truncateSync(file);
        appendFileSync(file, line('last'));
        await settles(ingesting, [...ids, 'last']);
      }),
    ));

  it('stores a log once that was copied twice before it was read, beside one that begins alike', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('first'));
      await withIngest(data, (ingesting) => settles(ingesting, ['first']));
      appendFileSync(file, text(['a', 'b']));
      copyFileSync(file, `${file}.1`);
      writeFileSync(`${file}.2.gz`, gzipSync(readFileSync(file)));
      const minuteAgo = new Date(Date.now() - 60_000);
      utimesSync(`${file}.2.gz`, minuteAgo, minuteAgo);
      writeFileSync(file, line('first'));
      await withIngest(data, (ingesting) => settles(ingesting, ['first', 'a', 'b']));
    }));

  for (const half of [0, 10, 30])
    it(`knows a packed older copy that was seen when ${half} bytes of it were there`, () =>
      withFolder(async (data) => {
        const file = at(data, 'app.log');
        await withIngest(data, async (ingesting) => {
          writeFileSync(file, line('a'));
          await settles(ingesting, ['a']);
          const packed = gzipSync(line('a'));
          writeFileSync(`${file}.1.gz`, packed.subarray(0, half));
          await settles(ingesting, ['a']);
          appendFileSync(file, line('b'));
          await settles(ingesting, ['a', 'b']);
          truncateSync(file);
          appendFileSync(file, line('c'));
          appendFileSync(`${file}.1.gz`, packed.subarray(half));
          await settles(ingesting, ['a', 'b', 'c']);
        });
      }));

  for (const half of [10, 30])
    it(`knows an older copy that was seen when ${half} bytes of it were there`, () =>
      withFolder(async (data) => {
        const file = at(data, 'app.log');
        const whole = `{"id":"a","timestamp":"2026-11-20T10:00:00Z"}\n`;
        await withIngest(data, async (ingesting) => {
          writeFileSync(file, whole);
          await settles(ingesting, ['a']);
          writeFileSync(`${file}.1`, whole.slice(0, half));
          await settles(ingesting, ['a']);
          appendFileSync(`${file}.1`, whole.slice(half));
          await settles(ingesting, ['a']);
        });
      }));

  it('reports folders whose name is not UTF-8, and packed files with more than gzip data', () =>
    withFolder(async (data) => {
      const folder = Buffer.concat([
        Buffer.from(`${at(data, '')}/`),
        Buffer.from([0x66, 0xff, 0x6f]),
      ]);
      mkdirSync(folder);
      writeFileSync(Buffer.concat([folder, Buffer.from('/app.log')]), line('hidden'));
      const packed = gzipSync(line('packed'));
      writeFileSync(
        at(data, 'nul.log.gz'),
        Buffer.concat([packed, Buffer.alloc(5), Buffer.from(line('lost'))]),
      );
      writeFileSync(
        at(data, 'padded.log.gz'),
        Buffer.concat([gzipSync(line('padded')), Buffer.alloc(512)]),
      );
      await withIngest(data, async (ingesting) => {
        await eventually(async () => expect(await idsOf(ingesting)).to.include('padded'));
        await eventually(() =>
          expect(ingesting.refused().map(({ reason }) => reason)).to.have.members([
            'its name is not UTF-8',
            'it cannot be unpacked (bytes behind its packed data)',
          ]),
        );
      });
    }));

  it('identifies thousands of files whose names look like rotations of one log', () =>
    withFolder(async (data) => {
      const ids = lines('job', 1500);
      const old = new Date(Date.now() - 60_000);
      for (const [n, id] of ids.entries()) {
        writeFileSync(at(data, `job-${n}.log`), line(id));
        utimesSync(at(data, `job-${n}.log`), old, old);
      }
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    })).timeout(300_000);
});
