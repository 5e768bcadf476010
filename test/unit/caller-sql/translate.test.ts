import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqlRefused, translate, type View } from '../../../server/caller-sql/index.ts';
import { PARSE } from '../../../server/endpoints/caller-sql.ts';
import { withFolder, withStore } from '../../support/helpers.ts';

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

interface Case {
  readonly name: string;
  readonly sql: string;
  readonly expected: string;
}

/** The cases of translations.txt: `# name`, a caller's SQL, `->`, and what the engine is given, or `refused: ` and why. */
function cases(): Case[] {
  const text = readFileSync(join(import.meta.dirname, 'translations.txt'), 'utf8');
  return text
    .split(/^# /m)
    .slice(1)
    .map((block) => {
      const [name = '', ...lines] = block.trim().split('\n');
      const [sql = '', expected = ''] = lines.join('\n').split('\n->\n');
      return { name, sql, expected: joined(expected) };
    });
}

/** SQL is broken over lines for readers. */
function joined(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
}

describe("a caller's SQL, translated", () => {
  for (const { name, sql, expected } of cases())
    it(name, () =>
      withFolder((folder) =>
        withStore(folder, async (store) => {
          const parse = async (text: string) =>
            String((await store.query(PARSE, { text }, { maxRows: 1 })).rows[0]?.[0]);
          const scope = {
            dialect: 'bigquery',
            views: new Map([['logs', LOGS]]),
            parameters: new Map(),
            maxRows: 10,
          } as const;
          const given = await translate(sql, scope, parse).then(
            (translation) => translation.sql,
            (error) => {
              if (!(error instanceof SqlRefused)) throw error;
              return `refused: ${error.message}`;
            },
          );
          expect(given).to.equal(expected);
        }),
      ),
    );
});
