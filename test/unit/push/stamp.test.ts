import { expect } from 'chai';
import fc from 'fast-check';
import { stamp } from '../../../server/push/stamp.ts';

const PROJECT = 'it\'s "ours"';

/** Returns a text that came in pieces of so many bytes, with the project. */
function stamped(text: string, piece: number): string {
  const bytes = Buffer.from(text);
  const written: Buffer[] = [];
  const pass = stamp(PROJECT, (piece) => written.push(piece));
  for (let from = 0; from < bytes.length; from += piece) pass(bytes.subarray(from, from + piece));
  return Buffer.concat(written).toString();
}

describe('lines that are pushed with the token of one project', () => {
  it('have it as their first member, and are as they were otherwise', () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })));
    fc.assert(
      fc.property(
        objects,
        fc.constantFrom('', ' ', '\t \r'),
        fc.integer({ min: 1, max: 40 }),
        (all, space, piece) => {
          const text = all
            .map((one) => `${space}{${space}${JSON.stringify(one).slice(1)}\n`)
            .join('');
          const lines = stamped(text, piece).split('\n').slice(0, -1);
          expect(lines.map((line) => JSON.parse(line))).to.deep.equal(
            all.map((one) => JSON.parse(JSON.stringify({ project: PROJECT, ...one }))),
          );
          for (const line of lines)
            expect(line.replace(/\s/g, '')).to.match(/^\{"project":"it's\\"ours\\""[,}]/);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are left as they are where they are not objects', () => {
    const text = 'text\n[1,{"a":1}]\n\n  \nnull\n"{"\n';
    for (const piece of [1, 3, 100]) expect(stamped(text, piece)).to.equal(text);
  });
});
