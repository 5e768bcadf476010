import { expect } from 'chai';
import fc from 'fast-check';
import { createWordFilter, MOST_PARTS, placesOf } from '../../../server/store/text-filter/words.ts';
import { randomOf } from '../../support/random.ts';

/** Letters whose case matters, two beyond ASCII that equal `k` and `s` in any case, and what breaks a text. */
const LETTERS = [
  ...'aAbBkKsSzZ09 -_"\\/.:',
  '\u212a',
  '\u017f',
  'ä',
  'Ä',
  'ß',
  'İ',
  '語',
  '😀',
  '\0',
];
const textOf = (letters: readonly string[], minLength: number) =>
  fc
    .array(fc.constantFrom(...letters), { minLength, maxLength: 60 })
    .map((chosen) => chosen.join(''));
const text = textOf(LETTERS, 0);
const sought = fc.oneof(textOf(LETTERS, 1), textOf(LETTERS.slice(0, 19), 9));

/** Returns a test of whether a part of a block may have a text, by the filter of the block. */
function testOf(slices: readonly Uint8Array[]) {
  return (text: string, isWhole = false, part = 0) =>
    placesOf({ text, begins: isWhole, ends: isWhole }).every(({ slice, place }) => {
      const bytes = slices[slice] as Uint8Array;
      const byte = 2 * (place % (bytes.length / 2)) + (part >>> 3);
      return ((bytes[byte] as number) & (0x80 >>> (part & 7))) !== 0;
    });
}

/** Returns the test of a block with these texts in its first part. */
function filterOf(texts: readonly string[], json: readonly string[] = []) {
  const filter = createWordFilter();
  for (const each of texts) filter.add(0, each);
  for (const each of json) filter.addJson(0, each);
  return testOf(filter.slices());
}

describe('the filter of the words of a block', () => {
  it('has whatever stands in a text, in any letter case', () =>
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), sought, text, (others, searched, end) => {
        // Each letter in a case of its own, as one that searches may write it.
        const stored = [...searched].map((letter, i) => {
          const forms = [letter, letter.toUpperCase(), letter.toLowerCase(), '\u212a', '\u017f'];
          const same = forms.filter((form) => isSame(form, letter));
          return same[i % same.length];
        });
        const has = filterOf([...others, `${end}${stored.join('')}${others.join('')}`]);
        expect(has(searched), JSON.stringify([stored, searched])).to.equal(true);
        const hasWhole = filterOf([`${end} ${stored.join('')} ${others.join('')}`]);
        expect(hasWhole(searched, true), JSON.stringify([stored, searched])).to.equal(true);
      }),
      { numRuns: 60 },
    ));

  it('has the strings in JSON, however they are written', () =>
    fc.assert(
      fc.property(sought, text, fc.array(fc.nat(2)), (searched, end, ways) => {
        const written = [...`${end}${searched}`].map((letter, i) => {
          const units = Array.from({ length: letter.length }, (_, at) => letter.charCodeAt(at));
          const hex = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
          const short = letter === '/' ? '\\/' : JSON.stringify(letter).slice(1, -1);
          return [short, hex, hex.replace(/[^u\\]+/g, (digits) => digits.toUpperCase())][
            ways[i] ?? 0
          ];
        });
        const json = `{"a":["${written.join('')}"]}`;
        expect(JSON.parse(json).a).to.deep.equal([`${end}${searched}`]);
        expect(filterOf([], [json])(searched), json).to.equal(true);
      }),
      { numRuns: 100 },
    ));

  it('has a word that begins behind an escape, whatever that is of', () => {
    const has = filterOf([], ['{"a":"x\\u0041word\\u0042y\\nline"}']);
    for (const word of ['word', 'xawordby', 'line']) expect(has(word, true), word).to.equal(true);
    expect(has('wor', true)).to.equal(false);
  });

  it('tells nothing of parts of words below nine characters, and something of whole words and longer parts', () => {
    expect(placesOf({ text: '12345678' })).to.deep.equal([]);
    expect(placesOf({ text: '1234567ä89012345' })).to.deep.equal([]);
    for (const text of ['123456789', '12-4567-9', 'a b c', '/b/']) {
      expect(placesOf({ text }), text).not.to.deep.equal([]);
      expect(filterOf(['other words'])(text), text).to.equal(false);
    }
    for (const ends of [{ begins: true }, { ends: true }])
      expect(placesOf({ text: 'word', ...ends })).to.deep.equal([]);
    expect(placesOf({ text: 'word', begins: true, ends: true })).not.to.deep.equal([]);
  });

  it('tells the parts of a block apart, and is short where there is little', () => {
    const filter = createWordFilter();
    for (let part = 0; part < MOST_PARTS; part++) filter.add(part, `in part${part} alone`);
    const slices = filter.slices();
    expect(slices.every(({ length }) => length < 64)).to.equal(true);
    const has = testOf(slices);
    const found = Array.from({ length: MOST_PARTS }, (_, word) =>
      Array.from({ length: MOST_PARTS }, (_, part) => has(`part${word}`, true, part)),
    );
    expect(found.every((parts, word) => parts[word])).to.equal(true);
    expect(found.flat().filter(Boolean).length).to.be.below(2 * MOST_PARTS);
  });

  it('lacks most words, and most parts of words, that stand nowhere', () => {
    const { hex } = randomOf(3);
    const lines = Array.from({ length: 20_000 }, () => `GET | 200 | ${hex(16)} | /rest/v1/todos`);
    const has = filterOf(lines);
    for (const line of lines.slice(0, 1000)) {
      expect(has(line.split(' | ')[2] as string, true)).to.equal(true);
      expect(has(line.slice(14, 27))).to.equal(true);
    }
    const found = (of: () => boolean) => Array.from({ length: 1000 }, of).filter(Boolean).length;
    expect(found(() => has(hex(8), true))).to.be.below(30);
    expect(found(() => has(hex(16)))).to.be.below(100);
  });
});

/** Whether a search that does not mind letter case takes one for the other: as the engine, by simple folding. */
function isSame(form: string, letter: string): boolean {
  return (
    form.length === letter.length &&
    new RegExp(`^${letter.replace(/[\\/.]/, '\\$&')}$`, 'iu').test(form)
  );
}
