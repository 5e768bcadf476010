import { expect } from 'chai';
import fc from 'fast-check';
import { wholeLines } from '../../../server/push/whole-lines.ts';

const LONGEST = 20;

describe('the lines of a stream of bytes', () => {
  it('come whole, in whatever pieces the bytes come, unless they are too long to be held', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '{', ','), maxLength: 60 });
    fc.assert(
      fc.property(
        fc.array(line),
        fc.integer({ min: 1, max: 50 }),
        fc.boolean(),
        (all, piece, ends) => {
          const text = all.join('\n') + (ends ? '\n' : '');
          const cutter = wholeLines(LONGEST);
          const cuts: { kind: string; text: string }[] = [];
          const note = (given: ReturnType<typeof cutter.end>) => {
            for (const { kind, bytes } of given) cuts.push({ kind, text: bytes.toString() });
          };
          const bytes = Buffer.from(text);
          for (let from = 0; from < bytes.length; from += piece) {
            note(cutter.take(bytes.subarray(from, from + piece)));
            expect(cutter.held).to.be.at.most(LONGEST);
          }
          note(cutter.end());
          const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
          expect(cuts.map((cut) => cut.text).join('')).to.equal(whole);
          const lines = cuts.filter(({ kind }) => kind === 'lines').map((cut) => cut.text);
          for (const each of lines) expect(each.endsWith('\n')).to.equal(true);
          // A short line never comes in pieces.
          const short = lines.join('').split('\n');
          for (const each of all)
            if (each !== '' && each.length <= LONGEST) expect(short).to.include(each);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
