import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { LINE_FORMATS } from '../../../server/lines/index.ts';
import { eventually, type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';
import { randomOf } from '../../support/random.ts';

const SOURCE = 'app_logs';
const AUTO = {
  lines: {
    lineFormat: { [SOURCE]: { formats: LINE_FORMATS.auto, files: [] } },
    timeZone: {},
    fields: {},
  },
};
/** No entry is taken because its file rests. */
const PATIENT = { ...AUTO, waits: { entry: 1e9, quiet: 1e9 } };

const HEAD = '2026-11-20 10:00:00,123 ERROR shop.cart: it broke';
const TRACE = `Traceback (most recent call last):
  File "/srv/cart.py", line 10, in pay
    charge()

ValueError: card declined`;
const NEXT = '2026-11-20 10:00:01,000 INFO shop.cart: goes on';

async function messages(ingesting: Ingesting): Promise<string[]> {
  const rows = await ingesting.rows(SOURCE, 'rowid');
  return rows.map(({ event_message }) => String(event_message));
}

async function holds(ingesting: Ingesting, expected: readonly string[]): Promise<void> {
  await eventually(async () => expect(await messages(ingesting)).to.deep.equal(expected));
}

describe('an entry of several lines', () => {
  it('is one row, however its lines come', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const text = `${HEAD}\n${TRACE}\n${NEXT}\n`;
          ingesting.write(`${SOURCE}/whole.log`, text);
          await holds(ingesting, [`it broke\n${TRACE}`]);
          for (const piece of text.replace('it', 'it also').match(/[\s\S]{1,40}/g) ?? [])
            ingesting.write(`${SOURCE}/pieces.log`, piece);
          await holds(ingesting, [`it broke\n${TRACE}`, `it also broke\n${TRACE}`]);
          // The last entries are behind those, and may go on.
          await eventually(() => {
            const { sources } = ingesting.ingest.status();
            const { pendingBytes } = sources.find(({ source }) => source === SOURCE) ?? {};
            expect(pendingBytes).to.equal(2 * (NEXT.length + 1));
          });
        },
        PATIENT,
      ),
    ));

  it('is taken once its file rests, and what comes later is another one', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/a.log`, `${HEAD}\n${TRACE}\n`);
          await holds(ingesting, [`it broke\n${TRACE}`]);
          ingesting.write(`${SOURCE}/a.log`, '  File "/srv/late.py"\n');
          await holds(ingesting, [`it broke\n${TRACE}`, 'File "/srv/late.py"']);
        },
        { ...AUTO, waits: { entry: 20 } },
      ),
    ));

  it('is whole over a restart in the middle of it', () =>
    withFolder(async (data) => {
      const [first = '', ...others] = TRACE.split('\n');
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/a.log`, `${NEXT}\n${HEAD}\n${first}\n`);
          await holds(ingesting, ['goes on']);
        },
        PATIENT,
      );
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/a.log`, `${others.join('\n')}\n${NEXT}\n`);
          await holds(ingesting, ['goes on', `it broke\n${TRACE}`]);
        },
        PATIENT,
      );
    }));

  it('is taken at the end of what is packed, and of a file that is gone', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const folder = join(data, 'logs', SOURCE);
          writeFileSync(join(folder, 'a.log.gz'), gzipSync(`${HEAD}\n${TRACE}`));
          await holds(ingesting, [`it broke\n${TRACE}`]);
          ingesting.write(`${SOURCE}/b.log`, `${NEXT}\n${HEAD} again\n${TRACE}`);
          await holds(ingesting, [`it broke\n${TRACE}`, 'goes on']);
          renameSync(join(folder, 'b.log'), join(data, 'b.log'));
          await holds(ingesting, [`it broke\n${TRACE}`, 'goes on', `it broke again\n${TRACE}`]);
        },
        { ...AUTO, waits: { entry: 1e9, quiet: 1e9, moved: 100 } },
      ),
    ));

  it('is cut where it becomes longer than a line may be, and loses nothing', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const frames = Array.from(
            { length: 400 },
            (_, n) => `\tat com.example.Shop.f${n}(S.java)`,
          );
          ingesting.write(`${SOURCE}/a.log`, `${HEAD}\n${frames.join('\n')}\n${NEXT}\n${NEXT}\n`);
          await eventually(async () => {
            const stored = await messages(ingesting);
            expect(stored.at(-1)).to.equal('goes on');
            const lines = stored.slice(0, -1).flatMap((message) => message.split('\n'));
            expect(lines.map((line) => line.trim())).to.deep.equal([
              'it broke',
              ...frames.map((line) => line.trim()),
            ]);
            for (const message of stored) expect(message.length).to.be.at.most(4096);
          });
        },
        { ...PATIENT, maxLine: 4096 },
      ),
    ));

  it('is joined from the envelopes of container runtimes', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const lines = [HEAD, ...TRACE.split('\n').filter((line) => line !== ''), NEXT];
          const time = '2026-11-20T10:00:05.000000001Z';
          ingesting.write(
            `${SOURCE}/docker.log`,
            lines
              .map((log) => `${JSON.stringify({ log: `${log}\n`, stream: 'stderr', time })}\n`)
              .join(''),
          );
          await holds(ingesting, [`it broke\n${TRACE.replace('\n\n', '\n')}`]);
          ingesting.write(
            `${SOURCE}/cri.log`,
            [`F ${NEXT} 1`, 'P a part, ', 'F and its end', ...lines.map((line) => `F ${line}`)]
              .map((line) => `${time} stdout ${line}\n`)
              .join(''),
          );
          await holds(ingesting, [
            `it broke\n${TRACE.replace('\n\n', '\n')}`,
            'goes on 1',
            'a part, and its end',
            `it broke\n${TRACE.replace('\n\n', '\n')}`,
          ]);
          const [row] = await ingesting.rows(SOURCE, 'rowid');
          expect(row).to.include({ severity: 'error', timestamp: '2026-11-20T10:00:05Z' });
        },
        PATIENT,
      ),
    ));

  it('of an object waits for nothing, and may have several lines', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          ingesting.write(
            `${SOURCE}/a.log`,
            '{"message":"one"}\n{\n  "message": "two",\n  "n": 1\n}\n{"message":"three"}\n',
          );
          await holds(ingesting, ['one', 'two', 'three']);
        },
        PATIENT,
      ),
    ));

  it('may have an object over several lines behind its message', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const objects = ['{"b":[2,{"c":1}]}', '{"user":{"id":1.10}}', '{"a":1}'].map((json) =>
            JSON.stringify(JSON.parse(json), null, 2),
          );
          const entries = objects.flatMap((object) => [
            `2026-11-20 10:00:00 INFO sent body ${object}`,
            `2026-11-20 10:00:00 INFO sent body: ${object}`,
            `2026-11-20T10:00:00Z\tINFO\tgo.go:1\tsent body\t${object}`,
          ]);
          ingesting.write(`${SOURCE}/app.log`, entries.map((entry) => `${entry}\n`).join(''));
          ingesting.write('auth_logs/app.log', '{"event_message":"others go on"}\n');
          await ingesting.lines(entries.length, SOURCE);
          await ingesting.lines(1, 'auth_logs');
          const rows = await ingesting.rows(SOURCE, 'rowid');
          for (const [n, row] of rows.entries()) {
            expect(String(row.event_message), entries[n]).to.include('sent body');
            expect(row.severity).to.equal('info');
            const all = JSON.stringify([row.event_message, row.metadata]).replaceAll(
              /[\\"\s]|\\n/g,
              '',
            );
            expect(all, entries[n]).to.match(/b:\[n?2,|user:\{n?id:1.1|a:1/);
          }
        },
        AUTO,
      ),
    ));

  it('is stored once, whatever stands before and behind it and wherever the service stops', () =>
    withFolder(async (data) => {
      const random = randomOf(20261120);
      const kinds = [
        (n: number) => [`2026-11-20 10:00:00 INFO shop: line ${n}`],
        (n: number) => [`2026-11-20 10:00:00 ERROR shop: trace ${n}`, ...TRACE.split('\n')],
        (n: number) => [`{"message":"object ${n}"}`],
        (n: number) => [`plain ${n}`],
        (n: number) => [
          `2026-11-20 10:00:00 WARN shop: java ${n}`,
          `java.lang.RuntimeException: outer ${n}`,
          '\tat E.main(E.java:1)',
        ],
      ];
      const entries = Array.from({ length: 300 }, (_, n) => random.pick(kinds)(n));
      const text = `${entries.map((lines) => lines.join('\n')).join('\n')}\n`;
      const names = ['a.log', 'b.log'];
      const expected = entries.map((lines) =>
        lines
          .join('\n')
          .replace(/^2026-11-20 10:00:00 [A-Z]+ shop: /, '')
          .replace(/^\{"message":"(.*)"\}$/, '$1'),
      );
      for (let from = 0; from < text.length; ) {
        const to = Math.min(text.length, from + 1 + random.below(4000));
        await withIngest(
          data,
          async (ingesting) => {
            for (const name of names)
              ingesting.write(
                `${SOURCE}/${name}`,
                text.slice(from, to).replaceAll(' shop: ', ` ${name[0]}: `),
              );
            await eventually(() => {
              const status = ingesting.ingest
                .status()
                .sources.find((each) => each.source === SOURCE);
              expect(status?.lagMs).to.equal(0);
            });
          },
          PATIENT,
        );
        from = to;
      }
      await withIngest(
        data,
        async (ingesting) => {
          await eventually(async () =>
            expect((await messages(ingesting)).sort()).to.deep.equal(
              [...expected, ...expected].sort(),
            ),
          );
        },
        { ...AUTO, waits: { entry: 20 } },
      );
    }));
});
