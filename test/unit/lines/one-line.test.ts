import { expect } from 'chai';
import { createFieldTable, createReader, LINE_FORMATS } from '../../../server/lines/index.ts';
import { randomOf } from '../../support/random.ts';
import { SAMPLE_SEED } from '../../support/sample.ts';

const READERS = (['auto', 'json', 'logfmt', 'text', 'syslog', 'postgres'] as const).map((name) =>
  createReader({
    table: createFieldTable(),
    offsetOf: () => 0,
    formats: LINE_FORMATS[name],
    isSupabase: name === 'json',
  }),
);
/** Pieces of entries, among them all that stands between values of JSON. */
const PIECES = [
  ...['2026-11-20 10:00:00 ', 'INFO ', 'shop: ', 'level=warn ', '\t', '\n', '\r\n', '\r', ' '],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\n',
    '"a":',
    '"b": 1.10',
    '{\n  "b": [\n    2\n  ]\n}',
  ],
  ...['"msg":"m"', '"time":7', '"metadata":{\n"x":1}', '\u2028', '\u0000', '\ud800', '\u001b[31m'],
  ...['DETAIL: ', 'Traceback (most recent call last):', '<13>Nov 20 10:00:00 h p[1]: ', '\ufeff'],
];

describe(`a line that was read, TAILPOND_TEST_SEED=${SAMPLE_SEED}`, () => {
  it('is one line of JSON, whatever stands in the entry', () => {
    const random = randomOf(SAMPLE_SEED);
    for (let n = 0; n < 20_000; n++) {
      const entry = Array.from({ length: 1 + random.below(12) }, () => random.pick(PIECES)).join(
        '',
      );
      const read = random.pick(READERS).read(entry);
      if (read.kind === 'rejected') continue;
      const seen = JSON.stringify(entry);
      expect(read.text.indexOf('\n'), seen).to.equal(read.text.length - 1);
      expect(() => JSON.parse(read.text), seen).not.to.throw();
    }
  });
});
