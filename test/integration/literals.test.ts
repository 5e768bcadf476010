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

  it('are not changed, nor taken for SQL, by what stands around them', () =>
    withFolder((folder) =>
      withStore(folder, async (store) => {
        const space = 'p\u00a0q';
        const quote = "it's";
        const hostile = ' as y, $$q$$ || version() as z --';
        for (const [sql, a, expected] of [
          ["select /* it's */ $a::varchar as x", space, [space]],
          ["select e'\\'' as e, $a::varchar as x", space, ["'", space]],
          ["select -- it's\n $a::varchar as x", space, [space]],
          ["select 'it''s' as s, $a::varchar as x", quote, [quote, quote]],
          ["select\u00a0e'\\' $a' as x", hostile, ["' $a"]],
          ["select e'a'\n'\\' $a' as x", hostile, ["a' $a"]],
          ['select $ä$ $a $ä$ as x', '$ä$ as y, version() as z --', [' $a ']],
          ['select $a$ $a $a$ as x', '$a$ as y, version() as z --', [' $a ']],
          ['select 1 - $a::integer as x, 6 / $a::integer as y', '2', [-1, 3]],
        ] as const) {
          const { rows } = await store.query(sql, { a }, { maxRows: 2 });
          expect(rows, sql).to.deep.equal([expected]);
        }
        const inherited = await store
          .query('select $toString::varchar as x', {}, { maxRows: 2 })
          .then(
            () => 'nothing was thrown',
            (error) => String(error),
          );
        expect(inherited).to.contain('no value for $toString');
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
