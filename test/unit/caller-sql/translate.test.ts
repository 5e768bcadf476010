import { expect } from 'chai';
import { SqlRefused, translate, type View } from '../../../server/caller-sql/index.ts';
import { type TestStore, withFolder, withStore } from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';
import { parserOf } from '../../support/parser.ts';
import { REFUSALS } from './refusals.ts';

const LOGS: View = {
  name: 'logs',
  sql: 'select id, ts, n, metadata from logs_table',
  tables: ['logs_table'],
  columns: [
    { name: 'id', kind: 'text' },
    { name: 'ts', kind: 'timestamp' },
    { name: 'n', kind: 'number' },
    { name: 'metadata', kind: 'json' },
  ],
};

/** The oracle judges answers (test/caller-sql-oracle). A refusal has none, so its sentence stands here. */
describe("a caller's SQL, refused", () => {
  const store = opened<TestStore>((action) => withFolder((folder) => withStore(folder, action)));

  for (const [name, sql, sentence] of REFUSALS)
    it(name, async () => {
      const scope = {
        dialect: 'bigquery',
        views: new Map([['logs', LOGS]]),
        parameters: new Map(),
        maxRows: 10,
      } as const;
      const said = await translate(sql, scope, parserOf(store())).then(
        (translation) => `not refused: ${translation.sql}`,
        (error) => {
          if (!(error instanceof SqlRefused)) throw error;
          return error.sentence(sql);
        },
      );
      expect(said).to.equal(sentence);
    });
});
