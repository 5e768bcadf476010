import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withFolder, withPond } from '../helpers.ts';
import { newBooks } from './books.ts';

describe('the oracle of this suite', () => {
  it('sees what is lost, doubled, or never written, of rows and of rejected lines', () =>
    withFolder(async (data) => {
      const books = newBooks();
      const [kept, destroyed, early] = [books.line(), books.line(), books.line()];
      books.bad('no JSON');
      books.destroyed(destroyed);
      books.doubtful(early);
      expect(books.expected()).to.deep.equal({ rows: 1, rejected: 1 });
      const drop = (name: string, text: string) => {
        mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
        writeFileSync(join(data, 'logs/edge_logs', name), text);
      };
      drop('a.ndjson', `${kept}no JSON\n`);
      await withPond(data, (pond) => pond.lines(2));
      expect(await books.differences(data)).to.deep.equal([]);

      drop('b.ndjson', `${early}${kept}{"id":"foreign"}\n${destroyed}no JSON\n`);
      await withPond(data, (pond) => pond.lines(7));
      books.row('lost');
      books.bad('lost too');
      expect(await books.differences(data)).to.have.members([
        'row of edge_logs: 2 times instead of 1: line-0',
        'row of edge_logs: 0 times instead of 1: lost',
        'row of edge_logs: 1 times instead of 0: line-1',
        'row of edge_logs: 1 times instead of 0: foreign',
        'rejected line of edge_logs: 2 times instead of 1: no JSON',
        'rejected line of edge_logs: 0 times instead of 1: lost too',
      ]);
    }));
});
