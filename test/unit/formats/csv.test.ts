import { expect } from 'chai';
import { csv } from '../../../server/formats/csv.ts';
import type { Plain, RowColumn } from '../../../server/store/index.ts';

const column = (name: string, kind: RowColumn['kind'] = 'plain'): RowColumn => ({
  name,
  kind,
  type: 'VARCHAR',
});

/** The only field of a row, without the quotes that a line break asks for. */
function written(value: Plain, kind?: RowColumn['kind'], redact?: (text: string) => string) {
  const text = csv([column('c', kind)], { redact }).rows([[value]]);
  return text
    .slice(0, -2)
    .replace(/^"(.*)"$/s, '$1')
    .replaceAll('""', '"');
}

describe('CSV', () => {
  it('defuses a text that a spreadsheet would take for a formula, whatever it does not show before it', () => {
    for (const sign of ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'])
      for (const before of ['', '\n', '\r\n', '\t', ' ', '\u00a0 ', '\ufeff', '\u0000', '\u200b'])
        expect(written(`${before}${sign}1+1`)).to.equal(`'${before}${sign}1+1`);
    for (const text of ['\nplain', '\rplain', '\tplain'])
      expect(written(text)).to.equal(`'${text}`);
    expect(csv([column('\n=1'), column('a')], {}).begin()).to.equal(`"'\n=1",a\r\n`);
  });

  it('leaves other texts, and numbers, as they are', () => {
    for (const text of ['a=b', '  indented', '(-1)', 'a\n=b', "'=1", '2026-08-21', '🙂-'])
      expect(written(text)).to.equal(text);
    const numbers = [-1, -1.5, -9_007_199_254_740_993n, 0];
    for (const number of numbers) expect(written(number)).to.equal(String(number));
    for (const number of numbers)
      expect(written(number, 'plain', (text) => text)).to.equal(String(number));
    expect(written(-4111111111111111n, 'plain', () => '-REDACTED')).to.equal("'-REDACTED");
    expect(written('-1', 'json')).to.equal('-1');
  });
});
