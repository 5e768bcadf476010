import { expect } from 'chai';
import fc from 'fast-check';
import { createSplitter } from '../../../server/push/splitter.ts';

describe('the lines of a pushed body', () => {
  it('are the elements of its array, in whatever pieces and however spaced it comes', () => {
    const spaces = fc.constantFrom('', ' ', '\n', '\r\n\t', '  \n ');
    const values = fc.array(fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(values, spaces, fc.integer({ min: 1, max: 40 }), (elements, space, piece) => {
        const texts = elements.map((element) => JSON.stringify(element, null, space));
        const body = `${space}[${space}${texts.join(`${space},${space}`)}${space}]${space}`;
        const lines = cut(body, piece)
          .split('\n')
          .filter((line) => line.trim() !== '');
        expect(lines.map((line) => JSON.parse(line))).to.deep.equal(
          elements.map((element) => JSON.parse(JSON.stringify(element))),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('are one, when it is one object, and its own, when there are more', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(
        fc.array(objects, { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        (all, piece) => {
          const ndjson = all.map((one) => JSON.stringify(one)).join('\n');
          expect(cut(ndjson, piece)).to.equal(ndjson);
          const [first] = all;
          const line = cut(`${JSON.stringify(first, null, 2)}\n`, piece);
          expect(line).not.to.include('\n');
          expect(JSON.parse(line)).to.deep.equal(JSON.parse(JSON.stringify(first)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are the elements of the array `batch` of an object, whatever else is in it', () => {
    const others = fc.dictionary(
      fc.string().filter((key) => key !== 'batch'),
      fc.jsonValue({ maxDepth: 3 }),
    );
    const elements = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })));
    fc.assert(
      fc.property(
        fc.tuple(others, elements, others),
        fc.constantFrom('', ' ', '\n  '),
        fc.integer({ min: 1, max: 40 }),
        ([before, batch, after], space, piece) => {
          const body = JSON.stringify({ ...before, batch, ...after }, null, space);
          const lines = cut(body, piece)
            .split('\n')
            .filter((line) => line.trim() !== '');
          expect(lines.map((line) => JSON.parse(line))).to.deep.equal(
            JSON.parse(JSON.stringify(batch)),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are the object itself where `batch` is not an array of its own', () => {
    for (const text of [
      '{"batch":"[1,2]"}',
      '{"a":{"batch":[1,2]}}',
      '{"a":"batch","b":[1,2]}',
      '{"batches":[1,2],"batc":[3]}',
      '{"a":["batch",[1]]}',
    ])
      expect(cut(text, 3)).to.equal(text);
  });
});

/** Returns the lines of a text that comes in pieces of so many bytes. */
function cut(text: string, piece: number): string {
  const splitter = createSplitter();
  const bytes = Buffer.from(text);
  const blocks: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += piece)
    blocks.push(...splitter.take(bytes.subarray(from, from + piece)));
  return Buffer.concat([...blocks, ...splitter.end()]).toString();
}
