import { expect } from 'chai';
import { SEVERITY_WORDS } from '../../server/lines/index.ts';
import { type Served, withApp, withFolder } from '../support/helpers.ts';
import { PASTED_LINES, PASTED_QUERIES } from '../support/search-queries.ts';

const withLines = (action: (ask: (q: string) => ReturnType<Served['get']>) => Promise<void>) =>
  withFolder((data) =>
    withApp(data, async (served) => {
      const text = PASTED_LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
      served.write('app_logs/a.ndjson', text);
      await served.lines(PASTED_LINES.length, 'app_logs');
      await action((q) => served.get('/api/entries/app_logs').query({ q }));
    }),
  );

describe('a search query as people type it', () => {
  it('finds what it can mean, and says how it was read where it finds nothing', () =>
    withLines(async (ask) => {
      for (const [q, ids] of PASTED_QUERIES) {
        const { status, body, text } = await ask(q);
        expect(status, `${q} ${text}`).to.equal(200);
        const found = (body.result as { id: string }[]).map(({ id }) => id);
        expect(found.sort().join(''), q).to.equal(ids);
        if (ids !== '') expect(body, q).not.to.have.property('hint');
      }
      for (const [q, hint] of [
        [
          'nohost:1',
          'Read as: (field nohost is "1" or "nohost:1"). To find the name in any text write *nohost*.',
        ],
        ['timeou', 'Read as: "timeou". A word is found whole: *timeou* finds it within words.'],
        [
          'tags:A -x',
          'Read as: (field tags is "A" or "tags:A") and not ("x"). A field\'s value is compared whole and by letter case: tags:/(?i)A/ finds it within values in any case.',
        ],
        ['"time*"', 'Read as: "time*". In quotes * and ? stand for themselves.'],
        ['level:debug', undefined],
      ] as const)
        expect((await ask(q)).body.hint, q).to.equal(hint);
    }));

  it('has every word for a severity that lines have', () =>
    withLines(async (ask) => {
      for (const [severity, words] of Object.entries(SEVERITY_WORDS)) {
        const { body, text } = await ask(`level:${severity} -level:(${words.join(' or ')})`);
        expect(body.result, text).to.deep.equal([]);
        const others = await ask(`level:(${words.join(' or ')}) -level:${severity}`);
        expect(others.body.result, others.text).to.deep.equal([]);
      }
    }));

  it('is refused with the place where its regular expression is not one', () =>
    withLines(async (ask) => {
      for (const [q, said] of [
        ['a /x(/', 'Expected a regular expression (RE2 syntax), got \\"x(\\" at character 3.'],
        ['/(?=a)/', 'Expected a regular expression (RE2 syntax)'],
        ['f:/\\C+/', 'may not match single bytes'],
        ['a\0b', 'without a NUL character'],
        ['"\0":x', 'without a NUL character'],
        ['/(a{50}){50}/', 'may multiply to 100 at most'],
      ] as const) {
        const { status, text } = await ask(q);
        expect(status, q).to.equal(400);
        expect(text, q).to.include(said);
      }
    }));
});
