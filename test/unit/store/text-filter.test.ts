import { expect } from 'chai';
import fc from 'fast-check';
import { createGramBitmap, gramsOf, placeOf } from '../../../server/store/text-filter/grams.ts';
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

function bitmapOf(texts: readonly string[], json: readonly string[] = []) {
  const bitmap = createGramBitmap();
  for (const each of texts) bitmap.add(each);
  for (const each of json) bitmap.addJson(each);
  const slices = bitmap.slices();
  return (gram: number) => {
    const { slice, place } = placeOf(gram);
    const bytes = slices[slice] as Uint8Array;
    const bit = place % (bytes.length * 8);
    return ((bytes[bit >>> 3] as number) & (0x80 >>> (bit & 7))) !== 0;
  };
}

describe('the bitmap of the texts of a block', () => {
  it('has the grams of whatever stands in a text, in any letter case', () =>
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), sought, text, (others, searched, end) => {
        // Each letter in a case of its own, as one that searches may write it.
        const stored = [...searched].map((letter, i) => {
          const forms = [letter, letter.toUpperCase(), letter.toLowerCase(), '\u212a', '\u017f'];
          const same = forms.filter((form) => isSame(form, letter));
          return same[i % same.length];
        });
        const has = bitmapOf([...others, `${end}${stored.join('')}${others.join('')}`]);
        expect(gramsOf(searched).every(has), JSON.stringify([stored, searched])).to.equal(true);
      }),
      { numRuns: 100 },
    ));

  it('has the grams of the strings in JSON, however they are written', () =>
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
        expect(gramsOf(searched).every(bitmapOf([], [json])), json).to.equal(true);
      }),
      { numRuns: 100 },
    ));

  it('tells nothing of texts below nine characters, and something of all others', () => {
    expect(gramsOf('12345678')).to.deep.equal([]);
    expect(gramsOf('1234567ä89012345')).to.deep.equal([]);
    expect(gramsOf('123456789')).to.have.length(1);
  });

  it('lacks the grams of most texts that stand nowhere', () => {
    const { hex } = randomOf(3);
    const lines = Array.from({ length: 20_000 }, () => `GET | 200 | ${hex(16)} | /rest/v1/todos`);
    const has = bitmapOf(lines);
    for (const line of lines.slice(0, 1000))
      expect(gramsOf(line.split(' | ')[2] as string).every(has)).to.equal(true);
    const found = Array.from({ length: 1000 }, () => gramsOf(hex(16)).every(has));
    expect(found.filter(Boolean).length).to.be.below(50);
  });
});

/** Whether a search that does not mind letter case takes one for the other: as the engine, by simple folding. */
function isSame(form: string, letter: string): boolean {
  return (
    form.length === letter.length &&
    new RegExp(`^${letter.replace(/[\\/.]/, '\\$&')}$`, 'iu').test(form)
  );
}
