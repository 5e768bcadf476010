import { execFileSync } from 'node:child_process';
import fs, {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources, type Source } from '../../../ingest/index.ts';
import { eventually, type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';

const SOURCE = 'edge_logs';

/** Where the marks of `passes` are. */
const MARKS = 'storage_logs';

/** A line without a newline is soon taken, and a deleted file soon let go. */
const SOON = { waits: { quiet: 300, deleted: 300 } };

describe('a file that grows', () => {
  it('gives every line once, through restarts', () =>
    withFolder(async (data) => {
      const ids: string[] = [];
      for (let round = 0; round < 3; round++) {
        await withIngest(data, async (ingesting) => {
          for (let i = 0; i < 2; i++) {
            ids.push(add(ingesting, 'app.log', `${round}-${i}`));
            await holds(ingesting, ids);
          }
        });
      }
    }));

  it('gives every line once when it was written while nothing ran', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('a') + line('b') + line('c').slice(0, 30));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b']));
      appendFileSync(file, line('c').slice(30) + line('d'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c', 'd']));
    }));

  it('gives a line only when its newline has come', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const text = line('b');
        ingesting.write(`${SOURCE}/app.log`, line('a') + text.slice(0, 40));
        await settles(ingesting, ['a']);
        ingesting.write(`${SOURCE}/app.log`, text.slice(40, 60));
        await settles(ingesting, ['a']);
        ingesting.write(`${SOURCE}/app.log`, text.slice(60));
        await settles(ingesting, ['a', 'b']);
      }),
    ));

  it('keeps half a line, and a value that is no object, for longer than the quiet time', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        ingesting.write(`${SOURCE}/app.log`, line('a').slice(0, 40));
        ingesting.write(`${SOURCE}/null.log`, 'null');
        // This line is written at the same time, and taken when its quiet time is over.
        ingesting.write(`storage_logs/quiet.log`, line('quiet').trim());
        await ingesting.lines(1, 'storage_logs');
        await settles(ingesting, []);
        ingesting.write(`${SOURCE}/app.log`, line('a').slice(40));
        await settles(ingesting, ['a']);
      }),
    ));

  it('gives every line once when it comes byte by byte', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const bytes = Buffer.from(line('\u20ac1') + line('2') + line('\u{1f600}3'));
        for (const byte of bytes) {
          appendFileSync(file, Buffer.from([byte]));
          await pause(1);
        }
        await settles(ingesting, ['\u20ac1', '2', '\u{1f600}3']);
      }),
    ));

  it('gives every character whole, wherever in it a write ends', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const text = '\u{1f600}\u20ac\u00e9'.repeat(2);
        const cuts = Array.from({ length: Buffer.byteLength(text) + 1 }, (_, within) => {
          const bytes = Buffer.from(line(`cut-${within}`, text));
          const at = bytes.indexOf(text) + within;
          return [`cut-${within}x.log`, bytes.subarray(0, at), bytes.subarray(at)] as const;
        });
        for (const [name, start] of cuts) writeFileSync(at(data, name), start);
        await passes(ingesting);
        for (const [name, , rest] of cuts) appendFileSync(at(data, name), rest);
        await settles(
          ingesting,
          cuts.map((_, within) => `cut-${within}`),
        );
        const messages = (await ingesting.rows()).map(({ event_message }) => event_message);
        expect(new Set(messages)).to.deep.equal(new Set([`m${text}`]));
        expect((await ingesting.ledger()).repaired).to.equal(0);
      }),
    ));

  it('is looked at every 25 ms, and is not read again, while half a line stands there', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        writeFileSync(file, line('a') + line('b').slice(0, 40));
        await holds(ingesting, ['a']);
        appendFileSync(file, line('b').slice(40, 60));
        // As long as a file counts as one that has just grown, or half of that.
        const begin = performance.now();
        const { looks, reads } = await counting(data, () => pause(500));
        // A slow machine looks less often. A look that finds other bytes asks for the size again.
        expect(looks).to.be.within(2, (2 * (performance.now() - begin)) / 25);
        expect(reads).to.be.below(10);
        appendFileSync(file, line('b').slice(60));
        await settles(ingesting, ['a', 'b']);
      }),
    ));

  it('gives every line once, however it is cut into writes', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const ids = Array.from({ length: 2000 }, (_, i) => `${i}`);
        const bytes = Buffer.from(ids.map((id) => line(id, 'x'.repeat(Number(id) % 300))).join(''));
        for (let from = 0, n = 0; from < bytes.length; n++) {
          const length = 1 + ((n * 7919) % 4000);
          appendFileSync(file, bytes.subarray(from, from + length));
          from += length;
          await pause(1);
        }
        await settles(ingesting, ids);
      }),
    ));

  it('gives every line once when it grows behind lines that are odd, each in its own way', () =>
    withFolder(async (data) => {
      const files = each([
        ['a rejected line', 'null\n'],
        ['a line that DuckDB rejects', '{]}\n'],
        ['a Windows line end', '\r\n'],
        ['blank lines', ' \n\t\n'],
        ['an invalid byte', Buffer.from('{"id":"bad","project":"\xff"}\n', 'latin1')],
        ['a lone surrogate', '{"id":"bad","project":"\\ud800"}\n'],
        ['NULs', `\0\0\0${'{"id":"bad"}'}\n`],
        ['a rejected line of 2 MiB', `${'x'.repeat(2 * 1024 * 1024)}\n`],
      ] as const);
      const read = async (ingesting: Ingesting, source: Source) =>
        (await idsOf(ingesting, source)).filter((id) => id !== 'bad');
      const first = new Map<Source, { rejected: number; lines: number }>();
      for (const round of [1, 2]) {
        await withIngest(data, async (ingesting) => {
          for (const part of ['a', 'b']) {
            const idOf = (source: Source) => `${source}-${round}${part}`;
            for (const [source, [, bad]] of files) {
              ingesting.write(`${source}/app.log`, line(idOf(source)));
              ingesting.write(`${source}/app.log`, bad);
            }
            for (const [source, [kind]] of files)
              await eventually(async () =>
                expect(await read(ingesting, source), kind).to.include(idOf(source)),
              );
          }
          await passes(ingesting);
          for (const [source, [kind]] of files) {
            const { rejected, lines } = await ingesting.ledger(source);
            expect(await read(ingesting, source), kind).to.have.length(2 * round);
            if (round === 1) first.set(source, { rejected, lines });
            const { rejected: some = 0, lines: all = 0 } = first.get(source) ?? {};
            expect({ rejected, lines }, kind).to.deep.equal({
              rejected: some * round,
              lines: all * round,
            });
          }
        });
      }
    }));

  it('gives its unterminated last line once, when it has been quiet', () =>
    withFolder(async (data) => {
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/app.log`, line('a') + line('b').trim());
          await settles(ingesting, ['a', 'b']);
        },
        SOON,
      );
      await withIngest(
        data,
        async (ingesting) => {
          await settles(ingesting, ['a', 'b']);
          ingesting.write(`${SOURCE}/app.log`, '\n');
          await settles(ingesting, ['a', 'b']);
          ingesting.write(`${SOURCE}/app.log`, line('c') + line('d').trim());
          await settles(ingesting, ['a', 'b', 'c', 'd']);
          // Some writers put the newline first.
          ingesting.write(`${SOURCE}/app.log`, `\n${line('e').trim()}`);
          await settles(ingesting, ['a', 'b', 'c', 'd', 'e']);
        },
        SOON,
      );
    }));

  it('keeps half a line at the end of a file that was deleted', () =>
    withFolder((data) =>
      withIngest(
        data,
        async ({ write, lines, rejected }) => {
          write('edge_logs/a.ndjson', '{"id":"1"}\n{"id":"2');
          await lines(1);
          unlinkSync(join(data, 'logs', 'edge_logs', 'a.ndjson'));
          expect(await lines(2)).to.include({ rows: 1, rejected: 1 });
          expect((await rejected()).map(({ line }) => line)).to.deep.equal(['{"id":"2']);
        },
        SOON,
      ),
    ));

  it('gives one rejected line when a line that was taken without its newline goes on', () =>
    withFolder(async (data) => {
      const first = line('a').trim();
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/app.log`, first);
          await settles(ingesting, ['a']);
        },
        SOON,
      );
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/app.log`, ` ,"x":1}\n${line('b')}`);
          await settles(ingesting, ['a', 'b'], 1);
          const [rejected] = await ingesting.rejected();
          expect(rejected).to.include({ line: ',"x":1}', offset: BigInt(first.length + 1) });
        },
        SOON,
      );
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b'], 1), SOON);
    }));

  it('gives one rejected line when a whole object follows in the line that was taken', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/app.log`, line('a').trim());
          await settles(ingesting, ['a']);
          ingesting.write(`${SOURCE}/app.log`, line('b') + line('c'));
          await settles(ingesting, ['a', 'c'], 1);
        },
        SOON,
      ),
    ));
});

describe('a file that is rotated by renaming', () => {
  it('gives every line once, many times while it is written', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const ids: string[] = [];
        const file = at(data, 'app.log');
        for (let round = 0; round < 60; round++) {
          for (let burst = 0; burst < 4; burst++) {
            for (let i = 0; i < 5; i++) {
              const id = `${round}-${burst}-${i}`;
              appendFileSync(file, line(id));
              ids.push(id);
            }
            await pause(5);
          }
          for (let n = round; n >= 1; n--) renameSync(`${file}.${n}`, `${file}.${n + 1}`);
          renameSync(file, `${file}.1`);
        }
        await settles(ingesting, ids);
      }),
    ));

  it('gives the lines that the old writer still writes to the renamed file', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const old = openSync(file, 'a');
        writeSync(old, line('a'));
        await holds(ingesting, ['a']);
        renameSync(file, `${file}.1`);
        writeSync(old, line('b'));
        appendFileSync(file, line('c'));
        await holds(ingesting, ['a', 'b', 'c']);
        renameSync(`${file}.1`, `${file}.2`);
        writeSync(old, line('d'));
        await settles(ingesting, ['a', 'b', 'c', 'd']);
        closeSync(old);
      }),
    ));

  it('gives the lines that are still written to it when it was moved out of the logs folder', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const old = openSync(file, 'a');
        writeSync(old, line('a'));
        await holds(ingesting, ['a']);
        renameSync(file, join(data, 'moved.txt'));
        writeSync(old, line('b'));
        appendFileSync(file, line('c'));
        await settles(ingesting, ['a', 'b', 'c']);
        writeSync(old, line('d'));
        await settles(ingesting, ['a', 'b', 'c', 'd']);
        closeSync(old);
      }),
    ));

  it('gives every line once when it was rotated while nothing ran', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('a') + line('b'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b']));
      appendFileSync(file, line('c'));
      renameSync(file, `${file}.1`);
      writeFileSync(file, line('d'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c', 'd']));
      renameSync(`${file}.1`, `${file}.2`);
      renameSync(file, `${file}.1`);
      writeFileSync(file, line('e'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c', 'd', 'e']));
    }));

  it('gives every line once when each file begins with the same line, whichever was written last', () =>
    withFolder(async (data) => {
      const files = each(['old', 'new'] as const);
      const header = line('header', 'x'.repeat(2000));
      for (const [source] of files) writeFileSync(at(data, 'app.log', source), header);
      await withIngest(data, (ingesting) => allSettle(ingesting, files, () => ['header']));
      for (const [source, later] of files) {
        const file = at(data, 'app.log', source);
        appendFileSync(file, line('a') + line('b'));
        renameSync(file, `${file}.1`);
        writeFileSync(file, header + line('c'));
        const [past, now] = [Date.now() / 1000 - 600, Date.now() / 1000 - 60];
        utimesSync(`${file}.1`, past, later === 'old' ? now : past);
        utimesSync(file, past, later === 'old' ? past : now);
      }
      await withIngest(data, (ingesting) =>
        allSettle(ingesting, files, () => ['a', 'b', 'c', 'header', 'header']),
      );
    }));

  it('gives every line once under every name that it is rotated to', () =>
    withFolder(async (data) => {
      const files = each([
        'app.log-20261120',
        'app.log.2026-11-20T10',
        'app-20261120.log',
        'app.log-2026112010.backup',
      ]);
      const ids = (source: Source, which: string) => [...which].map((id) => `${source}-${id}`);
      for (const [source] of files) writeFileSync(at(data, 'app.log', source), line(`${source}-a`));
      await withIngest(data, async (ingesting) => {
        for (const [source] of files) await holds(ingesting, ids(source, 'a'), source);
        for (const [source, name] of files) {
          const file = at(data, 'app.log', source);
          appendFileSync(file, line(`${source}-b`));
          renameSync(file, at(data, name, source));
          appendFileSync(file, line(`${source}-c`));
        }
        await allSettle(ingesting, files, (source) => ids(source, 'abc'));
      });
      await withIngest(data, (ingesting) =>
        allSettle(ingesting, files, (source) => ids(source, 'abc')),
      );
    }));
});

describe('a file that is rotated by copying and truncating', () => {
  it('gives every line once, many times while it is written', () =>
    withFolder(async (data) => {
      const ids: string[] = [];
      await withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        for (let round = 0; round < 40; round++) {
          for (let burst = 0; burst < 4; burst++) {
            for (let i = 0; i < 5; i++) {
              const id = `${round}-${burst}-${i}`;
              appendFileSync(file, line(id));
              ids.push(id);
            }
            await pause(round % 7);
          }
          for (let n = round; n >= 1; n--) renameSync(`${file}.${n}`, `${file}.${n + 1}`);
          copyFileSync(file, `${file}.1`);
          if (round % 3 === 0) await pause(round % 5);
          truncateSync(file, 0);
        }
        await settles(ingesting, ids);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('doubles nothing when lines are written between the copy and the truncation', () =>
    withFolder(async (data) => {
      const kept: string[] = [];
      const between: string[] = [];
      const check = async (ingesting: Ingesting) => {
        await eventually(async () =>
          expect(await idsOf(ingesting, SOURCE)).to.include.members(kept),
        );
        await passes(ingesting);
        const found = await idsOf(ingesting, SOURCE);
        expect(twice(found)).to.deep.equal([]);
        expect([...kept, ...between]).to.include.members(found);
      };
      await withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        for (let round = 0; round < 25; round++) {
          kept.push(...append(file, `${round}-kept`, 20));
          await pause(round % 4 === 0 ? 60 : 3);
          for (let n = round; n >= 1; n--) renameSync(`${file}.${n}`, `${file}.${n + 1}`);
          copyFileSync(file, `${file}.1`);
          between.push(...append(file, `${round}-between`, 5));
          await pause((round % 5) * 20);
          truncateSync(file, 0);
        }
        await check(ingesting);
      });
      await withIngest(data, check);
    }));

  it('doubles nothing when the original was read beyond the copy before the copy was seen', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      await withIngest(data, async (ingesting) => {
        append(file, 'a', 10);
        await ingesting.lines(10);
        append(file, 'b', 10);
        await ingesting.lines(20);
      });
      // A copy that was made between the two appends.
      const text = readFileSync(file);
      writeFileSync(`${file}.1`, text.subarray(0, text.length / 2));
      await withIngest(data, async (ingesting) => {
        await passes(ingesting);
        expect(twice(await idsOf(ingesting, SOURCE))).to.deep.equal([]);
        truncateSync(file, 0);
        appendFileSync(file, line('c'));
        await eventually(async () => expect(await idsOf(ingesting, SOURCE)).to.include('c'));
        await passes(ingesting);
        expect(twice(await idsOf(ingesting, SOURCE))).to.deep.equal([]);
        expect((await ingesting.ledger()).lines).to.equal(21);
      });
    }));

  it('doubles nothing when a copy stands where an older one did, and neither was seen before', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('a') + line('b'));
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, ['a', 'b']);
        renameSync(file, `${file}.1`);
        await settles(ingesting, ['a', 'b']);
      });
      writeFileSync(file, line('c'));
      renameSync(`${file}.1`, `${file}.2`);
      copyFileSync(file, `${file}.1`);
      await withIngest(data, async (ingesting) => {
        await settles(ingesting, ['a', 'b', 'c']);
        truncateSync(file, 0);
        await settles(ingesting, ['a', 'b', 'c']);
      });
    }));

  it('gives the lines that were unread when it was rotated while nothing ran', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('a') + line('b'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b']));
      appendFileSync(file, line('c'));
      copyFileSync(file, `${file}.1`);
      truncateSync(file, 0);
      appendFileSync(file, line('d'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c', 'd']));
    }));

  it(`is not doubled by its copy, which is read on when the original is truncated, deleted or replaced ${SLOW}`, () =>
    withFolder(async (data) => {
      const files = each([
        (file: string) => truncateSync(file, 0),
        (file: string) => unlinkSync(file),
        (file: string) => {
          unlinkSync(file);
          writeFileSync(file, line('new'));
        },
      ]);
      const replaced = files[2]?.[0];
      const settle = (ingesting: Ingesting, ids: string, after: readonly string[] = []) =>
        allSettle(ingesting, files, (source) => [
          ...[...ids].map((id) => `${source}-${id}`),
          ...(source === replaced ? after : []),
        ]);
      const add = (source: Source, name: string, ids: string) =>
        appendFileSync(
          at(data, name, source),
          [...ids].map((id) => line(`${source}-${id}`)).join(''),
        );
      const copy = () => {
        for (const [source] of files) {
          const file = at(data, 'app.log', source);
          copyFileSync(file, `${file}.1`);
        }
      };
      for (const [source] of files) add(source, 'app.log', 'ab');
      await withIngest(data, async (ingesting) => {
        await settle(ingesting, 'ab');
        copy();
        await settle(ingesting, 'ab');
      });
      await withIngest(data, async (ingesting) => {
        await settle(ingesting, 'ab');
        for (const [source] of files) add(source, 'app.log', 'c');
        await settle(ingesting, 'abc');
        copy();
        await settle(ingesting, 'abc');
        for (const [source, end] of files) {
          end(at(data, 'app.log', source));
          // Only the copy holds this line: it was written to the original, and not read there.
          add(source, 'app.log.1', 'd');
        }
        await settle(ingesting, 'abcd', ['new']);
      });
      await withIngest(data, (ingesting) => settle(ingesting, 'abcd', ['new']));
    }));
});

describe('a log that is read from its start though its path was known', () => {
  const files = each([
    { change: (file: string) => renameSync(file, `${file}.1`) },
    { change: (file: string) => gzip(file) },
    { change: (file: string) => unlinkSync(file), isNamedAfterStop: true },
    { change: (file: string) => truncateSync(file, 0), isNamed: true, isNamedAfterStop: true },
    {
      change(file: string) {
        copyFileSync(file, `${file}.1`);
        truncateSync(file, 0);
      },
    },
  ] as readonly {
    readonly change: (file: string) => void;
    readonly isNamed?: boolean;
    readonly isNamedAfterStop?: boolean;
  }[]);
  const anew = (data: string, id: string) => {
    for (const [source] of files)
      appendFileSync(at(data, 'app.log', source), line(`${source}-${id}`));
  };
  const changeAll = (data: string) => {
    for (const [source, { change }] of files) change(at(data, 'app.log', source));
  };
  const settle = (ingesting: Ingesting, ids: string) =>
    allSettle(ingesting, files, (source) => [...ids].map((id) => `${source}-${id}`));
  const named = (key: 'isNamed' | 'isNamedAfterStop') =>
    files.filter(([, kind]) => kind[key]).map(([source]) => `${source}/app.log`);
  const names = (ingesting: Ingesting) => ingesting.warnings.map(({ file }) => file);

  it('is reported when it was truncated while it was followed, but not when it was renamed, packed, removed, or copied and truncated', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        anew(data, 'a');
        await settle(ingesting, 'a');
        changeAll(data);
        anew(data, 'b');
        await settle(ingesting, 'ab');
        expect(names(ingesting)).to.have.members(named('isNamed'));
      }),
    ));

  it(`is reported once when it was removed or truncated while nothing ran, but not when it was renamed, packed, or copied and truncated ${SLOW}`, () =>
    withFolder(async (data) => {
      anew(data, 'a');
      await withIngest(data, (ingesting) => settle(ingesting, 'a'));
      changeAll(data);
      anew(data, 'b');
      await withIngest(data, async (ingesting) => {
        await settle(ingesting, 'ab');
        expect(names(ingesting)).to.have.members(named('isNamedAfterStop'));
      });
      for (const [source] of files)
        renameSync(at(data, 'app.log', source), at(data, 'app.log.2', source));
      anew(data, 'c');
      await withIngest(data, async (ingesting) => {
        await settle(ingesting, 'abc');
        expect(names(ingesting)).to.deep.equal([]);
      });
    }));
});

describe('a file that is truncated', () => {
  const files = each([
    ['to nothing and written with fewer bytes', 'abcd', 'ef'],
    ['to nothing and written with as many bytes', 'abcd', 'efgh'],
    ['to nothing and written beyond the offset', 'abcd', 'efghij'],
    ['and written again with the same first line', 'abcd', 'aefghij'],
    ['and written again with the same first line and fewer bytes', 'abcd', 'ae'],
  ] as const);
  const idsIn = (source: Source, which: string) => [...which].map((id) => `${source}-${id}`);
  const texts = (source: Source, which: string) =>
    idsIn(source, which)
      .map((id) => line(id, 'x'.repeat(1500)))
      .join('');
  const writeAgain = (data: string) => {
    for (const [source, [, , after]] of files) {
      truncateSync(at(data, 'app.log', source), 0);
      appendFileSync(at(data, 'app.log', source), texts(source, after));
    }
  };
  const writeFirst = (data: string) => {
    for (const [source, [, before]] of files)
      appendFileSync(at(data, 'app.log', source), texts(source, before));
  };
  const holdsFirst = async (ingesting: Ingesting) => {
    for (const [source, [, before]] of files) await holds(ingesting, idsIn(source, before), source);
  };
  const bothSettle = (ingesting: Ingesting) =>
    allSettle(ingesting, files, (source, [, before, after]) => idsIn(source, before + after));

  it('is read from its start while it is followed, however it is written again', () =>
    withFolder(async (data) => {
      await withIngest(data, async (ingesting) => {
        writeFirst(data);
        await holdsFirst(ingesting);
        writeAgain(data);
        await bothSettle(ingesting);
      });
      await withIngest(data, bothSettle);
    }));

  it('is read from its start when nothing ran meanwhile, however it is written again', () =>
    withFolder(async (data) => {
      writeFirst(data);
      await withIngest(data, holdsFirst);
      writeAgain(data);
      await withIngest(data, bothSettle);
      await withIngest(data, bothSettle);
    }));

  it('to nothing gives no line', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        appendFileSync(file, line('a'));
        await holds(ingesting, ['a']);
        truncateSync(file, 0);
        await settles(ingesting, ['a']);
        appendFileSync(file, line('b'));
        await settles(ingesting, ['a', 'b']);
      }),
    ));

  it('gives the lines of a writer that goes on at its old offset, behind a hole', () =>
    withFolder(async (data) => {
      const writer = openSync(at(data, 'app.log'), 'w');
      const ids = ['a', 'b'];
      const goOn = (id: string) => {
        truncateSync(at(data, 'app.log'), 0);
        writeSync(writer, line(id));
        ids.push(id);
      };
      writeSync(writer, line('a', 'x'.repeat(900_000)) + line('b', 'x'.repeat(900_000)));
      await withIngest(data, async (ingesting) => {
        await holds(ingesting, ids);
        for (const id of ['c', 'd', 'e']) {
          goOn(id);
          await settles(ingesting, ids);
        }
      });
      goOn('f');
      closeSync(writer);
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('is read from its start though its size and its times are what they were', () =>
    withFolder(async (data) => {
      const second = new Date('2026-11-20T10:00:00Z');
      const file = at(data, 'app.log');
      const write = (text: string) => {
        appendFileSync(file, text);
        utimesSync(file, second, second);
      };
      write('');
      await withIngest(data, async (ingesting) => {
        // It was empty when it was first seen.
        await eventually(() => expect(ingesting.ingest.status().sources[0]?.files).to.equal(1));
        for (const ids of ['a', 'ab', 'abc']) {
          write(line(ids.slice(-1)));
          await holds(ingesting, [...ids]);
        }
        const { size } = statSync(file);
        truncateSync(file, 0);
        write(line('d', 'x'.repeat(size - line('d').length)));
        expect(statSync(file)).to.include({ size, mtimeMs: second.getTime() });
        await settles(ingesting, [...'abcd']);
      });
      await withIngest(data, (ingesting) => settles(ingesting, [...'abcd']));
    }));

  it('does not mix lines from before and after the truncation, in the middle of a batch', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      for (let part = 0; part < 20; part++) append(file, `before-${part}`, 5000);
      await withIngest(data, async (ingesting) => {
        await eventually(() => {
          const { pendingBytes } = ingesting.ingest.status().sources[0] ?? { pendingBytes: 0 };
          expect(pendingBytes).to.be.greaterThan(0);
        });
        truncateSync(file, 0);
        const after = append(file, 'after', 100);
        await eventually(async () =>
          expect(await idsOf(ingesting, SOURCE)).to.include.members(after),
        );
        await passes(ingesting);
        const ids = await idsOf(ingesting, SOURCE);
        expect(twice(ids)).to.deep.equal([]);
        expect(ids.filter((id) => !/^(before-\d+|after)-\d+$/.test(id))).to.deep.equal([]);
        expect(await ingesting.ledger()).to.include({ rejected: 0, lines: ids.length });
      });
    }));
});

describe('a file that is deleted', () => {
  it(`is read to its end when bytes of it were unread ${SLOW}`, () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      await withIngest(data, async (ingesting) => {
        appendFileSync(file, line('a'));
        await holds(ingesting, ['a']);
        appendFileSync(file, line('b') + line('c').trim());
        unlinkSync(file);
        await settles(ingesting, ['a', 'b', 'c']);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c']));
    }));

  it('is read to its end when its writer goes on, and is closed at last', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const writer = openSync(file, 'a');
        writeSync(writer, line('a'));
        await holds(ingesting, ['a']);
        unlinkSync(file);
        writeSync(writer, line('b'));
        await holds(ingesting, ['a', 'b']);
        closeSync(writer);
        await eventually(() => expect(openFiles(file)).to.equal(0));
        await settles(ingesting, ['a', 'b']);
      }),
    ));

  const files = each([
    ['shorter', 'd'],
    ['as long', 'def'],
    ['longer', 'defgh'],
    ['longer with the same first line', 'adefg'],
  ] as const);
  const idsIn = (source: Source, which: string) => [...which].map((id) => `${source}-${id}`);
  const texts = (source: Source, which: string) =>
    idsIn(source, which)
      .map((id) => line(id))
      .join('');
  const makeAnew = (data: string) => {
    for (const [source, [, after]] of files) {
      const file = at(data, 'app.log', source);
      unlinkSync(file);
      writeFileSync(file, texts(source, after));
    }
  };
  const writeFirst = (data: string) => {
    for (const [source] of files) appendFileSync(at(data, 'app.log', source), texts(source, 'abc'));
  };
  const holdsFirst = async (ingesting: Ingesting) => {
    for (const [source] of files) await holds(ingesting, idsIn(source, 'abc'), source);
  };
  const bothSettle = (ingesting: Ingesting) =>
    allSettle(ingesting, files, (source, [, after]) => idsIn(source, `abc${after}`));

  it('and made again at once is a new one, however long', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFirst(data);
        await holdsFirst(ingesting);
        makeAnew(data);
        await bothSettle(ingesting);
      }),
    ));

  it('and made again, mostly with the same inode, while nothing ran is a new one, however long', () =>
    withFolder(async (data) => {
      writeFirst(data);
      await withIngest(data, holdsFirst);
      makeAnew(data);
      await withIngest(data, bothSettle);
    }));

  it('gives its inode to a file of another name without harm', () =>
    withFolder(async (data) => {
      writeFileSync(at(data, 'a.log'), line('a'));
      await withIngest(data, (ingesting) => holds(ingesting, ['a']));
      unlinkSync(at(data, 'a.log'));
      writeFileSync(at(data, 'b.log'), line('b') + line('c'));
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'b', 'c']));
    }));
});

describe('two files', () => {
  it('that begin with the same 4 KiB are two, once they differ', () =>
    withFolder(async (data) => {
      const header = line('header', 'x'.repeat(4200));
      const ids = ['header', 'header', 'a', 'b', 'c'];
      await withIngest(data, async (ingesting) => {
        ingesting.write(`${SOURCE}/a.ndjson`, header);
        ingesting.write(`${SOURCE}/b.ndjson`, header);
        await settles(ingesting, ['header']);
        ingesting.write(`${SOURCE}/a.ndjson`, line('a'));
        ingesting.write(`${SOURCE}/b.ndjson`, line('b') + line('c'));
        await settles(ingesting, ids);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('with the same content are one, whatever their names and folders, until both grow', () =>
    withFolder(async (data) => {
      const a = at(data, 'a.ndjson');
      writeFileSync(a, line('a') + line('b'));
      const copies = ['b.ndjson', 'a.ndjson.1', 'elsewhere/a.ndjson.1', 'elsewhere/a.ndjson'];
      mkdirSync(at(data, 'elsewhere'));
      await withIngest(data, async (ingesting) => {
        await holds(ingesting, ['a', 'b']);
        for (const copy of copies.slice(0, 2)) copyFileSync(a, at(data, copy));
        await settles(ingesting, ['a', 'b']);
      });
      await withIngest(data, async (ingesting) => {
        for (const copy of copies.slice(2)) copyFileSync(a, at(data, copy));
        await settles(ingesting, ['a', 'b']);
        ingesting.write(`${SOURCE}/a.ndjson`, line('c'));
        await settles(ingesting, ['a', 'b', 'c']);
        ingesting.write(`${SOURCE}/b.ndjson`, line('d'));
        await settles(ingesting, ['a', 'a', 'b', 'b', 'c', 'd']);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ['a', 'a', 'b', 'b', 'c', 'd']));
    }));

  it('that are hard links of each other are one', () =>
    withFolder(async (data) => {
      const ids = ['a', 'b', 'c'];
      await withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        appendFileSync(file, line('a'));
        await holds(ingesting, ['a']);
        linkSync(file, at(data, 'link.log'));
        appendFileSync(file, line('b'));
        await settles(ingesting, ['a', 'b']);
        unlinkSync(file);
        appendFileSync(at(data, 'link.log'), line('c'));
        await settles(ingesting, ids);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ids));
    }));

  it('that are hard links in the folders of two sources are read once', () =>
    withFolder(async (data) => {
      const both = async (ingesting: Ingesting) =>
        (await ingesting.ledger(SOURCE)).lines + (await ingesting.ledger('auth_logs')).lines;
      const file = at(data, 'app.log');
      writeFileSync(file, line('a') + line('b'));
      mkdirSync(join(data, 'logs/auth_logs'), { recursive: true });
      linkSync(file, join(data, 'logs/auth_logs/app.log'));
      for (let round = 0; round < 2; round++) {
        await withIngest(data, async (ingesting) => {
          await eventually(async () => expect(await both(ingesting)).to.be.at.least(2 + round));
          await passes(ingesting);
          appendFileSync(file, line(`c${round}`));
          await eventually(async () => expect(await both(ingesting)).to.be.at.least(3 + round));
          await passes(ingesting);
          expect(await both(ingesting)).to.equal(3 + round);
        });
      }
    }));
});

describe('a file that links in the folders of all other sources lead to', () => {
  it('stays the file of its source, by every name that it has', () =>
    withFolder(async (data) => {
      const source = 'realtime_logs';
      const others = allSources().filter((name) => name !== source);
      const file = join(data, 'logs', source, 'app.log');
      const holdsAlone = async (ingesting: Ingesting, ids: readonly string[]) => {
        await ingesting.lines(ids.length, source);
        await passes(ingesting);
        expect(await idsOf(ingesting, source)).to.deep.equal(ids);
        for (const other of others) {
          const found = await idsOf(ingesting, other);
          expect(found.filter((id) => !id.startsWith('mark'))).to.deep.equal([]);
        }
      };
      await withIngest(data, async (ingesting) => {
        ingesting.write(`${source}/app.log`, line('a'));
        await ingesting.lines(1, source);
        for (const other of others) {
          linkSync(file, join(data, 'logs', other, 'hard.log'));
          symlinkSync(file, join(data, 'logs', other, 'soft.log'));
        }
        appendFileSync(file, line('b'));
        await holdsAlone(ingesting, ['a', 'b']);
      });
      appendFileSync(join(data, 'logs', SOURCE, 'hard.log'), line('c'));
      await withIngest(data, async (ingesting) => {
        await holdsAlone(ingesting, ['a', 'b', 'c']);
        expect(ingesting.refused()).to.deep.equal([]);
      });
    }));
});

describe('what is not a log file', () => {
  it('is not read, and is reported with a reason', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const outside = join(data, 'outside.log');
        writeFileSync(outside, line('outside'));
        appendFileSync(at(data, 'app.log'), line('a'));
        symlinkSync(outside, at(data, 'out.log'));
        symlinkSync('/etc/passwd', at(data, 'passwd.log'));
        symlinkSync(join(data, 'store/tailpond.duckdb'), at(data, 'database.log'));
        symlinkSync('nowhere.log', at(data, 'broken.log'));
        symlinkSync('loop.log', at(data, 'loop.log'));
        symlinkSync(data, at(data, 'folder.log'));
        mkdirSync(at(data, 'empty.ndjson'));
        execFileSync('mkfifo', [at(data, 'pipe.log')]);
        execFileSync('mknod', [at(data, 'device.log'), 'p']);
        writeFileSync(at(data, 'notes.txt'), line('text'));
        writeFileSync(at(data, 'app.log.old'), line('old'));
        writeFileSync(at(data, '.hidden.log'), line('hidden'));
        mkdirSync(at(data, '.folder'));
        writeFileSync(at(data, '.folder/app.log'), line('hidden'));
        mkdirSync(join(data, 'logs/nginx'));
        writeFileSync(join(data, 'logs/nginx/app.log'), line('unknown'));
        writeFileSync(join(data, 'logs/app.log'), line('unknown'));
        const socket = createServer().listen(at(data, 'socket.log'));
        try {
          const named = ['nginx', 'app.log'].concat(
            [
              ...['out.log', 'passwd.log', 'database.log', 'broken.log', 'loop.log', 'folder.log'],
              ...[
                'pipe.log',
                'device.log',
                'socket.log',
                'notes.txt',
                'app.log.old',
                '.hidden.log',
                '.folder',
              ],
            ].map((name) => `${SOURCE}/${name}`),
          );
          await eventually(() =>
            expect(ingesting.refused().map(({ path }) => path)).to.have.members(named),
          );
          for (const { path, reason, source } of ingesting.refused()) {
            expect(reason, path).to.be.a('string').and.not.equal('');
            expect(source, path).to.equal(path.startsWith(SOURCE) ? SOURCE : null);
          }
          appendFileSync(at(data, 'app.log'), line('b'));
          await settles(ingesting, ['a', 'b']);
        } finally {
          socket.close();
        }
      }),
    ));

  it('is a file of our own outside of the logs folder', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(join(data, 'app.log'), line('own'));
        writeFileSync(join(data, 'store/staging/own.ndjson'), line('own'));
        writeFileSync(join(data, 'store/own.log'), line('own'));
        add(ingesting, 'app.log', 'a');
        await settles(ingesting, ['a']);
        expect(ingesting.refused()).to.deep.equal([]);
      }),
    ));

  it('is a symbolic link to a log file, which is read once, under its own name', () =>
    withFolder(async (data) => {
      await withIngest(data, async (ingesting) => {
        add(ingesting, 'app.log', 'a');
        symlinkSync('app.log', at(data, 'link.log'));
        mkdirSync(join(data, 'logs/auth_logs'), { recursive: true });
        symlinkSync(at(data, 'app.log'), join(data, 'logs/auth_logs/link.log'));
        await settles(ingesting, ['a']);
        expect((await ingesting.ledger('auth_logs')).lines).to.equal(0);
        expect(ingesting.refused()).to.deep.equal([]);
      });
      await withIngest(data, (ingesting) => settles(ingesting, ['a']));
    }));

  it('is a UTF-16 file, of either byte order, until it is written anew', () =>
    withFolder(async (data) => {
      const files = each([
        ['little endian', [0xff, 0xfe]],
        ['big endian', [0xfe, 0xff]],
      ] as const).map(([source, [order, mark]]) => {
        const text = Buffer.from(line('wide'), 'utf16le');
        if (order === 'big endian') text.swap16();
        return { source, file: at(data, 'wide.log', source), mark: Buffer.from(mark), text };
      });
      for (const { file, mark, text } of files) writeFileSync(file, Buffer.concat([mark, text]));
      const refused = (ingesting: Ingesting) =>
        eventually(() => {
          const all = ingesting.refused();
          expect(all.map(({ source, path }) => [source, path])).to.have.deep.members(
            files.map(({ source }) => [source, `${source}/wide.log`]),
          );
          for (const { reason } of all) expect(reason).to.include('UTF-16');
        });
      await withIngest(data, async (ingesting) => {
        await refused(ingesting);
        for (const { file, text } of files) appendFileSync(file, text);
        await passes(ingesting);
        for (const { source } of files) await holds(ingesting, [], source);
        await refused(ingesting);
      });
      await withIngest(data, async (ingesting) => {
        await refused(ingesting);
        for (const { source, file } of files) writeFileSync(file, line(source));
        await allSettle(
          ingesting,
          files.map(({ source }) => [source, null]),
          (source) => [source],
        );
        await eventually(() => expect(ingesting.refused()).to.deep.equal([]));
      });
    }));

  it('is a UTF-16 file that was empty when it was first seen', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(at(data, 'wide.log'), '');
        await passes(ingesting);
        const text = Buffer.from(`\ufeff${line('wide')}${line('wide')}`, 'utf16le');
        appendFileSync(at(data, 'wide.log'), text);
        await eventually(() =>
          expect(ingesting.refused().map(({ path }) => path)).to.deep.equal([`${SOURCE}/wide.log`]),
        );
        await settles(ingesting, []);
      }),
    ));

  it('is a file, or all of a folder, that may not be read, until it may', () =>
    withFolder(async (data) => {
      // Root may read everything, so the test then runs with another user's rights.
      const root = process.geteuid?.() === 0;
      if (root) chownSync(data, 65_534, 65_534);
      if (root) process.seteuid?.(65_534);
      const closed = [`${SOURCE}/closed.log`, `${SOURCE}/folder`];
      const areNamed = (ingesting: Ingesting, paths: readonly string[]) =>
        eventually(() =>
          expect(ingesting.refused().map(({ path }) => path)).to.have.members(paths),
        );
      try {
        await withIngest(data, async (ingesting) => {
          writeFileSync(at(data, 'closed.log'), line('b'), { mode: 0 });
          writeFileSync(at(data, 'folder/app.log'), line('c'));
          chmodSync(at(data, 'folder'), 0);
          add(ingesting, 'app.log', 'a');
          await areNamed(ingesting, closed);
          await holds(ingesting, ['a']);
        });
        await withIngest(data, async (ingesting) => {
          await areNamed(ingesting, closed);
          chmodSync(at(data, 'closed.log'), 0o600);
          chmodSync(at(data, 'folder'), 0o700);
          await settles(ingesting, ['a', 'b', 'c']);
          await areNamed(ingesting, []);
        });
      } finally {
        if (root) process.seteuid?.(0);
      }
    }));
});

describe('files whose times are long ago, or in the future', () => {
  it('give every line once, also when their times change', () =>
    withFolder(async (data) => {
      const days = [1, -1, 400, -20_000, 0];
      const ids: string[] = [];
      const grow = (turn: number) => {
        for (const n of days.keys()) {
          const file = at(data, `${'abcde'[n]}.log`);
          ids.push(...append(file, `${turn}-${n}`, 2));
          const time = new Date(Date.now() + (days[(n + turn) % days.length] ?? 0) * 864e5);
          utimesSync(file, time, time);
        }
      };
      for (let turn = 0; turn < 4; turn += 2) {
        grow(turn);
        await withIngest(data, async (ingesting) => {
          await holds(ingesting, ids);
          grow(turn + 1);
          await settles(ingesting, ids);
        });
      }
    }));
});

describe('a file whose name has a date', () => {
  it('is read even when it is never quiet', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'vector-2026-11-21.log');
        const writer = setInterval(() => appendFileSync(file, line(`n${performance.now()}`)), 50);
        try {
          await eventually(async () => expect((await ingesting.ledger()).lines).to.be.above(20));
        } finally {
          clearInterval(writer);
        }
      }),
    ));
});

describe('a compressed file', () => {
  it('doubles nothing when it was copied before its original was read on and truncated', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        writeFileSync(file, line('a'));
        await holds(ingesting, ['a']);
        copyFileSync(file, `${file}.1`);
        appendFileSync(file, line('b') + line('c'));
        await holds(ingesting, ['a', 'b', 'c']);
        truncateSync(file);
        gzip(`${file}.1`);
        appendFileSync(file, line('d'));
        await settles(ingesting, ['a', 'b', 'c', 'd']);
      }),
    ));

  it('gives the lines of every gzip member', () =>
    withFolder(async (data) => {
      const members = Buffer.concat([
        gzipSync(line('a') + line('b').slice(0, 9)),
        gzipSync(''),
        gzipSync(line('b').slice(9, 10)),
        gzipSync(line('b').slice(10) + line('c')),
      ]);
      writeFileSync(at(data, 'app.log.1.gz'), members);
      writeFileSync(at(data, 'other.ndjson.gz'), gzipSync(line('d') + line('e').trim()));
      writeFileSync(at(data, 'empty.log.gz'), gzipSync(''));
      await withIngest(data, (ingesting) => settles(ingesting, [...'abcde']));
      await withIngest(data, (ingesting) => settles(ingesting, [...'abcde']));
    }));

  it('doubles nothing when the file was read before', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      await withIngest(data, async (ingesting) => {
        append(file, 'a', 100);
        await ingesting.lines(100);
        renameSync(file, `${file}.1`);
        append(file, 'b', 10);
        await ingesting.lines(110);
        gzip(`${file}.1`);
        await passes(ingesting);
        append(file, 'c', 10);
        await ingesting.lines(120);
        await passes(ingesting);
        expect(await ingesting.ledger()).to.include({ lines: 120, rows: 120 });
      });
      renameSync(`${file}.1.gz`, `${file}.2.gz`);
      renameSync(file, `${file}.1`);
      gzip(`${file}.1`);
      await withIngest(data, async (ingesting) => {
        await passes(ingesting);
        expect(await ingesting.ledger()).to.include({ lines: 120, rows: 120 });
      });
    }));

  it('gives the lines of a file that was not read to its end before', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      await withIngest(data, async (ingesting) => {
        append(file, 'a', 100);
        await ingesting.lines(100);
        append(file, 'b', 10);
        renameSync(file, `${file}.1`);
        gzip(`${file}.1`);
        await ingesting.lines(110);
        await passes(ingesting);
        expect((await ingesting.ledger()).lines).to.equal(110);
        append(file, 'c', 10);
        await ingesting.lines(120);
      });
      append(file, 'd', 10);
      renameSync(`${file}.1.gz`, `${file}.2.gz`);
      renameSync(file, `${file}.1`);
      gzip(`${file}.1`);
      append(file, 'e', 10);
      await withIngest(data, async (ingesting) => {
        await ingesting.lines(140);
        await passes(ingesting);
        expect(twice(await idsOf(ingesting, SOURCE))).to.deep.equal([]);
        expect(await ingesting.ledger()).to.include({ lines: 140, rows: 140 });
      });
    }));

  it('is reported while its end is missing, and read once when it is complete', () =>
    withFolder(async (data) => {
      const ids = Array.from({ length: 3000 }, (_, i) => `${i}`);
      const whole = gzipSync(ids.map((id) => line(id, `${Math.sin(Number(id))}`)).join(''));
      const file = at(data, 'app.log.1.gz');
      writeFileSync(file, whole.subarray(0, whole.length / 2));
      const named = (ingesting: Ingesting) =>
        eventually(() =>
          expect(ingesting.refused().map(({ path }) => path)).to.deep.equal([
            `${SOURCE}/app.log.1.gz`,
          ]),
        );
      await withIngest(data, async (ingesting) => {
        await named(ingesting);
        add(ingesting, 'other.log', 'other');
        await eventually(async () => expect(await idsOf(ingesting, SOURCE)).to.include('other'));
      });
      await withIngest(data, async (ingesting) => {
        await named(ingesting);
        appendFileSync(file, whole.subarray(whole.length / 2));
        await settles(ingesting, [...ids, 'other']);
        expect(ingesting.refused()).to.deep.equal([]);
      });
      await withIngest(data, (ingesting) => settles(ingesting, [...ids, 'other']));
    }));

  it('doubles nothing when it stands beside the rotated file that it was made of, and neither was read', () =>
    withFolder(async (data) => {
      for (const [name, id] of [
        ['app.log.1', 'a'],
        ['b-20261110.log', 'b'],
      ] as const) {
        writeFileSync(at(data, name), line(id));
        writeFileSync(at(data, `${name}.gz`), gzipSync(line(id)));
      }
      writeFileSync(at(data, 'app.log'), line('c'));
      writeFileSync(at(data, 'b.log'), line('d'));
      await withIngest(data, (ingesting) => settles(ingesting, [...'abcd']));
      await withIngest(data, (ingesting) => settles(ingesting, [...'abcd']));
    }));

  it('is read once when it was packed as soon as it was read, and the next one took its name', () =>
    withFolder(async (data) => {
      const file = at(data, 'app.log');
      writeFileSync(file, line('a'));
      writeFileSync(`${file}.1`, line('b'));
      await withIngest(data, async (ingesting) => {
        await holds(ingesting, ['a', 'b']);
        writeFileSync(`${file}.2.gz`, gzipSync(readFileSync(`${file}.1`)));
        unlinkSync(`${file}.1`);
        renameSync(file, `${file}.1`);
        writeFileSync(file, line('c'));
        await settles(ingesting, [...'abc']);
      });
      await withIngest(data, (ingesting) => settles(ingesting, [...'abc']));
    }));

  it('that is not whole gzip data is reported, and does no harm; text under its name is read', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        writeFileSync(at(data, 'app.log.gz'), Buffer.from('\x1f\x8b not gzip', 'latin1'));
        writeFileSync(at(data, 'text.log.gz'), line('plain'));
        add(ingesting, 'app.log', 'a');
        await eventually(() =>
          expect(ingesting.refused().map(({ path }) => path)).to.deep.equal([
            `${SOURCE}/app.log.gz`,
          ]),
        );
        await settles(ingesting, ['a', 'plain']);
      }),
    ));
});

describe('folders', () => {
  it('may be moved together, between two runs', () =>
    withFolder(async (folder) => {
      const [old, moved] = [join(folder, 'old'), join(folder, 'moved')];
      writeFileSync(at(old, 'app.log'), line('a'));
      writeFileSync(at(old, 'deep/er/app.log.1'), line('b') + line('c').trim());
      await withIngest(old, (ingesting) => settles(ingesting, ['a', 'b', 'c']));
      renameSync(old, moved);
      appendFileSync(at(moved, 'app.log'), line('d'));
      await withIngest(moved, (ingesting) => settles(ingesting, ['a', 'b', 'c', 'd']));
    }));

  it('may be copied together, between two runs', () =>
    withFolder(async (folder) => {
      const [old, copy] = [join(folder, 'old'), join(folder, 'copy')];
      const ids = ['a', 'b', 'c', 'd'];
      writeFileSync(at(old, 'app.log'), line('a'));
      writeFileSync(at(old, 'app.log.1'), line('b'));
      writeFileSync(at(old, 'app.log.2.gz'), gzipSync(line('c')));
      writeFileSync(at(old, 'deep/app.log'), line('d'));
      await withIngest(old, (ingesting) => settles(ingesting, ids));
      cpSync(old, copy, { recursive: true });
      appendFileSync(at(copy, 'app.log'), line('e'));
      await withIngest(copy, (ingesting) => settles(ingesting, [...ids, 'e']));
      await withIngest(copy, (ingesting) => settles(ingesting, [...ids, 'e']));
    }));

  it('are found again when the logs folder is moved away and made anew', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        add(ingesting, 'app.log', 'a');
        await holds(ingesting, ['a']);
        renameSync(join(data, 'logs'), join(data, 'away'));
        await pause(100);
        appendFileSync(join(data, 'away', SOURCE, 'app.log'), line('b'));
        writeFileSync(at(data, 'app.log'), line('c') + line('d'));
        writeFileSync(at(data, 'other.log'), line('e'));
        await holds(ingesting, ['a', 'b', 'c', 'd', 'e']);
        await passes(ingesting);
        add(ingesting, 'app.log', 'f');
        await settles(ingesting, ['a', 'b', 'c', 'd', 'e', 'f']);
      }),
    ));

  it('are found again when the folder of a source is deleted or moved away, and made anew', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const files = each([
          (folder: string) => rmSync(folder, { recursive: true }),
          (folder: string) => renameSync(folder, `${folder}-away`),
        ]);
        for (const [source] of files) {
          ingesting.write(`${source}/app.log`, line(`${source}-a`));
          await holds(ingesting, [`${source}-a`], source);
        }
        for (const [source, remove] of files) remove(join(data, 'logs', source));
        await passes(ingesting);
        for (const [source] of files)
          writeFileSync(at(data, 'app.log', source), line(`${source}-b`));
        await allSettle(ingesting, files, (source) => [`${source}-a`, `${source}-b`]);
      }),
    ));

  it('may be nested, may move, and may appear with files in them', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const ids: string[] = [];
        for (const path of [
          'a.log',
          'b/a.log',
          'b/c/a.log',
          'b/c/d/e/f/g/a.log',
          'b c/\u00e4.json',
        ])
          ids.push(add(ingesting, path, path));
        await settles(ingesting, ids);
        renameSync(at(data, 'b'), at(data, 'moved'));
        appendFileSync(at(data, 'moved/c/a.log'), line('more'));
        await settles(ingesting, [...ids, 'more']);
        mkdirSync(join(data, 'built/in'), { recursive: true });
        writeFileSync(join(data, 'built/in/x.jsonl'), line('built'));
        renameSync(join(data, 'built'), at(data, 'built'));
        await settles(ingesting, [...ids, 'more', 'built']);
      }),
    ));

  it('may hold many files, that all grow', () =>
    withFolder(async (data) => {
      const names = Array.from({ length: 300 }, (_, i) => `d${i % 7}/f${i}.log`);
      const ids: string[] = [];
      for (let round = 0; round < 2; round++) {
        await withIngest(data, async (ingesting) => {
          for (const part of ['x', 'y']) {
            for (const name of names) ids.push(add(ingesting, name, `${name}-${round}${part}`));
            await ingesting.lines(ids.length);
          }
          await settles(ingesting, ids);
          const { files } = ingesting.ingest.status().sources[0] ?? {};
          expect(files).to.equal(300);
        });
      }
    }));

  it('may hold files with any name', () =>
    withFolder(async (data) => {
      const names = [
        "it's; drop table files; --.log",
        '"quoted".log',
        'new\nline.log',
        'carriage\rreturn.log',
        '","level":60,"msg":"forged.log',
        'tab\tand\u0001and\u001b[31m.log',
        'back\\slash.log',
        '\u2028\u2029.log',
        '\u{1f600}\u0301.log',
        `${'\u{1f600}'.repeat(62)}.log`,
        `${'x'.repeat(251)}.log`,
        ' .log',
        '%s$1`.log',
        '-rf.log',
        '__proto__.log',
        'app.log.log',
        'a.b.c.ndjson',
      ];
      const ids = names.map((_, i) => `${i}`);
      for (const [i, name] of names.entries()) writeFileSync(at(data, name), `${line(`${i}`)}7\n`);
      const undecodable = Buffer.concat([
        Buffer.from(at(data, '')),
        Buffer.from([0x2f, 0xff, 0xfe, 0x22, 0x0a]),
        Buffer.from('.log'),
      ]);
      writeFileSync(undecodable, line('undecodable'));
      for (let round = 0; round < 2; round++) {
        await withIngest(data, async (ingesting) => {
          await settles(ingesting, ids, names.length);
          const rejected = await ingesting.rejected();
          expect(rejected.map(({ file }) => file)).to.have.members(
            names.map((name) => `${SOURCE}/${name}`),
          );
          const path = `${SOURCE}/\ufffd\ufffd"\n.log`;
          expect(ingesting.refused()).to.deep.equal([
            { source: SOURCE, path, reason: 'its name is not UTF-8' },
          ]);
          // Each line of the log is an object by itself, or it would not be here.
          expect(ingesting.warnings.map(({ file, msg }) => [file, msg])).to.deep.equal([
            [path, 'this is not read'],
          ]);
        });
      }
    }));

  it('have files of every extension and rotation, which are read', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const names = [
          ...['a.ndjson', 'b.jsonl', 'c.json', 'd.log', 'e.ndjson.1', 'f.jsonl-20261120'],
          ...['g.json.2026-11-20T10', 'h.log.12', 'i.log.2026-11-20', 'j.log.20261120T100000'],
        ];
        for (const name of names) add(ingesting, name, name);
        await settles(ingesting, names);
        expect(ingesting.refused()).to.deep.equal([]);
      }),
    ));

  it('are left as they are: no file in them is changed or removed', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const file = at(data, 'app.log');
        const text = line('a') + line('b').trim();
        writeFileSync(file, text);
        const { mtimeMs, mode } = statSync(file);
        await settles(ingesting, ['a', 'b']);
        expect(existsSync(file) && readFileSync(file, 'utf8')).to.equal(text);
        expect(statSync(file)).to.include({ mtimeMs, mode });
      }),
    ));
});

function line(id: string, text = ''): string {
  return `{"id":"${id}","timestamp":"2026-11-20T10:00:00Z","event_message":"m${text}","metadata":{"request":{"path":"/${id}"}}}\n`;
}

/**
 * Gives each of the kinds of one case a source. They share a store, which takes longer to open than most kinds, and each has its own rows
 * and its own entry in the ledger.
 */
function each<Kind>(kinds: readonly Kind[]): readonly (readonly [Source, Kind])[] {
  const sources = allSources().filter((source) => source !== MARKS);
  return kinds.map((kind, n) => {
    const source = sources[n];
    if (!source) throw new Error('BUG: there are more kinds than sources');
    return [source, kind];
  });
}

/** Returns the path of a file in the source's folder, and makes its folder if it is missing. */
function at(data: string, name: string, source: Source = SOURCE): string {
  const path = join(data, 'logs', source, name);
  mkdirSync(join(path, '..'), { recursive: true });
  return path;
}

function add(ingesting: Ingesting, name: string, id: string): string {
  ingesting.write(`${SOURCE}/${name}`, line(id));
  return id;
}

/** Appends many lines in one write; gives their ids. */
function append(file: string, name: string, count: number): string[] {
  const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  appendFileSync(file, ids.map((id) => line(id)).join(''));
  return ids;
}

function gzip(file: string): void {
  execFileSync('gzip', [file]);
}

async function idsOf(ingesting: Ingesting, source: Source): Promise<string[]> {
  const { rows } = await ingesting.store.query(
    `select id from ${source} order by id`,
    {},
    { maxRows: 1_000_000 },
  );
  return rows.map(([id]) => String(id));
}

function twice(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  return ids.filter((id) => seen.size === seen.add(id).size);
}

/** Counts how often open files are looked at, and read, while `action` runs. */
async function counting(folder: string, action: () => Promise<void>) {
  const counts = { looks: 0, reads: 0 };
  const handle = await open(folder);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { read } = prototype;
  const { fstatSync } = fs;
  const count = <F>(name: keyof typeof counts, of: F) =>
    function counted(this: unknown, ...given: unknown[]) {
      counts[name]++;
      return (of as (...all: unknown[]) => unknown).apply(this, given);
    } as F;
  prototype.read = count('reads', read);
  fs.fstatSync = count('looks', fstatSync);
  syncBuiltinESMExports();
  try {
    await action();
  } finally {
    prototype.read = read;
    fs.fstatSync = fstatSync;
    syncBuiltinESMExports();
  }
  return counts;
}

/** Counts the descriptors of this process that are open on a deleted file. */
function openFiles(file: string): number {
  const links = execFileSync('sh', ['-c', `ls -l /proc/${process.pid}/fd 2> /dev/null || true`], {
    encoding: 'utf8',
  });
  return links.split('\n').filter((link) => link.endsWith(`${file} (deleted)`)).length;
}

/** Waits until the source holds these ids, in any order. */
async function holds(
  ingesting: Ingesting,
  ids: readonly string[],
  source: Source = SOURCE,
): Promise<void> {
  await eventually(async () => {
    const { lastError: trouble } = ingesting.ingest.status();
    const found = await idsOf(ingesting, source);
    const [missing, surplus] = [without(ids, found), without(found, ids)];
    expect({ trouble, missing, surplus }, source).to.deep.equal({
      trouble: null,
      missing: [],
      surplus: [],
    });
  }, 15_000);
}

/** Returns `ids` without one occurrence for each of `others`. */
function without(ids: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const id of others) left.set(id, (left.get(id) ?? 0) + 1);
  return ids.filter((id) => {
    const count = left.get(id) ?? 0;
    left.set(id, count - 1);
    return count <= 0;
  });
}

/** Waits until the source holds these ids, and still does when all files that exist now were looked at. */
function settles(ingesting: Ingesting, ids: readonly string[], rejected = 0): Promise<void> {
  return allSettle(ingesting, [[SOURCE, null]], () => ids, rejected);
}

/** Waits until each source holds its ids, and still does when all files that exist now were looked at. */
async function allSettle<Kind>(
  ingesting: Ingesting,
  files: readonly (readonly [Source, Kind])[],
  idsOf: (source: Source, kind: Kind) => readonly string[],
  rejected = 0,
): Promise<void> {
  const hold = async () => {
    for (const [source, kind] of files) await holds(ingesting, idsOf(source, kind), source);
  };
  await hold();
  await passes(ingesting);
  await hold();
  for (const [source, kind] of files) {
    const { length } = idsOf(source, kind);
    expect(await ingesting.ledger(source)).to.include({
      rows: length,
      stored: length,
      rejected,
      lines: length + rejected,
    });
  }
}

let marks = 0;

/** Makes a file and waits until it was taken. */
async function passes(ingesting: Ingesting): Promise<void> {
  const before = (await ingesting.ledger(MARKS)).lines;
  const mark = `mark${process.pid}x${marks++}`;
  ingesting.write(`${MARKS}/${mark}.log`, line(mark));
  await ingesting.lines(before + 1, MARKS);
}
