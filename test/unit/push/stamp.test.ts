import { expect } from 'chai';
import fc from 'fast-check';
import { stamped } from '../../../server/push/stamp.ts';

const PROJECT = 'it\'s "ours"';

/** What becomes of a text that comes in pieces of so many bytes. */
function stamp(text: string, piece: number): string {
  const bytes = Buffer.from(text);
  const blocks: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += piece)
    blocks.push(bytes.subarray(from, from + piece));
  return stamped(blocks, PROJECT).toString();
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
          const lines = stamp(text, piece).split('\n').slice(0, -1);
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
    for (const piece of [1, 3, 100]) expect(stamp(text, piece)).to.equal(text);
  });
});
