import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Service, withService } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import {
  holds,
  ledger,
  livezDuring,
  memoryMb,
  PASSAGES,
  reads,
  run,
  type Setup,
  settles,
  through,
  withSetup,
} from './setup.ts';

const MB = 1024 * 1024;
/** A file that grows is looked at so often (docs/architecture.md), … */
const LOOK_MS = 25;
/** … and a look takes some reads, most of them of what Node wakes its threads by. */
const READS = 40;
/** The bytes that are kept of a line beyond the limit. */
const HEAD = 4096;

describe('a line that comes in parts', () => {
  faultCase(
    'T01',
    'half a line, alone for longer than the quiet time, then the rest: one row',
    () =>
      withSetup(async (setup) => {
        const path = setup.at('app.log');
        const cut = (line: string) => [line.slice(0, 40), line.slice(40)] as const;
        for (const [i, passage] of PASSAGES.entries()) {
          const [start, end] = cut(setup.lines(1));
          const quiet = setup.at(`quiet-${i}.log`, 'auth_logs');
          await through(
            setup,
            passage,
            async (service) => {
              const { lines } = await ledger(service);
              appendFileSync(path, start);
              // Written at the same time and taken for its quiet; half a line never is, however quiet.
              writeFileSync(quiet, setup.lines(1, 'auth_logs').trim());
              await holdsOf(service, setup, 'auth_logs');
              expect((await ledger(service)).lines).to.equal(lines);
            },
            () => appendFileSync(path, end),
            (service) => settles(service, setup, ['edge_logs', 'auth_logs']),
          );
        }
      }),
  );

  faultCase('T02', 'one byte at a time: the very lines, at little cost', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        const path = setup.at('app.log');
        const bytes = Buffer.from(setup.lines(15, 'edge_logs', '€ and 😀'));
        const file = openSync(path, 'a');
        const writeBytes = async (from: number, to: number) => {
          for (let at = from; at < to; at++) {
            writeSync(file, bytes, at, 1);
            await delay(1);
          }
        };
        const half = Math.floor(bytes.length / 2) + 10;
        await writeBytes(0, half);
        // The half line has just grown, so it is looked at often; there is nothing to read.
        const [begin, before] = [performance.now(), reads(service)];
        await delay(500);
        const looks = (performance.now() - begin) / LOOK_MS;
        const perLook = (reads(service) - before) / looks;
        await writeBytes(half, bytes.length);
        closeSync(file);
        await settles(service, setup);
        expect((await ledger(service)).repaired).to.equal(0);
        console.log(`      ${bytes.length} bytes, ${perLook.toFixed(1)} reads for each look`);
        // A slow machine looks less often, never more; a loop without a pause would read a hundred times as much.
        expect(perLook).to.be.below(READS);
      }),
    ),
  );

  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T03${'abc'[i]}`,
      `a last line without its newline is one row; the newline that comes later adds nothing, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const path = setup.at('app.log');
          await through(
            setup,
            passage,
            async (service) => {
              writeFileSync(path, setup.lines(2) + setup.lines(1).trim());
              await settles(service, setup);
            },
            () => appendFileSync(path, '\n'),
            async (service) => {
              await settles(service, setup);
              appendFileSync(path, setup.lines(2));
              await settles(service, setup);
            },
          );
        }),
    );
  }

  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T04${'abc'[i]}`,
      `a line goes on that was taken without its newline: one rejected line at its place, and the next are fine, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const continuations = {
            'fields.log': ',"x":1}',
            'object.log': setup.lines(1).trim(),
            'text.log': 'and more',
          };
          setup.expectedLines.destroyed(continuations['object.log']);
          const lengths = new Map<string, number>();
          await through(
            setup,
            passage,
            async (service) => {
              for (const name of Object.keys(continuations)) {
                const text = setup.lines(3) + setup.lines(1).trim();
                lengths.set(name, Buffer.byteLength(text));
                writeFileSync(setup.at(name), text);
              }
              await settles(service, setup);
            },
            () => {
              for (const [name, rest] of Object.entries(continuations)) {
                setup.expectedLines.bad(rest);
                appendFileSync(setup.at(name), ` ${rest}\n${setup.lines(3)}`);
              }
            },
            async (service) => {
              await settles(service, setup);
              const { body } = await service.get('/api/rejected?source=edge_logs&limit=10');
              const rejected = body.result as { file: string; offset: number; length: number }[];
              expect(
                rejected.map(({ file, offset, length }) => ({ file, offset, length })),
              ).to.have.deep.members(
                Object.entries(continuations).map(([name, rest]) => ({
                  file: `edge_logs/${name}`,
                  // Behind the part that became a row, and a space.
                  offset: (lengths.get(name) ?? 0) + 1,
                  length: rest.length,
                })),
              );
            },
          );
          await run(setup.data, (service) => settles(service, setup));
        }),
    );
  }

  faultCase('T04d', 'the continuation comes in two parts, with a kill -9 between them', () =>
    withSetup(async (setup) => {
      const path = setup.at('app.log');
      await withService(setup.data, async (service) => {
        writeFileSync(path, setup.lines(1).trim());
        await settles(service, setup);
        appendFileSync(path, ',"x":');
        // It has been looked at, and is left: it may go on.
        await settles(service, setup);
        expect(await service.end('SIGKILL')).to.equal('SIGKILL');
      });
      appendFileSync(path, `1}\n${setup.lines(2)}`);
      setup.expectedLines.bad(',"x":1}');
      await run(setup.data, (service) => settles(service, setup));
    }),
  );
});

describe('a line that is too long', () => {
  for (const [id, megabytes] of [
    ['T17a', 5],
    ['T17b', 50],
  ] as const) {
    faultCase(id, `a line of ${megabytes} MB is rejected by its head, in little memory`, () =>
      withSetup((setup) =>
        run(setup.data, async (service) => {
          const path = setup.at('app.log');
          writeFileSync(path, setup.lines(1));
          await settles(service, setup);
          const before = memoryMb(service, 'VmHWM');
          const answers = await livezDuring(service, async () => {
            const { head } = appendLong(path, megabytes * MB);
            setup.expectedLines.bad(head);
            appendFileSync(path, `\n${setup.lines(5)}`);
            await settles(service, setup);
          });
          const grown = memoryMb(service, 'VmHWM') - before;
          console.log(`      ${grown.toFixed(0)} MB more, ${answers} answers of /livez meanwhile`);
          // Buffers of reads that are over count until they are collected, later on a busy machine.
          expect(grown).to.be.below(80);
          const { body } = await service.get('/api/rejected?source=edge_logs&limit=1');
          const [rejected] = body.result as { length: number; reason: string }[];
          expect(rejected?.length).to.equal(megabytes * MB);
          expect(rejected?.reason).to.include('TAILPOND_MAX_LINE');
        }),
      ),
    );
  }

  faultCase(
    'T18',
    'a file without any newline: memory stays flat, other files flow, and its end is found after a kill -9',
    () =>
      withSetup(async (setup) => {
        const [endless, other] = [setup.at('endless.log'), setup.at('other.log')];
        const megabytes = LONG ? 5 * 1024 : 200;
        await withService(setup.data, async (service) => {
          writeFileSync(other, setup.lines(1));
          await settles(service, setup);
          const before = memoryMb(service, 'VmHWM');
          const { head } = appendLong(endless, MB);
          for (let written = 1; written < megabytes; written += 40) {
            appendLong(endless, Math.min(40, megabytes - written) * MB);
            appendFileSync(other, setup.lines(20));
            await holds(service, setup);
          }
          setup.expectedLines.bad(head);
          const grown = memoryMb(service, 'VmHWM') - before;
          console.log(`      ${megabytes} MB, ${grown.toFixed(0)} MB of memory more`);
          expect(grown).to.be.below(80);
          expect((await ledger(service)).rejected).to.equal(0);
          expect(await service.end('SIGKILL')).to.equal('SIGKILL');
        });
        appendFileSync(endless, `\n${setup.lines(3)}`);
        await run(setup.data, (service) => settles(service, setup));
      }),
    { timeoutMs: LONG ? 900_000 : 300_000 },
  );
});

describe('bytes that are not clean text', () => {
  faultCase(
    'T19',
    'invalid UTF-8, overlong forms, and characters cut at every place: repaired, at exact offsets',
    () =>
      withSetup((setup) =>
        run(setup.data, async (service) => {
          const path = setup.at('app.log');
          const odd = ['\xff', '\xc0\xaf', '\xe0\x80\xaf', '\xed\xa0\x80', '\xf4\x90\x80\x80'];
          for (const [n, bytes] of odd.entries()) {
            const id = `odd-${n}`;
            setup.expectedLines.row(id);
            appendFileSync(path, Buffer.from(`{"id":"${id}","project":"a${bytes}z"}\n`, 'latin1'));
          }
          // Each write ends at another place within a character.
          const text = '😀€é'.repeat(4);
          for (let within = 0; within <= Buffer.byteLength(text); within++) {
            const line = Buffer.from(setup.lines(1, 'edge_logs', text));
            const cut = line.indexOf(text) + within;
            appendFileSync(path, line.subarray(0, cut));
            // Time to read the first part by itself.
            await delay(40);
            appendFileSync(path, line.subarray(cut));
          }
          const offset = readFileSync(path).length;
          setup.expectedLines.bad('the end');
          appendFileSync(path, 'the end\n');
          await settles(service, setup);
          expect((await ledger(service)).repaired).to.equal(odd.length);
          const { body } = await service.get('/api/rejected?source=edge_logs&limit=1');
          const [rejected] = body.result as { offset: number }[];
          expect(rejected?.offset).to.equal(offset);
          expect(JSON.stringify(await entries(service, 'p'))).to.include(text);
        }),
      ),
  );

  faultCase('T19b', 'a character across the border of each block that is read', () =>
    withSetup((setup) =>
      run(setup.data, async (service) => {
        // Blocks are of 1 MiB: lines of one character after another, shifted by one byte each time, reach over it.
        for (let shift = 0; shift < 4; shift++) {
          const start = setup.lines(1, 'edge_logs', `${'x'.repeat(shift)}${'😀'.repeat(2000)}`);
          const count = Math.ceil((3 * MB) / Buffer.byteLength(start));
          const rest = setup.lines(count, 'edge_logs', '😀'.repeat(2000));
          writeFileSync(setup.at(`blocks-${shift}.log`), start + rest);
        }
        await settles(service, setup);
        expect(await ledger(service)).to.include({ repaired: 0, rejected: 0 });
      }),
    ),
  );

  faultCase('T20', 'a byte-order mark at the start, in the middle, and of UTF-16', () =>
    withSetup(async (setup) => {
      const mark = '\ufeff';
      writeFileSync(setup.at('start.log'), mark + setup.lines(3));
      const marked = mark + setup.lines(1).trim();
      setup.expectedLines.destroyed(marked.slice(1));
      setup.expectedLines.bad(Buffer.from(marked));
      writeFileSync(setup.at('middle.log'), `${setup.lines(1)}${marked}\n${setup.lines(2)}`);
      const wide = Buffer.from(`${mark}{"id":"wide"}\n`, 'utf16le');
      writeFileSync(setup.at('little.log'), wide);
      writeFileSync(setup.at('big.log'), Buffer.from(wide).swap16());
      for (let life = 0; life < 2; life++) {
        await run(setup.data, async (service) => {
          await settles(service, setup);
          const { refused } = await ledger(service);
          expect(refused.map(({ path }) => path)).to.have.members([
            'edge_logs/little.log',
            'edge_logs/big.log',
          ]);
          for (const { reason } of refused) expect(reason).to.include('UTF-16');
        });
        appendFileSync(setup.at('start.log'), setup.lines(1));
      }
      await run(setup.data, (service) => settles(service, setup));
    }),
  );

  faultCase('T21', 'a hole of 1 MiB of NULs, left by a truncation under a writer, then lines', () =>
    withSetup(async (setup) => {
      const path = setup.at('app.log');
      const writer = openSync(path, 'w');
      writeSync(writer, setup.lines(300, 'edge_logs', 'x'.repeat(4000)));
      await run(setup.data, async (service) => {
        await settles(service, setup);
        truncateSync(path, 0);
        writeSync(writer, setup.lines(3));
        await settles(service, setup);
      });
      truncateSync(path, 0);
      writeSync(writer, setup.lines(3));
      closeSync(writer);
      await run(setup.data, (service) => settles(service, setup));
      expect(readFileSync(path).indexOf('{')).to.be.above(MB);
    }),
  );

  faultCase('T22', 'CRLF, a lone CR, blank lines, spaces', () =>
    withSetup(async (setup) => {
      const path = setup.at('app.log');
      const windows = setup.lines(3).replaceAll('\n', '\r\n');
      const indented = `  \t${setup.lines(1).trim()} \t \r\n`;
      const within = setup.lines(1).replace(',', ',\r');
      const joined = [setup.lines(1).trim(), setup.lines(1).trim()];
      // A lone carriage return ends no line: two objects stand in one.
      for (const line of joined) setup.expectedLines.destroyed(line);
      setup.expectedLines.bad(joined.join('\r'));
      const text = `${windows}\n\r\n \t \n${indented}${within}${joined.join('\r')}\n\r\r\n`;
      await run(setup.data, async (service) => {
        appendFileSync(path, text + setup.lines(1));
        await settles(service, setup);
        const { rows, rejected, lines } = await ledger(service);
        expect(lines).to.equal(rows + rejected);
      });
    }),
  );
});

describe('lines that are not objects, or odd ones', () => {
  const PRIMITIVES = ['null', '1', '"x"', '[]', 'true', '-1e9', '[{}]', 'false', '""'];

  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T23${'abc'[i]}`,
      `null, numbers, strings, arrays between good lines are rejected, and the stream goes on, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const path = setup.at('app.log');
          const mixed = () =>
            PRIMITIVES.map((text) => {
              setup.expectedLines.bad(text);
              return `${text}\n${setup.lines(1)}`;
            }).join('');
          await through(
            setup,
            passage,
            async (service) => {
              writeFileSync(path, mixed());
              await settles(service, setup);
            },
            () => {
              appendFileSync(path, mixed());
              // Nothing but them, and one at the very end without its newline, which is not an object and stays.
              writeFileSync(setup.at('only.log'), `${PRIMITIVES.join('\n')}\n`);
              for (const text of PRIMITIVES) setup.expectedLines.bad(text);
              writeFileSync(setup.at('open.log'), `${setup.lines(1)}null`);
            },
            (service) => settles(service, setup),
          );
        }),
    );
  }

  /** What JSON.parse and DuckDB read differently, or not at all: fields of a line, and what it becomes. */
  const DIFFERENTIALS: Record<string, { becomes: 'row' | 'rejected'; fields: string }> = {
    'lone surrogate': { becomes: 'row', fields: '"metadata":{"a":"\\ud800"}' },
    'lone surrogate in a key': { becomes: 'row', fields: '"metadata":{"\\udfff":1}' },
    'lone surrogate in the path': {
      becomes: 'row',
      fields: '"metadata":{"request":{"path":"\\ud800"}}',
    },
    'escaped NUL': {
      becomes: 'row',
      fields: '"event_message":"a\\u0000b","metadata":{"a\\u0000":"\\u0000"}',
    },
    NaN: { becomes: 'row', fields: '"metadata":{"a":NaN}' },
    Infinity: { becomes: 'row', fields: '"metadata":{"a":-Infinity}' },
    'trailing comma': { becomes: 'row', fields: '"metadata":{"a":1,}' },
    'keys twice': {
      becomes: 'row',
      fields: '"metadata":{"a":1,"a":2,"request":{"path":"/1","path":"/2"}}',
    },
    'fields twice': {
      becomes: 'row',
      fields: '"project":"q","project":"p","metadata":{},"metadata":{"a":1}',
    },
    'deep arrays': {
      becomes: 'row',
      fields: `"metadata":{"a":${'['.repeat(998)}${']'.repeat(998)}}`,
    },
    'deep objects': {
      becomes: 'row',
      fields: `"metadata":${'{"a":'.repeat(999)}1${'}'.repeat(999)}`,
    },
    'deeper arrays': {
      becomes: 'rejected',
      fields: `"metadata":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    },
    // Such as ended the process, and the next one, too.
    'deeper by far': {
      becomes: 'rejected',
      fields: `"more":{"a":${'['.repeat(250_000)}${']'.repeat(250_000)}}`,
    },
    'deep, and never closed': {
      becomes: 'rejected',
      fields: `"metadata":${'{"a":'.repeat(20_000)}`,
    },
    prototype: {
      becomes: 'row',
      fields:
        '"__proto__":{"a":1},"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
    },
    'beyond 2^53': {
      becomes: 'row',
      fields: '"metadata":{"a":9007199254740993,"b":123456789012345678901234567890}',
    },
    'beyond doubles': { becomes: 'row', fields: '"metadata":{"a":1e400,"b":-1e-400}' },
    'raw control characters': {
      becomes: 'rejected',
      fields: '"event_message":"a\u0001b\u001bc","metadata":{"a":"\u0007"}',
    },
    'single quotes': {
      becomes: 'rejected',
      fields: '"metadata":{\'a\':1}',
    },
    'a comment': {
      becomes: 'rejected',
      fields: '"metadata":{"a":1/* c */}',
    },
    'numbers in odd forms': {
      becomes: 'rejected',
      fields: '"metadata":{"a":01,"b":+1,"c":.5,"d":0x10}',
    },
    'odd columns': {
      becomes: 'row',
      fields: '"event_message":{"a":[1]},"project":"p","metadata":"text"',
    },
    'odd request': { becomes: 'row', fields: '"metadata":{"request":"text","response":[[]]}' },
    'odd request array': { becomes: 'row', fields: '"metadata":[{"request":[{"path":1}]},null,3]' },
    'a long key': { becomes: 'row', fields: `"metadata":{"${'k'.repeat(100_000)}":1}` },
    'many keys': {
      becomes: 'row',
      fields: `"metadata":{${Array.from({ length: 5000 }, (_, n) => `"k${n}":${n}`).join()}}`,
    },
  };

  for (const [i, passage] of PASSAGES.entries()) {
    faultCase(
      `T24${'abc'[i]}`,
      `lines that parsers read differently: each a row or a rejected line, neighbours stored, both endpoints answer, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const at = new Date().toISOString();
          const neighbour = () =>
            setup
              .lines(1)
              .replace('"metadata":', '"metadata":{"request":{"path":"/rest/v1/n"}},"m":');
          const drop = (name: string) => {
            let text = neighbour();
            for (const [kind, { becomes, fields }] of Object.entries(DIFFERENTIALS)) {
              const id = `${name} ${kind}`;
              const line = `{"id":"${id}","timestamp":"${at}","project":"p",${fields}}`;
              if (becomes === 'row') setup.expectedLines.row(id);
              else setup.expectedLines.bad(line);
              text += `${line}\n${neighbour()}`;
            }
            writeFileSync(setup.at(name), text);
          };
          const check = async (service: Service) => {
            await settles(service, setup);
            await bothAnswer(service);
          };
          await through(
            setup,
            passage,
            async (service) => {
              drop('first.log');
              await check(service);
            },
            () => {
              drop('second.log');
              drop('third.log');
            },
            check,
          );
        }),
    );
  }
});

/** Both saved queries answer, with something; the answer itself is nested too deeply to be written out here. */
async function bothAnswer(service: Service): Promise<void> {
  for (const path of ['logs.all?project=p', 'usage.api-counts?project=p&interval=hourly']) {
    const { status, body } = await service.get(`/api/endpoints/query/${path}`);
    expect(status, path).to.equal(200);
    expect((body.result as unknown[]).length, path).to.be.above(0);
  }
}

/** The entries that `logs.all` answers with. */
async function entries(service: Service, project: string): Promise<unknown> {
  const { status, body } = await service.get(`/api/endpoints/query/logs.all?project=${project}`);
  expect(status).to.equal(200);
  return body.result;
}

async function holdsOf(service: Service, setup: Setup, source: 'auth_logs'): Promise<void> {
  await holds(service, setup, [source]);
}

/** Appends so many bytes without a newline, in blocks; gives the first of them, which are kept. */
function appendLong(path: string, bytes: number): { head: string } {
  const file = openSync(path, 'a');
  const block = Buffer.alloc(MB, 'y');
  for (let left = bytes; left > 0; left -= block.length)
    writeSync(file, block, 0, Math.min(left, block.length));
  closeSync(file);
  return { head: 'y'.repeat(HEAD) };
}
