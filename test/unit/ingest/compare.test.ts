import { expect } from 'chai';
import { compare } from '../../../ingest/files/compare.ts';
import type { Content } from '../../../ingest/files/content.ts';

/** A content of which a read leaves in the memory behind its end what was there before: in the worst case these bytes. */
function contentOf(text: string, leaves = ''): Content {
  const bytes = Buffer.from(text);
  return {
    packed: false,
    stat: () => {
      throw new Error('it is not asked for');
    },
    has: () => true,
    async read(target, position) {
      Buffer.from(leaves).copy(target);
      return bytes.copy(target, 0, Math.min(position, bytes.length));
    },
    pin() {},
    isTorn: () => false,
    close: async () => {},
  };
}

describe('two contents that are compared', () => {
  it('differ where one ends, whatever stands in the memory behind it', async () => {
    const copy = contentOf('one\ntwo\n');
    const truncated = contentOf('', 'one\ntwo\n');
    expect(await compare(copy, truncated, 8)).to.deep.equal({
      equal: 0,
      outcome: 'longer',
    });
    expect(await compare(truncated, copy, 8)).to.deep.equal({
      equal: 0,
      outcome: 'within',
    });
  });

  it('are equal up to the byte in which they part', async () => {
    const [left, right] = [contentOf('one\ntwo\nthree\n'), contentOf('one\ntwo\nthanks\n')];
    for (const from of [0, 4, 8])
      expect(await compare(left, right, from)).to.deep.equal({
        equal: 10,
        outcome: 'differs',
      });
  });
});
