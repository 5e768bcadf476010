import { expect } from 'chai';
import {
  eventually,
  type Ingesting,
  type StoreSettings,
  withFolder,
  withIngest,
} from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';

const SOURCE = 'postgres_logs';
const NULS = Buffer.alloc(1024 * 1024);

interface Rejected {
  file: string;
  offset: number;
  length: number;
  reason: string;
  line: Buffer;
}

/** What the store has of one file once all its bytes were taken. */
interface Taken {
  lines: number;
  rows: number;
  repaired: number;
  undated: number;
  ids: string[];
  messages: Record<string, string>;
  rejected: Rejected[];
}

describe('a line of a file', () => {
  const take = taking();
  const refuses = (lines: readonly string[]) => refused(take, lines);

  it('does not count when it holds nothing but blanks', async () => {
    const { lines } = await take('\n\n \n\t\n\v\n\f\n\r\n\r\r\n \t\v\f\r \n');
    expect(lines).to.equal(0);
    const between = await take(`\n${row('a')}\n  \n${row('b')}\r\n\n`);
    expect(between).to.include({ lines: 2, rows: 2 });
  });

  it('loses the byte-order mark at the start of its file', async () => {
    const { ids, lines, repaired } = await take(`\ufeff${row('a')}${row('b')}`);
    expect([ids, lines, repaired]).to.deep.equal([['a', 'b'], 2, 0]);
  });

  it('is repaired when a byte-order mark stands before it, as in files that were put together', async () => {
    const { ids, repaired, rejected } = await take(`${row('a')}\ufeff${row('b')}${row('c')}`);
    expect([ids, repaired, rejected]).to.deep.equal([['a', 'b', 'c'], 1, []]);
  });

  it('does not count when it holds nothing but the byte-order mark', async () => {
    expect(await take(`\ufeff\n${row('a')}`)).to.include({ lines: 1, rows: 1 });
  });

  for (const [where, bytes] of [
    ['at the start of the file', ['\0\0\0', row('a'), row('b')]],
    ['in the middle of the file', [row('a'), '\0\0\0', row('b')]],
    ['at every line', ['\0', row('a'), '\0\0', row('b'), '\0\0\n']],
    ['as a MiB at the start', [NULS, row('a'), row('b')]],
    ['as a MiB in the middle', [row('a'), NULS, row('b')]],
    ['as 5 MiB in the middle', [row('a'), NULS, NULS, NULS, NULS, NULS, row('b')]],
  ] as const) {
    it(`loses leading NULs ${where}`, async () => {
      const { ids, rejected, repaired } = await take(bytes);
      expect([ids, rejected, repaired]).to.deep.equal([['a', 'b'], [], 0]);
    });
  }

  it('does not count when it holds nothing but NULs and blanks', async () => {
    const { ids, lines, rejected } = await take(
      `\0\n{}\n\0\n${row('a')}\0 \0\r\n{]}\n \0\n${row('b')}`,
    );
    expect(ids).to.include.members(['a', 'b']);
    expect([lines, rejected.length]).to.deep.equal([4, 1]);
  });

  it('keeps its offset behind NULs', async () => {
    const { rejected } = await take([row('a'), NULS, 'null\n', '\0\0\0', '7\n']);
    const second = row('a').length + NULS.length;
    expect(rejected.map(({ offset, line }) => [offset, String(line)])).to.deep.equal([
      [second, 'null'],
      [second + 8, '7'],
    ]);
  });

  it('loses one carriage return at its end', async () => {
    const { ids, messages } = await take(row('a', 'x\\r').replace('\n', '\r\n') + row('b'));
    expect(ids).to.deep.equal(['a', 'b']);
    expect(messages.a).to.equal('x\r');
  });

  it('does not end at a carriage return alone', async () => {
    const two = `${row('a').trim()}\r${row('b')}`;
    const { ids, rejected } = await take(two + row('c').replace(',', ',\r'));
    expect(ids).to.deep.equal(['c']);
    expect(rejected.map(({ line }) => String(line))).to.deep.equal([two.trim()]);
  });

  it('may have blanks around it', async () => {
    expect(await take(` \t${row('a').trim()} \t\v\f\r\n`)).to.include({ lines: 1, rows: 1 });
  });

  it('is rejected, and leaves its neighbours alone, when it is not an object', () =>
    refuses([
      'null',
      '7',
      '[1]',
      '[]',
      '"x"',
      'true',
      'false',
      'NaN',
      'text',
      `[${row('no').trim()}]`,
      '-',
      '\u0001',
      '#',
    ]));

  it('is rejected, and leaves its neighbours alone, when it is half an object', () =>
    refuses([
      '{"id":"no"',
      '{',
      '}',
      '{"id":',
      '{"id"',
      '{"metadata":[',
      '{"metadata":{"a":1}',
      '{"id":"no",',
      '"id":"no"}',
      '{"a":"',
      '{"a":1}{',
      '}{',
    ]));

  it('is rejected, and leaves its neighbours alone, when it holds two objects', () =>
    refuses([
      '{"id":"no"}{"id":"no"}',
      '{"id":"no"} {"id":"no"}',
      '{"id":"no"},{"id":"no"}',
      '{}{}',
      '{} {}',
      '{"a":{}}{"b":{}}',
      `${row('no').trim()}${row('no').trim()}`,
      '{"id":"no"}null{"id":"no"}',
      '{}\0{}',
      '{}}',
      '{{}',
    ]));

  it('is rejected, and leaves its neighbours alone, when it is broken between its braces', () =>
    refuses([
      '{a}',
      "{'a':1}",
      '{"a" 1}',
      '{"a":}',
      '{"a":,"b":{}}',
      '{"a":[}',
      '{"a":[1,}',
      '{"a":tru}',
      '{"a":"b}',
      '{"a":"\\x"}',
      '{"a":"\\u12"}',
      '{"a":{"b":1}',
      '{"a":1]}',
      '{:1}',
      '{"a":01}',
      '{"metadata":{"a":}}',
      '{"timestamp":"2026-11-20T10:00:00Z","message":"x","metadata":{"a":[}}',
      '{"timestamp":"2026-11-20T10:00:00Z","message":"x","metadata":{"a":{}',
      '{"timestamp":"2026-11-20T10:00:00Z","message":"x","metadata":{}}}',
      '{\0"a":1}',
    ]));

  it('becomes a row with U+FFFD where its UTF-8 is invalid, and is counted', async () => {
    const bad = (id: string, bytes: number[]) => {
      const [head, tail] = row(id, '<|>').split('|');
      return Buffer.concat([Buffer.from(`${head}`), Buffer.from(bytes), Buffer.from(`${tail}`)]);
    };
    const { messages, repaired, rejected, rows } = await take([
      row('a'),
      bad('ff', [0xff]),
      bad('half', [0xe2, 0x82]),
      row('good', '\u20ac'),
      bad('overlong', [0xc0, 0x80]),
      bad('longer', [0xe0, 0x80, 0xaf]),
      bad('surrogate', [0xed, 0xa0, 0x80]),
      bad('beyond', [0xf4, 0x90, 0x80, 0x80]),
      row('z'),
    ]);
    expect([rows, rejected, repaired]).to.deep.equal([9, [], 6]);
    expect(messages).to.include({
      a: 'a',
      ff: '<\ufffd>',
      half: '<\ufffd>',
      good: '\u20ac',
      z: 'z',
    });
    for (const id of ['overlong', 'longer', 'surrogate', 'beyond'])
      expect(messages[id], id).to.match(/^<\ufffd+>$/);
  });

  it('keeps the offsets of the lines behind a repaired one', async () => {
    const repaired = Buffer.from(row('a', '\xff\xff\xff'), 'latin1');
    const second = row('b', '\\ud800');
    const { rejected, ids } = await take([repaired, '7\n', second, '{]}\n', '8\n']);
    expect(ids).to.deep.equal(['a', 'b']);
    expect(rejected.map(({ offset, line }) => [offset, String(line)])).to.deep.equal([
      [repaired.length, '7'],
      [repaired.length + 2 + second.length, '{]}'],
      [repaired.length + 2 + second.length + 4, '8'],
    ]);
  });

  it('becomes a row with U+FFFD for every lone surrogate', async () => {
    const cases: [string, string, string][] = [
      ['high', '\\ud800', '\ufffd'],
      ['low', '\\udc00', '\ufffd'],
      ['upper', '\\uDBFF!', '\ufffd!'],
      ['two-high', '\\ud800\\ud800', '\ufffd\ufffd'],
      ['reversed', '\\ude00\\ud83d', '\ufffd\ufffd'],
      ['high-pair', '\\ud83d\\ud83d\\ude00', '\ufffd\u{1f600}'],
      ['behind-backslash', '\\\\\\ud800', '\\\ufffd'],
      ['before-escape', '\\ud800\\n', '\ufffd\n'],
      ['before-other', '\\ud800\\u0041', '\ufffdA'],
    ];
    const { messages, repaired, rejected } = await take(cases.map(([id, text]) => row(id, text)));
    expect(rejected).to.deep.equal([]);
    expect(messages).to.deep.equal(Object.fromEntries(cases.map(([id, , text]) => [id, text])));
    expect(repaired).to.equal(cases.length);
  });

  it('is left alone where its surrogates are pairs or only look like some', async () => {
    const cases: [string, string, string][] = [
      ['pair', '\\ud83d\\ude00', '\u{1f600}'],
      ['upper', '\\uD83D\\uDE00', '\u{1f600}'],
      ['two', '\\ud83d\\ude00\\ud83d\\ude01', '\u{1f600}\u{1f601}'],
      ['backslash', '\\\\ud800', '\\ud800'],
      ['backslashes', '\\\\\\\\ud800', '\\\\ud800'],
      ['behind', '\\\\\\ud83d\\ude00', '\\\u{1f600}'],
      ['last', '\\ud7ff', '\ud7ff'],
      ['first', '\\ue000', '\ue000'],
      ['mark', '\\ufeffa', '\ufeffa'],
      ['marks', '\ufeff\ufeffa', '\ufeff\ufeffa'],
    ];
    const { messages, repaired, rejected } = await take(cases.map(([id, text]) => row(id, text)));
    expect(rejected).to.deep.equal([]);
    expect(messages).to.deep.equal(Object.fromEntries(cases.map(([id, , text]) => [id, text])));
    expect(repaired).to.equal(0);
  });

  it('has its lone surrogates repaired in keys and in metadata too', async () => {
    const { rows, rejected, repaired } = await take(
      '{"id":"a","message":"m","metadata":{"\\ud800":"\\udfff"}}\n{"\\ud800":1}\n',
    );
    expect([rows, rejected, repaired]).to.deep.equal([2, [], 2]);
  });

  it('becomes a row when it has what DuckDB accepts beyond JSON', async () => {
    const texts = [
      '{"id":"1","message":"m","metadata":{"a":NaN}}',
      '{"id":"2","message":"m","metadata":{"a":Infinity}}',
      '{"id":"3","message":"m","metadata":{"a":-Infinity}}',
      '{"id":"4","message":"m","metadata":{"a":[1,2,],}}',
      '{"id":"5","message":"m",}',
      '{"id":"6","a":NaN}',
      '{"id":"7","a":{"b":Infinity,},}',
    ];
    const dated = texts.map((text) =>
      text.replace('{"id":"', '{"timestamp":"2026-11-20T10:00:00Z","id":"d'),
    );
    const { ids, rejected } = await take(`${[...texts, ...dated].join('\n')}\n`);
    expect(rejected.map(({ line }) => String(line))).to.deep.equal([]);
    expect(ids).to.have.members([...'1234567', ...[...'1234567'].map((id) => `d${id}`)]);
  });

  it('is separated from its neighbours across the borders of the reads', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) =>
      i % 1000 === 7 ? `[${i}]\n` : row(`${i}`, `\u20ac\u{1f600}${'\u00e9'.repeat(i % 50)}`),
    );
    const { rows, rejected, messages, repaired } = await take(lines);
    expect([rows, rejected.length, repaired]).to.deep.equal([29_970, 30, 0]);
    let offset = 0;
    const expected = lines.flatMap((text, i) => {
      const here = offset;
      offset += Buffer.byteLength(text);
      return i % 1000 === 7 ? [[here, `[${i}]`]] : [];
    });
    expect(rejected.map((line) => [line.offset, String(line.line)])).to.deep.equal(expected);
    expect(messages['29999']).to.equal(`\u20ac\u{1f600}${'\u00e9'.repeat(29_999 % 50)}`);
    expect(Object.values(messages).filter((text) => text.includes('\ufffd'))).to.deep.equal([]);
  });
});

describe('a line of the first file of a store', () => {
  it('is a row with a new id, no message and the time of ingestion when it is an empty object', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const before = Date.now();
        ingesting.write(`${SOURCE}/a.log`, `{}\n${row('a')}{ }\n{}\n`);
        const ledger = await ingesting.lines(4, SOURCE);
        expect(ledger).to.include({ rows: 4, rejected: 0, undated: 3 });
        const made = (await ingesting.rows(SOURCE)).filter(({ id }) => id !== 'a');
        expect(new Set(made.map(({ id }) => id))).to.have.property('size', 3);
        for (const entry of made) {
          expect(entry).to.include({ event_message: '', project: null, metadata: null });
          expect(entry.id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
          expect(entry.timestamp).to.equal(entry.ingested_at);
          expect(Date.parse(String(entry.timestamp))).to.be.within(before, Date.now());
        }
      }),
    ));

  it('is rejected with its source, its file, its offset, its length, a reason and its bytes', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        const lines = [row('a'), '7\n', row('b'), `{"id":"\u20ac"]}\n`, '  [1] \r\n'];
        ingesting.write('auth_logs/deep/down/app.log', lines.join(''));
        await ingesting.lines(5, 'auth_logs');
        const found = await rejectedOf(ingesting, 'auth_logs');
        expect(found.map(({ file }) => file)).to.deep.equal(
          Array(3).fill('auth_logs/deep/down/app.log'),
        );
        const first = Buffer.byteLength(lines[0] ?? '');
        const fourth = first + 2 + Buffer.byteLength(lines[2] ?? '');
        const fifth = fourth + Buffer.byteLength(lines[3] ?? '') + 2;
        expect(found.map(({ offset }) => offset)).to.deep.equal([first, fourth, fifth]);
        expect(found.map(({ line }) => String(line))).to.deep.equal([
          '7',
          '{"id":"\u20ac"]}',
          '[1]',
        ]);
        expect(found.map(({ length }) => length)).to.deep.equal([1, 13, 3]);
        expect(found.map(({ reason }) => reason)).to.deep.equal([
          'it is not a JSON object; set TAILPOND_LINE_FORMAT to take text',
          'it is not JSON: unexpected "]" at byte 11',
          'it is not a JSON object; set TAILPOND_LINE_FORMAT to take text',
        ]);
        expect(await ingesting.rejected('auth_logs')).to.have.length(3);
        expect(await ingesting.rejected(SOURCE)).to.have.length(0);
      }),
    ));
});

describe('a character of four bytes', () => {
  it('is whole at each place that a border between two reads can have in it', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        // Reads are of 1 MiB. Files that differ by a byte at their start have the border at different bytes of a character.
        const text = '\u{1f600}'.repeat(2000);
        for (let shift = 0; shift < 4; shift++) {
          const first = row(`${shift}`, 'x'.repeat(shift) + text);
          const lines = Array.from({ length: 150 }, (_, n) => row(`${shift}-${n}`, text));
          ingesting.write(`${SOURCE}/shift-${'abcd'[shift]}.log`, first + lines.join(''));
        }
        const ledger = await ingesting.lines(4 * 151, SOURCE);
        expect(ledger).to.include({ rows: 4 * 151, rejected: 0, repaired: 0 });
        const messages = (await ingesting.rows(SOURCE)).map(({ event_message }) =>
          String(event_message).replace(/^x+/, ''),
        );
        expect(new Set(messages)).to.deep.equal(new Set([text]));
      }),
    ));
});

const maxLine = 100_000;
const long = (length: number, id = 'long') => {
  const empty = row(id, '').length - 1;
  return row(id, 'x'.repeat(length - empty));
};

describe('a line beyond the limit', () => {
  const take = taking({ maxLine });

  it('loses a MiB of leading NULs, which are more than the limit', async () => {
    const { ids, rejected } = await take([row('a'), NULS, row('b')]);
    expect(rejected).to.deep.equal([]);
    expect(ids).to.deep.equal(['a', 'b']);
  });

  it('is taken whole when it is as long as the limit', async () => {
    const { ids, rejected } = await take([row('a'), long(maxLine), row('b')]);
    expect(rejected).to.deep.equal([]);
    expect(ids).to.deep.equal(['a', 'b', 'long']);
  });

  it('is taken whole when only its blanks go beyond the limit', async () => {
    const padded = long(maxLine).replace('\n', '\r\n');
    // The read of 1 MiB ends between the carriage return and the newline.
    const first = row('a', 'y'.repeat(1000));
    const room = 1024 * 1024 - (padded.length - 1);
    const filler = `${' '.repeat(room - first.length - 1)}\n`;
    const lines = [first, ...split(filler, 50_000), padded, row('b')];
    const { ids, rejected } = await take(lines);
    expect(rejected.map(({ offset, length }) => [offset, length])).to.deep.equal([]);
    expect(ids).to.deep.equal(['a', 'b', 'long']);
  });

  for (const length of [maxLine + 1, 300_000, 1024 * 1024, 5_000_000]) {
    it(`is rejected with its first 4 KiB: ${length} bytes`, async () => {
      const text = long(length);
      const { ids, rejected } = await take([row('a'), text, row('b'), '7\n', text, text]);
      expect(ids).to.deep.equal(['a', 'b']);
      const start = row('a').length;
      const behind = start + length + 1 + row('b').length;
      expect(rejected.map((line) => [line.offset, line.length])).to.deep.equal([
        [start, length],
        [behind, 1],
        [behind + 2, length],
        [behind + 2 + length + 1, length],
      ]);
      expect(String(rejected[0]?.line)).to.equal(text.slice(0, 4096));
      expect(rejected[0]?.reason).to.include(String(maxLine));
    });
  }
});

describe('a line beyond the limit that is not whole yet', () => {
  it('counts once, with offset and length, when it grows in pieces', () =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const text = long(500_000);
          ingesting.write(`${SOURCE}/a.log`, row('a'));
          await ingesting.lines(1, SOURCE);
          for (const [n, piece] of split(text, 60_000).entries()) {
            ingesting.write(`${SOURCE}/a.log`, piece);
            await sawAll(ingesting, n);
          }
          ingesting.write(`${SOURCE}/a.log`, `${row('b')}{]}\n`);
          const ledger = await ingesting.lines(4, SOURCE);
          expect(ledger).to.include({ rows: 2, rejected: 2 });
          const [first, second] = await rejectedOf(ingesting, SOURCE);
          expect(first).to.include({ offset: row('a').length, length: 500_000 });
          expect(String(first?.line)).to.equal(text.slice(0, 4096));
          expect(second?.offset).to.equal(row('a').length + 500_001 + row('b').length);
        },
        { maxLine },
      ),
    ));

  it('counts once when the service restarts in its middle', () =>
    withFolder(async (data) => {
      const text = long(700_000);
      await withIngest(
        data,
        async (ingesting) => {
          ingesting.write(`${SOURCE}/a.log`, row('a') + text.slice(0, 400_000));
          await ingesting.lines(1, SOURCE);
          await sawAll(ingesting, 1);
        },
        { maxLine },
      );
      await withIngest(
        data,
        async (ingesting) => {
          await sawAll(ingesting, 2);
          ingesting.write(`${SOURCE}/a.log`, text.slice(400_000) + row('b'));
          expect(await ingesting.lines(3, SOURCE)).to.include({ rows: 2, rejected: 1 });
          const [line] = await rejectedOf(ingesting, SOURCE);
          expect(line).to.include({ offset: row('a').length, length: 700_000 });
        },
        { maxLine },
      );
    }));
});

function row(id: string, message = id): string {
  return `{"id":"${id}","timestamp":"2026-11-20T10:00:00Z","event_message":"${message}","metadata":{"a":{"b":1}}}\n`;
}

function split(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  );
}

/** Writes a file and waits until it was taken: by then every file was looked at. */
async function sawAll(ingesting: Ingesting, n: number): Promise<void> {
  const before = (await ingesting.ledger('storage_logs')).lines;
  ingesting.write(`storage_logs/mark${n}.log`, row(`${n}`));
  await ingesting.lines(before + 1, 'storage_logs');
}

async function rejectedOf(ingesting: Ingesting, source: string): Promise<Rejected[]> {
  const { rows } = await ingesting.store.query(
    `select file, "offset", length, reason, hex(line) from rejected where source = '${source}' order by "offset"`,
    {},
    { maxRows: 100_000 },
  );
  return rows.map(([file, offset, length, reason, line]) => ({
    file: String(file),
    offset: Number(offset),
    length: Number(length),
    reason: String(reason),
    line: Buffer.from(String(line), 'hex'),
  }));
}

type Take = (bytes: string | readonly (string | Buffer)[]) => Promise<Taken>;

/** Opens an ingest for a suite. Returns what stores a file with these bytes, and tells what became of it once its last byte was taken. */
function taking(settings: StoreSettings = {}): Take {
  const ingestingOf = opened<Ingesting>((action) =>
    withFolder((data) => withIngest(data, action, settings)),
  );
  /** When the rows of earlier files were stored. */
  const stored = new Set<unknown>();
  let files = 0;
  return async (bytes) => {
    const ingesting = ingestingOf();
    const whole = Buffer.concat([bytes].flat().map((part) => Buffer.from(part)));
    const before = await ingesting.ledger(SOURCE);
    // A name with a number would be that of a rotated file.
    const letters = String.fromCharCode(97 + Math.floor(files / 26), 97 + (files % 26));
    files++;
    const path = `${SOURCE}/${letters}.log`;
    ingesting.write(path, whole);
    const after = await eventually(async () => {
      const entry = await ingesting.ledger(SOURCE);
      expect(entry.bytes - before.bytes, ingesting.ingest.status().lastError ?? 'bytes').to.equal(
        whole.length,
      );
      return entry;
    }, 20_000);
    const rows = (await ingesting.rows(SOURCE)).filter((entry) => !stored.has(entry.ingested_at));
    for (const { ingested_at } of rows) stored.add(ingested_at);
    const rejected = (await rejectedOf(ingesting, SOURCE)).filter(({ file }) => file === path);
    const counted = (name: 'lines' | 'rows' | 'rejected' | 'repaired' | 'undated') =>
      after[name] - before[name];
    expect(counted('lines')).to.equal(counted('rows') + counted('rejected'));
    expect([rows.length, rejected.length]).to.deep.equal([counted('rows'), counted('rejected')]);
    return {
      lines: counted('lines'),
      rows: counted('rows'),
      repaired: counted('repaired'),
      undated: counted('undated'),
      ids: rows.map(({ id }) => String(id)),
      messages: Object.fromEntries(rows.map((entry) => [entry.id, entry.event_message])),
      rejected,
    };
  };
}

/** Checks that each of these lines is rejected: all together, and each between good lines that become rows. */
async function refused(take: Take, lines: readonly string[]): Promise<void> {
  const good = lines.map((_, i) => row(`good-${String(i).padStart(3, '0')}`));
  const flat = lines.map((_, i) => `{"id":"flat-${String(i).padStart(3, '0')}","x":1}\n`);
  const { ids, rejected } = await take(
    lines.flatMap((line, i) => [good[i] ?? '', `${line}\n`, flat[i] ?? '']),
  );
  expect(rejected.map(({ line }) => String(line))).to.deep.equal(lines);
  expect(ids.filter((id) => id.startsWith('good'))).to.have.length(lines.length);
  expect(ids.filter((id) => id.startsWith('flat'))).to.have.length(lines.length);
  expect(ids).to.have.length(2 * lines.length);
  let offset = 0;
  for (const [i, line] of lines.entries()) {
    offset += good[i]?.length ?? 0;
    expect(rejected[i], line).to.include({ offset, length: Buffer.byteLength(line) });
    offset += Buffer.byteLength(line) + 1 + (flat[i]?.length ?? 0);
  }
  const together = await take(lines.map((line) => `${line}\n`));
  expect(together).to.include({ rows: 0, lines: lines.length });
}
