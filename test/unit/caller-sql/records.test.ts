import { expect } from 'chai';
import { translate, type View } from '../../../server/caller-sql/index.ts';
import { type TestStore, withFolder, withStore } from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';
import { parserOf } from '../../support/parser.ts';
import { METADATA, QUESTIONS } from './record-shapes.ts';

const GIVEN = JSON.stringify(METADATA.map((metadata, i) => ({ id: String(i), metadata })));

const LOGS: View = {
  name: 'logs',
  sql: `select r.id as id, r.metadata as metadata from (select unnest(from_json($given::json, '[{"id":"VARCHAR","metadata":"JSON"}]')) as r)`,
  tables: ['logs_table'],
  columns: [
    { name: 'id', kind: 'text' },
    { name: 'metadata', kind: 'json' },
  ],
};

describe('records of any shape, unnested', () => {
  const store = opened<TestStore>((action) => withFolder((folder) => withStore(folder, action)));

  for (const [name, { sql, rows }] of Object.entries(QUESTIONS))
    it(name, async () => {
      const maxRows = 100_000;
      const scope = { dialect: 'bigquery', views: new Map([['logs', LOGS]]), maxRows } as const;
      const parse = parserOf(store());
      const translation = await translate(sql, { ...scope, parameters: new Map() }, parse);
      const answer = await store().query(translation.sql, { given: GIVEN }, { maxRows });
      const given = new Map<string, string[]>();
      for (const [id, ...values] of answer.rows) {
        const row = values.slice(0, -1).map((value, i) => {
          const isJson = answer.columns[i + 1]?.type === 'JSON';
          if (isJson && value !== null) return JSON.parse(String(value));
          return typeof value === 'bigint' ? Number(value) : value;
        });
        given.set(String(id), [...(given.get(String(id)) ?? []), JSON.stringify(row)]);
      }
      for (const [i, metadata] of METADATA.entries())
        expect(given.get(String(i)) ?? [], JSON.stringify(metadata)).to.have.members(
          rows(metadata).map((row) => JSON.stringify(row.map((value) => value ?? null))),
        );
    });
});
