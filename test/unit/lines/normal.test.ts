import { expect } from 'chai';
import { createFieldTable, createReader, UTC } from '../../../server/lines/index.ts';
import { randomOf } from '../../support/random.ts';

const NOW = Date.UTC(2026, 10, 20);

function newReader() {
  const options = { table: createFieldTable(), offsetOf: UTC, formats: [], isSupabase: true };
  return createReader({ ...options, now: () => NOW });
}

function isNormal(reader: ReturnType<typeof newReader>, line: string): boolean {
  const [before, behind] = ['{}\n', `\n${LINES[0]}\n`].map((text) => Buffer.from(text));
  const bytes = Buffer.concat([before, Buffer.from(line), behind] as Buffer[]);
  return reader.normalIn(bytes)(3, bytes.length - (behind as Buffer).length);
}

const METADATA =
  '{"level":"info","n":[1,-20,0.5,12.25,0],"a":{"b":[{"c":true,"d":null}],"e":{}},"t":"\\"q\\" \\u00e9 ö"}';
const MOMENT = '"timestamp":"2026-11-20T10:00:00.123Z"';
const LINES = [
  `{"id":"1",${MOMENT},"project":"p","event_message":"GET | 200 | \\\\","metadata":${METADATA}}`,
  `{"event_message": "", "metadata": ${METADATA.replaceAll(',', ', ').replaceAll(':', ': ')}, ${MOMENT}}`,
  `{"metadata":[${METADATA}],"event_message":"m","id":"1",${MOMENT},"project":"p"}`,
];
/** Put in or in place of a character anywhere in a line. */
const PARTS = [
  ...['"', '\\', ',', ':', '{', '}', '[', ']', ' ', '\t', '\u0001', '0', '1', '-', '.', 'e', 'E'],
  ...['\\x22', '\\"', ',}', ',]', '1.10', '1e5', '-0', '00', '0.00001', '0.0001', '1.5', '-1.25'],
  ...[
    '12345678901234567890',
    '123456789012345678',
    '0.1234567890123456',
    '1.123',
    '1795168800.12345',
    '12345.1234567891',
    'None',
    'NaN',
  ],
  ...['true', '"id":"2",', '"x":1,', ',"x":1', ',"id":"2"', '"metadata":{},', '[[[[[[[[1]]]]]]]]'],
];

describe('lines in normal form', () => {
  it('are told one by one in a block of many', () => {
    const lines = Array.from({ length: 2000 }, (_, n) =>
      n % 7 === 3 ? `{"n":${n},"metadata":{},${MOMENT}}` : (LINES[n % LINES.length] as string),
    );
    const block = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const test = newReader().normalIn(block);
    let from = 0;
    for (const [n, line] of lines.entries()) {
      const to = from + Buffer.byteLength(line);
      expect(test(from, to), `${n}`).to.equal(n % 7 !== 3);
      expect(test(from, to - 1), `${n}, cut`).to.equal(false);
      from = to + 1;
    }
  });

  it('are told the same with and without a line of their order before them', () => {
    const { below, pick } = randomOf(7);
    let normal = 0;
    for (const line of LINES) {
      const warm = newReader();
      for (let n = 0; n < 4000; n++) {
        const at = below(line.length);
        const cut = pick([0, 0, 1, 1, 2, 8]);
        const changed = line.slice(0, at) + pick(PARTS) + line.slice(at + cut);
        expect(isNormal(warm, line), line).to.equal(true);
        const expected = isNormal(newReader(), changed);
        expect(isNormal(warm, changed), changed).to.equal(expected);
        if (expected) normal++;
      }
    }
    expect(normal).to.be.greaterThan(1000);
  });

  it('have each of their members once', () => {
    const warm = newReader();
    const [line = ''] = LINES;
    expect(isNormal(warm, line)).to.equal(true);
    expect(isNormal(warm, line.replace(/\}$/, ',"id":"2"}'))).to.equal(false);
    expect(isNormal(warm, line.replace(/\}$/, '},"more":{"a":1}'))).to.equal(false);
    expect(isNormal(warm, line.replace('"metadata":{', '"metadata":{},"metadata":{'))).to.equal(
      false,
    );
  });

  it('may have another order each', () => {
    const warm = newReader();
    for (let n = 0; n < 50; n++) {
      const line = LINES[n % LINES.length] ?? '';
      expect(isNormal(warm, line), line).to.equal(true);
      expect(isNormal(warm, line.replace(/\}$/, ',"event_message":""}')), line).to.equal(false);
    }
  });

  it('are told by the moment of each of them', () => {
    const warm = newReader();
    const [line = ''] = LINES;
    const at = (moment: string) => line.replace('2026-11-20T10:00:00.123Z', moment);
    expect(isNormal(warm, line)).to.equal(true);
    expect(isNormal(warm, at('2026-11-20 10:00:00Z'))).to.equal(true);
    for (const moment of [
      '2026-11-22T10:00:00Z',
      '2026-02-29T10:00:00Z',
      '2026-11-20T10:00:00',
      '2026-11-20T24:00:00Z',
      '2026-11-20T10:00:00.Z',
      '2026-11-20T10:00:00+01:00',
      '1969-11-20T10:00:00Z',
      'soon',
      '',
    ])
      expect(isNormal(warm, at(moment)), moment).to.equal(false);
  });

  it('are found not to be such in time that grows with their length', () => {
    const warm = newReader();
    const [line = ''] = LINES;
    expect(isNormal(warm, line)).to.equal(true);
    const texts = Array.from({ length: 6000 }, (_, n) => `"t${n}"`).join(',');
    for (const metadata of [`{"a":[${texts},1.10]}`, `{"a":"${'\\"x'.repeat(20_000)}\u0001"}`]) {
      const began = performance.now();
      expect(
        isNormal(
          warm,
          line.replace(METADATA, () => metadata),
        ),
      ).to.equal(false);
      expect(performance.now() - began).to.be.lessThan(500);
    }
  });
});
