import { expect } from 'chai';
import { type Answer, oneOf, quantile } from './answer.ts';
import { difference } from './compare.ts';
import type { Json } from './shape.ts';

describe('the comparison of answers', () => {
  const check = (came: readonly Json[], answer: Answer, said: RegExp | undefined) => {
    const told = difference(came, answer);
    if (said) expect(told).to.match(said);
    else expect(told).to.equal(undefined);
  };

  it('takes rows in any order where none is asked for', () => {
    const answer = { rows: [{ a: 1 }, { a: 2 }, { a: 2 }] };
    check([{ a: 2 }, { a: 1 }, { a: 2 }], answer, undefined);
    check([{ a: 2 }, { a: 1 }, { a: 1 }], answer, /row 2 has a = 1 instead of 2/);
    check([{ a: 2 }, { a: 1 }], answer, /2 rows came instead of 3/);
    check([{ a: 2 }, { a: 1 }, { a: 2 }, { a: 2 }], answer, /4 rows came instead of 3/);
  });

  it('asks for an order, but not among rows that are equal in it', () => {
    const rows = [
      { n: 2, a: 'x' },
      { n: 1, a: 'y' },
      { n: 1, a: 'z' },
    ];
    const answer = { rows, by: (row: Readonly<Record<string, unknown>>) => row.n };
    check([rows[0], rows[2], rows[1]] as Json[], answer, undefined);
    check([rows[1], rows[0], rows[2]] as Json[], answer, /row 0 has n = 1 instead of 2/);
  });

  it('lets a limit cut rows that are equal in the order anywhere', () => {
    const rows = [{ n: 2 }, { n: 1, a: 'y' }, { n: 1, a: 'z' }] as { n: number }[];
    const answer = { rows, by: ({ n }: Readonly<Record<string, unknown>>) => n, limit: 2 };
    check([{ n: 2 }, { n: 1, a: 'z' }], answer, undefined);
    check([{ n: 2 }, { n: 1, a: 'q' }], answer, /row 1 has a = "q"/);
    check(rows as Json[], answer, /3 rows came instead of 2/);
  });

  it('expects at most a thousand rows', () => {
    const rows = Array.from({ length: 1001 }, (_, a) => ({ a }));
    check(rows.slice(1), { rows }, undefined);
    check(rows, { rows }, /1001 rows came instead of 1000/);
  });

  it('asks for the columns in their order, in records too', () => {
    check([{ b: 1, a: 1 }], { rows: [{ a: 1, b: 1 }] }, /has the columns b,a instead of a,b/);
    check([{ r: [{ b: 1, a: 1 }] }], { rows: [{ r: [{ a: 1, b: 1 }] }] }, /row 0 has r/);
    check([{}], { rows: [{ a: null }] }, /columns/);
  });

  it('takes fractions to nine digits, and a number for no text', () => {
    check([{ a: 0.1 + 0.2 }], { rows: [{ a: 0.3 }] }, undefined);
    check([{ a: 0.300001 }], { rows: [{ a: 0.3 }] }, /0.300001 instead of 0.3/);
    check([{ a: '1' }], { rows: [{ a: 1 }] }, /"1" instead of 1/);
    check([{ a: null }], { rows: [{ a: 0 }] }, /null instead of 0/);
  });

  it('takes one of several values, and a quantile near its rank', () => {
    check([{ a: 'y' }], { rows: [{ a: oneOf(['x', 'y']) }] }, undefined);
    check([{ a: 'z' }], { rows: [{ a: oneOf(['x', 'y']) }] }, /"z" instead of "<one of 2 values>"/);
    const values = Array.from({ length: 1001 }, (_, i) => i);
    check([{ a: 508 }], { rows: [{ a: quantile(values, 0.5) }] }, undefined);
    check([{ a: 520 }], { rows: [{ a: quantile(values, 0.5) }] }, /520/);
    check([{ a: null }], { rows: [{ a: quantile([], 0.5) }] }, undefined);
  });
});
