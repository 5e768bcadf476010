import { expect } from 'chai';
import { createFieldTable, createReader, LINE_FORMATS, UTC } from '../../../server/lines/index.ts';
import { linesOf, samples } from '../../loggers/judge.ts';
import { randomOf } from '../../support/random.ts';

const table = createFieldTable();

function newReader() {
  const now = () => Date.UTC(2026, 11, 1);
  return createReader({ table, offsetOf: UTC, formats: LINE_FORMATS.auto, isSupabase: false, now });
}

const PARTS = [
  '"',
  '\\',
  '{',
  '}',
  ',',
  ':',
  '=',
  ' ',
  '\t',
  '1.10',
  '\\u00e9',
  '[x] ',
  '\u001b[1m',
];

describe('a reader of lines', () => {
  it('reads a line the same whatever lines it has read before', () => {
    const { below, pick } = randomOf(7);
    const lines = samples.flatMap(linesOf).filter((line) => line.trim() !== '');
    const used = newReader();
    for (let n = 0; n < 4000; n++) {
      const line = pick(lines);
      const at = below(Math.min(line.length, 120));
      const changed =
        n % 2 === 0 ? line : line.slice(0, at) + pick(PARTS) + line.slice(at + below(2));
      expect(used.read(changed), changed).to.deep.equal(newReader().read(changed));
    }
  });

  it('takes each member that it uses out of the metadata, by the names of the line', () => {
    const reader = newReader();
    const metadataOf = (line: string) => {
      const read = reader.read(line);
      return read.kind === 'row' ? JSON.parse(read.text).metadata : null;
    };
    expect(metadataOf('{"msg":"a","time":1795168800,"level":"info","n":1}')).to.deep.equal({
      level: 'info',
      n: 1,
    });
    expect(metadataOf('{"msg":"","time":"soon","level":"info","n":1}')).to.deep.equal({
      time: 'soon',
      level: 'info',
      n: 1,
    });
    expect(metadataOf('{"msg":null,"time":1795168800,"level":"info","n":1}')).to.deep.equal({
      msg: null,
      level: 'info',
      n: 1,
    });
  });

  it('names the form of a date in the head of a line of text that it cannot read', () => {
    const formOf = (line: string) => {
      const read = newReader().read(line);
      return read.kind === 'row' ? read.undatedForm : null;
    };
    expect(formOf('app 11/10/2026 1:00:01 PM card of Jo is declined')).to.deep.equal({
      field: 'message',
      form: '00/00/0000 0:00:00',
    });
    for (const line of [
      'no date',
      'version 1.2.3 of it',
      '2026-11-20 10:00:00 x',
      '10.0.0.1:8080 is up',
      '{"msg":"11/10/2026 1:00:01 PM"}',
      `${'x'.repeat(100)} 11/10/2026 1:00:01 PM`,
    ])
      expect(formOf(line), line).to.equal(null);
  });

  it('keeps the digits of numbers that the engine would write otherwise', () => {
    const kept = (value: string) => {
      const read = newReader().read(`{"msg":"a","n":${value}}`);
      return read.kind === 'row' && !('metadata' in JSON.parse(read.text));
    };
    for (const value of ['1.10', '1e5', '-0', '-0.0', '0.00001', '1234567890123456789', '[1.10]'])
      expect(kept(value), value).to.equal(true);
    for (const value of ['1', '-12', '0', '1.5', 'true', 'null', '"1.10"', '[1,{"a":2}]'])
      expect(kept(value), value).to.equal(false);
  });
});
