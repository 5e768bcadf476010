import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { withFolder, withIngest } from '../support/helpers.ts';
import { newExpectedLines } from './expected-lines.ts';

describe('the oracle of this suite', () => {
  it('sees what is lost, doubled, or never written, of rows and of rejected lines', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      const [kept, destroyed, early] = [
        expectedLines.line(),
        expectedLines.line(),
        expectedLines.line(),
      ];
      expectedLines.bad('no JSON');
      expectedLines.destroyed(destroyed);
      expectedLines.doubtful(early);
      expect(expectedLines.expected()).to.deep.equal({ rows: 1, rejected: 1 });
      const drop = (name: string, text: string) => {
        mkdirSync(join(data, 'logs/edge_logs'), { recursive: true });
        writeFileSync(join(data, 'logs/edge_logs', name), text);
      };
      drop('a.ndjson', `${kept}no JSON\n`);
      await withIngest(data, (ingesting) => ingesting.lines(2));
      expect(await expectedLines.differences(data)).to.deep.equal([]);

      drop('b.ndjson', `${early}${kept}{"id":"foreign"}\n${destroyed}no JSON\n`);
      await withIngest(data, (ingesting) => ingesting.lines(7));
      expectedLines.row('lost');
      expectedLines.bad('lost too');
      expect(await expectedLines.differences(data)).to.have.members([
        'row of edge_logs: 2 times instead of 1: line-0',
        'row of edge_logs: 0 times instead of 1: lost',
        'row of edge_logs: 1 times instead of 0: line-1',
        'row of edge_logs: 1 times instead of 0: foreign',
        'rejected line of edge_logs: 2 times instead of 1: no JSON',
        'rejected line of edge_logs: 0 times instead of 1: lost too',
      ]);
    }));
});
