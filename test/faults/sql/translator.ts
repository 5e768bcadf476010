import { join } from 'node:path';
import { SqlRefused, translate } from '../../../server/caller-sql/index.ts';
import { ROOT } from '../../../server/config/package-root.ts';
import { parseCallerSql } from '../../../server/endpoints/caller-sql.ts';
import { loadEndpoints } from '../../../server/endpoints/registry.ts';
import { EngineError } from '../../../server/store/index.ts';
import { type TestStore, withFolder, withStore } from '../../support/helpers.ts';
import { parserOf } from '../../support/parser.ts';
import type { Dialect } from './attacks.ts';

/** A statement that `translate` refuses, or one that it gives to the engine. */
export type Translated = Refusal | Accepted;

export interface Refusal {
  /** The sentence that the caller reads, with the place in his statement. */
  readonly refused: string;
  /** Says why the sentence is no clear refusal; null where it is one. */
  readonly unclear: string | null;
}

export interface Accepted {
  readonly refused: null;
  /** Equal for statements of which the engine is asked the same. */
  readonly key: string;
}

/** Gives a statement to `translate` as the endpoint logs.all does. Throws any error of it but a refusal. */
export type Translator = (sql: string, dialect: Dialect) => Promise<Translated>;

/** These sentences are about a whole statement or a clause. Any other has a place, or the name that is at fault. */
const OF_ALL =
  /^(?:Only one statement|Only SELECT is allowed|There is no statement|SQL may have|The statement |A number in the statement|A query may have|(?:FROM|LIMIT|ORDER BY) takes|Of set operations|This is not supported in a caller's SQL \([a-z ]+\))/;
const NAME = /"[^"]+"/;

/** Only the engine says this, or has tables of these names. */
const INSIDES =
  /\b(?:Parser|Binder|Catalog|Conversion|Invalid Input|Out of Range|IO|INTERNAL|Permission|Not implemented|Serialization) Error|\bDid you mean|\bCandidate|\bLINE \d+:|duckdb|json_serialize|\.ts:\d|node_modules/i;

/** Runs `action` with the translator of an empty store in this process. What it refuses needs no service to be tested. */
export function withTranslator(
  action: (translator: Translator, store: TestStore) => Promise<void>,
): Promise<void> {
  return withFolder((data) =>
    withStore(data, async (store) => {
      const endpoints = await loadEndpoints([join(ROOT, 'sql', 'endpoints')], store);
      const query = endpoints.find('logs.all');
      if (!query) throw new Error('BUG: there is no endpoint logs.all');
      const parameters: ReadonlyMap<string, 'text' | 'timestamp'> = new Map(
        query.parameters.map(({ name, type }) => [name, type === 'timestamp' ? type : 'text']),
      );
      // The service tries this reach first.
      const scope = { parameters, maxRows: query.maxRows, reach: 'columns' } as const;
      const views = await query.views();
      const parse = parserOf(store);
      await action(async (sql, dialect) => {
        const asked = parseCallerSql(new URLSearchParams({ sql, dialect }), query);
        if (!asked) return { refused: null, key: 'the saved query' };
        try {
          const {
            sql: statement,
            newest,
            offset,
            maps,
          } = await translate(asked.text, { ...scope, views, dialect }, parse);
          return { refused: null, key: JSON.stringify([statement, newest, offset, maps]) };
        } catch (error) {
          // The engine's own parser gave up: the service must make an answer of that.
          if (error instanceof EngineError) return { refused: null, key: `${dialect}: ${sql}` };
          if (!(error instanceof SqlRefused)) throw error;
          return refusal(error, asked.text);
        }
      }, store);
    }),
  );
}

function refusal(error: SqlRefused, text: string): Refusal {
  const { at, message } = error;
  const refused = error.sentence(text);
  const isClear =
    at === null ? OF_ALL.test(message) || NAME.test(message) : at >= 0 && at <= text.length;
  if (!isClear) return { refused, unclear: `names nothing: ${refused}` };
  return {
    refused,
    unclear: tellsInsides(refused, text) ? `tells of the engine: ${refused}` : null,
  };
}

/** Tells whether a text says what only the engine says. It may repeat words of the caller's own. */
export function tellsInsides(text: string, sql: string): boolean {
  if (!INSIDES.test(text)) return false;
  const words = sql.match(/[A-Za-z_]\w{3,}/g) ?? [];
  const rest = words.reduce((left, word) => left.replaceAll(new RegExp(word, 'gi'), ''), text);
  return INSIDES.test(rest);
}
