import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { allSources } from '../../ingest/index.ts';
import {
  eventually,
  type Service,
  withFolder,
  withService,
  withStore,
} from '../support/helpers.ts';
import { randomOf } from '../support/random.ts';
import { SAMPLE_SEED } from '../support/sample.ts';
import { faultCase, LONG } from './case.ts';
import { holds, ledger, overKill, settles, withSetup } from './setup.ts';

// Without a kill, test/integration/ingest/ shows the same in the test's own process, which costs less.

/** How the new content of a file compares with its old one: how long it is, and whether it begins with the same line. */
const SHAPES = [
  ['shorter', 2, false],
  ['equal', 3, false],
  ['longer', 7, false],
  ['shorter-same-start', 2, true],
  ['equal-same-start', 3, true],
  ['longer-same-start', 7, true],
] as const;
const LINES_BEFORE = 4;
/** The first line alone is longer than the bytes that are hashed as the head of a file. */
const LONG_TEXT = 'x'.repeat(1500);
/** So many chances to truncate one while it is being read. */
const FILES_CUT = 3;
/** How each entry of several lines begins. */
const HEAD = '2026-11-20 10:00:00,000 ERROR shop:';

/** Kills while entries of several lines are joined. */
const KILLS = LONG ? 40 : 4;
/** The end of a file may go on for longer than a start takes. */
const PATIENT = { TAILPOND_TEST_WAITS: 'entry=3600s,quiet=3600s' };

describe(`entries of several lines under kill -9, TAILPOND_TEST_SEED=${SAMPLE_SEED}`, () => {
  faultCase('T44', 'each entry is one row, wherever its file ends when the service is killed', () =>
    withFolder(async (data) => {
      const random = randomOf(SAMPLE_SEED);
      const file = join(data, 'logs/app_logs/app.log');
      mkdirSync(dirname(file), { recursive: true });
      const entries: string[] = [];
      /** Returns the text of some entries, and keeps them. */
      const more = (count: number) => {
        const from = entries.length;
        for (let n = from; n < from + count; n++) {
          const trace = Array.from({ length: random.below(6) }, (_, i) => `\tat Shop.pay(${i})`);
          entries.push([`entry ${n}`, ...trace].join('\n'));
        }
        return entries
          .slice(from)
          .map((entry) => `${HEAD} ${entry}\n`)
          .join('');
      };
      const lines = async (service: Service) => (await ledger(service, 'app_logs')).lines;
      let rest = '';
      for (let kill = 0; kill < KILLS; kill++)
        await withService(
          data,
          async (service) => {
            const text = rest + more(400);
            // Anywhere, also within a line.
            const cut = text.length - 1 - random.below(200);
            rest = text.slice(cut);
            const before = await lines(service);
            appendFileSync(file, text.slice(0, cut));
            if (kill % 2 === 0)
              await eventually(async () => expect(await lines(service)).to.be.above(before));
            await service.end('SIGKILL');
          },
          { env: PATIENT },
        );
      await withService(
        data,
        async (service) => {
          appendFileSync(file, `${rest}${HEAD} the end\n`);
          await eventually(async () => expect(await lines(service)).to.equal(entries.length));
        },
        { env: PATIENT },
      );
      await withStore(data, async (store) => {
        const { rows } = await store.query(
          'select event_message from app_logs order by rowid',
          {},
          { maxRows: 2 * entries.length },
        );
        expect(rows.flat()).to.deep.equal(entries);
      });
    }),
  );
});

describe('files that change between a kill -9 and the next start', () => {
  faultCase(
    'T01',
    'a line goes on that was torn, or was taken without its newline: nothing is lost or doubled',
    () =>
      withSetup(async (setup) => {
        const late = {
          'fields.log': ',"x":1}',
          'object.log': setup.lines(1).trim(),
          'text.log': 'and more',
        };
        setup.expectedLines.destroyed(late['object.log']);
        const torn = setup.lines(1, 'auth_logs');
        // A last line is taken when its file has rested for five seconds, so all of them stand there at the start.
        writeFileSync(setup.at('half.log', 'auth_logs'), torn.slice(0, 40));
        for (const name of ['ended.log', 'parts.log', ...Object.keys(late)])
          writeFileSync(setup.at(name), setup.lines(2).trimEnd());
        await overKill(
          setup,
          async (service) => {
            await holds(service, setup);
            appendFileSync(setup.at('parts.log'), ',"x":');
            await eventually(async () =>
              expect((await ledger(service)).pending_bytes).to.equal(',"x":'.length),
            );
          },
          () => {
            appendFileSync(
              setup.at('half.log', 'auth_logs'),
              torn.slice(40) + setup.lines(1, 'auth_logs'),
            );
            appendFileSync(setup.at('ended.log'), `\n${setup.lines(1)}`);
            appendFileSync(setup.at('parts.log'), `1}\n${setup.lines(1)}`);
            setup.expectedLines.bad(',"x":1}');
            for (const [name, rest] of Object.entries(late)) {
              setup.expectedLines.bad(rest);
              appendFileSync(setup.at(name), ` ${rest}\n${setup.lines(1)}`);
            }
          },
          // Each file has a line behind the one in question.
          (service) => holds(service, setup, ['edge_logs', 'auth_logs']),
        );
      }),
  );

  faultCase(
    'T08',
    'files are truncated, or deleted and made again, shorter or longer, with or without the same first line: each is read from its start',
    () =>
      withSetup(async (setup) => {
        const files = (['truncated', 'deleted'] as const).flatMap((how) =>
          SHAPES.map(([shape, count, same]) => {
            const path = setup.at(`${how}-${shape}.log`);
            // A header that every generation begins with: it carries no id, and is counted by its bytes.
            const header = `header ${shape} ${how}${textOf(how)}`;
            setup.expectedLines.bad(header);
            const lines = setup.lines(LINES_BEFORE, 'edge_logs', textOf(how));
            writeFileSync(path, `${header}\n${lines}`);
            return { how, shape, count, start: same ? header : '', path };
          }),
        );
        const others = Array.from('abcdefgh', (letter, n) => [n, letter] as const);
        for (const [n, letter] of others)
          writeFileSync(setup.at(`before-${letter}.log`), setup.lines(1 + (n % 4)));
        await overKill(
          setup,
          (service) => holds(service, setup),
          () => {
            for (const { how, shape, count, start, path } of files) {
              const { size } = statSync(path);
              if (start) setup.expectedLines.bad(start);
              const head = start && `${start}\n`;
              const lines = setup.lines(count, 'edge_logs', textOf(how));
              const isEqual = shape.startsWith('equal');
              if (how === 'truncated') truncateSync(path, 0);
              else unlinkSync(path);
              appendFileSync(path, head + (isEqual ? padded(lines, size - head.length) : lines));
              if (isEqual) expect(statSync(path).size).to.equal(size);
            }
            for (const [, letter] of others) unlinkSync(setup.at(`before-${letter}.log`));
            for (const [n, letter] of others)
              writeFileSync(setup.at(`after-${letter}.log`), setup.lines(1 + (n % 5)));
          },
          (service) => settles(service, setup),
        );
      }),
  );

  faultCase(
    'T10',
    'files are truncated in the middle of a batch that is not stored yet: no line is mixed',
    () =>
      withSetup(async (setup) => {
        await overKill(
          setup,
          async (service) => {
            for (let file = 0; file < FILES_CUT; file++) {
              const lost = Array.from({ length: 8000 }, () => setup.expectedLines.line());
              for (const line of lost) setup.expectedLines.doubtful(line);
              const path = setup.at(`app-${'abc'[file]}.log`);
              const { lines } = await ledger(service);
              writeFileSync(path, lost.join(''));
              await reading(service, lines);
              truncateSync(path, 0);
              appendFileSync(path, setup.lines(100));
            }
          },
          () => {},
          async (service) => {
            await settles(service, setup);
            await eventually(async () =>
              expect(await ledger(service)).to.include({ rejected: 0, pending_bytes: 0 }),
            );
          },
        );
      }),
  );

  faultCase(
    'T13',
    'files are copied, linked, packed, or begin with the same 4 KiB: each is what its bytes say',
    () =>
      withSetup(async (setup) => {
        const SOURCES = ['edge_logs', 'realtime_logs'] as const;
        const [alike, other] = [setup.at('alike-a.log'), setup.at('alike-b.log')];
        const header = `header ${'x'.repeat(4200)}`;
        for (const path of [alike, other]) {
          setup.expectedLines.bad(header);
          writeFileSync(path, `${header}\n${setup.lines(1)}`);
        }
        const [original, copy] = [setup.at('original.log'), setup.at('copy.log')];
        const lines = Array.from({ length: 20 }, () => setup.expectedLines.line());
        writeFileSync(original, lines.join(''));
        const packed = setup.at('packed.log');
        writeFileSync(packed, setup.lines(500));
        // A folder's place in a listing is not a matter of its name: one of eight comes before any ninth.
        const linked = setup.at('linked.log', 'realtime_logs');
        writeFileSync(linked, setup.lines(5, 'realtime_logs'));
        await overKill(
          setup,
          (service) => holds(service, setup, SOURCES),
          () => {
            appendFileSync(alike, setup.lines(3));
            appendFileSync(other, setup.lines(7));
            copyFileSync(original, copy);
            copyFileSync(original, `${original}.1`);
            // In part it was read, and the rest is in the `.gz` alone.
            appendFileSync(packed, setup.lines(300));
            writeFileSync(`${packed}.1.gz`, gzipSync(readFileSync(packed)));
            unlinkSync(packed);
            writeFileSync(packed, setup.lines(2));
            for (const source of allSources().filter((name) => name !== 'realtime_logs')) {
              linkSync(linked, setup.at('hard.log', source));
              symlinkSync(linked, setup.at('soft.log', source));
            }
            appendFileSync(linked, setup.lines(5, 'realtime_logs'));
          },
          async (service) => {
            await settles(service, setup, SOURCES);
            expect((await ledger(service, 'realtime_logs')).refused).to.deep.equal([]);
            // Each goes on by itself, and the copy is another log then.
            for (const line of lines) setup.expectedLines.copied(line);
            for (const path of [alike, other, original, copy, packed])
              appendFileSync(path, setup.lines(2));
            appendFileSync(setup.at('hard.log'), setup.lines(5, 'realtime_logs'));
            await settles(service, setup, SOURCES);
          },
        );
      }),
  );

  faultCase('T28a', 'logs was renamed away and made anew, and comes back: nothing is doubled', () =>
    withSetup(async (setup) => {
      const [logs, away] = [`${setup.data}/logs`, `${setup.data}/away`];
      writeFileSync(setup.at('app.log'), setup.lines(5));
      await overKill(
        setup,
        async (service) => {
          await holds(service, setup);
          renameSync(logs, away);
          writeFileSync(setup.at('between.log'), setup.lines(5));
          await holds(service, setup);
        },
        () => {
          rmSync(logs, { recursive: true });
          renameSync(away, logs);
          appendFileSync(setup.at('app.log'), setup.lines(5));
        },
        (service) => settles(service, setup),
      );
    }),
  );
});

function textOf(how: 'truncated' | 'deleted'): string {
  return how === 'truncated' ? LONG_TEXT : '';
}

/** The same lines, the first of them lengthened until they are just so many bytes together. */
function padded(lines: string, size: number): string {
  const message = '"event_message":"';
  return lines.replace(message, message + 'y'.repeat(size - lines.length));
}

/** Waits until the service is about to read, or has read, more than it had. */
async function reading(service: Service, lines: number): Promise<void> {
  await eventually(async () => {
    const now = await ledger(service);
    expect(now.pending_bytes > 0 || now.lines > lines).to.equal(true);
  });
}
