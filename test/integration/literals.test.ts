import { expect } from 'chai';
import fc from 'fast-check';
import { withFolder, withStore } from '../support/helpers.ts';

/** What ends a text, a statement or a name, what the engine's parser changes beside texts, and what a client may not hand on. */
const PARTS = [
  ...`'"\\;$@?-*/[]{}()\0\n\r\t%_ `,
  "''",
  '--',
  '/*',
  '*/',
  '$$',
  '$a$',
  '$b',
  "e'",
  "\\'",
  '\u00a0',
  '\u2003',
  '\u3000',
  // At the beginning of a text the client drops it from answers.
  'x\ufeff',
  '\u2028',
  'ä',
  '語',
  '😀',
  'a',
  'null',
  "') union select '1",
];
const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''));

describe('values of a statement', () => {
  it('come out as they went in, whatever they hold', () =>
    withFolder((folder) =>
      withStore(folder, (store) =>
        fc.assert(
          fc.asyncProperty(fc.option(text), fc.option(text), async (a, b) => {
            const sql = `select $a::varchar as a, [$b::varchar, $a::varchar] as l, $b::varchar || '' as c, length($a::varchar)::integer as n`;
            const { rows } = await store.query(sql, { a, b }, { maxRows: 2 });
            expect(rows).to.deep.equal([[a, [b, a], b, a === null ? null : [...a].length]]);
          }),
          { numRuns: 1000, seed: 5 },
        ),
      ),
    ));

  it('take the places of parameters alone, not of what looks like one', () =>
    withFolder((folder) =>
      withStore(folder, async (store) => {
        const sql = `select -- $a in a comment, with a quote: '
          '$a' as "$a", /* $a /* $a */ ' */ $$ '$a' $$ as dollars, $x$ $$ $a $x$ as tagged,
          e'\\'$a' as escaped, 'it''s $a' as quoted, 1 as a$a, $a::varchar as value, -$n::integer as n, 7-$n::integer as m`;
        const { columns, rows } = await store.query(sql, { a: 'one', n: '5' }, { maxRows: 2 });
        expect(columns.map(({ name }) => name).slice(0, 6)).to.deep.equal([
          '$a',
          'dollars',
          'tagged',
          'escaped',
          'quoted',
          'a$a',
        ]);
        expect(rows).to.deep.equal([
          ['$a', " '$a' ", ' $$ $a ', "'$a", "it's $a", 1, 'one', -5, 2],
        ]);
      }),
    ));

  it('are each wanted, by name', () =>
    withFolder((folder) =>
      withStore(folder, async (store) => {
        const missing = await store.query('select $a::varchar', {}, { maxRows: 1 }).then(
          () => 'nothing was thrown',
          (error) => String(error),
        );
        expect(missing).to.contain('no value for $a');
      }),
    ));
});
