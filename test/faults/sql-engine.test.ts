import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { TestStore } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { type Translator, withTranslator } from './sql/translator.ts';

/**
 * What the engine knew when the list of what is allowed was made, a name a line: its version, functions, keywords and types. A
 * name of a function is followed by `allowed` where SQL of a caller may call it. After an upgrade of the engine each name that
 * is new must be judged: TAILPOND_TEST_JUDGED=1 writes the file anew, and what has changed is read in its diff.
 */
const JUDGED = new URL('fixtures/judged.txt', import.meta.url);

describe("callers' SQL: the engine", () => {
  faultCase('S17', 'each function, keyword and type of the engine was judged', () =>
    withTranslator(async (translated, store) => {
      const { known, functions } = await engine(store);
      const allowed = await allowedOf(functions, translated);
      const lines = known.map((line) => (allowed.has(line) ? `${line} allowed` : line));
      const text = `${lines.join('\n')}\n`;
      if (process.env.TAILPOND_TEST_JUDGED) writeFileSync(JUDGED, text);
      const judged = readFileSync(JUDGED, 'utf8').split('\n');
      expect(text.split('\n').filter((line) => !judged.includes(line))).to.deep.equal([]);
      expect(judged.filter((line) => !text.split('\n').includes(line))).to.deep.equal([]);
    }),
  );
});

async function engine(store: TestStore) {
  const names = async (sql: string) => {
    const { rows } = await store.query(sql, {}, { maxRows: 100_000 });
    return rows.map(([name]) => String(name));
  };
  const functions = await names('select distinct function_name from duckdb_functions() order by 1');
  return {
    functions,
    known: [
      ...(await names('select version()')),
      ...functions.map((name) => `function ${name}`),
      ...(await names("select 'keyword ' || keyword_name from duckdb_keywords() order by 1")),
      ...(await names("select distinct 'type ' || type_name from duckdb_types() order by 1")),
    ],
  };
}

/** The functions that SQL of a caller may call: the others are not there, to him. */
async function allowedOf(
  functions: readonly string[],
  translated: Translator,
): Promise<ReadonlySet<string>> {
  const allowed = new Set<string>();
  for (const name of functions) {
    if (!/^[A-Za-z_]\w*$/.test(name)) continue;
    const { refused } = await translated(
      `select ${name}(id) as x from edge_logs limit 1`,
      'duckdb',
    );
    if (!refused?.includes(`There is no function ${name.toUpperCase()} here`))
      allowed.add(`function ${name}`);
  }
  return allowed;
}
