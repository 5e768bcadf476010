import { allSources, type Source } from '../../ingest/index.ts';
import { attributeColumn, forClickHouse, type Translation } from '../caller-sql/index.ts';
import { type Answers, tablesOf, unionRows } from '../clickhouse/index.ts';
import type { Deadline } from '../deadline.ts';
import type { Rows, Store } from '../store/index.ts';
import type { Values } from './parameters.ts';
import {
  ALL_PROJECTS,
  ANY_PROJECT,
  PINNED_PROJECT,
  type SavedQuery,
  type Views,
} from './query-file.ts';

/** SQL of callers that ClickHouse is asked itself. */
export interface ForwardedSql {
  /** Null where it is not asked so: the statement needs more than it can be asked, or is refused there. Throws AppError. */
  ask(question: ForwardedQuestion): Promise<Rows | null>;
}

export interface ForwardedQuestion {
  readonly text: string;
  /** The tree of that text: it was checked. */
  readonly translation: Pick<Translation, 'columns' | 'limit' | 'offset'>;
  /** Whose rows it reads: those that its WHERE does not rule out. */
  readonly sources: readonly Source[];
  readonly query: SavedQuery;
  readonly views: Views;
  readonly values: Values;
  readonly deadline: Deadline;
}

export function createForwardedSql(
  { members }: Pick<Store, 'members'>,
  answers: Pick<Answers, 'ask'>,
): ForwardedSql {
  return {
    async ask({ text, translation, sources, query, views, values, deadline }) {
      const { union, unionThere: view } = query;
      if (!union || !view) return null;
      const { columns, limit, offset } = translation;
      const others = new Set([...views.keys(), ...allSources().flatMap(tablesOf)]);
      others.delete(union);
      const asked = { view: union, map: view.map, limit, offset, others };
      const statement = forClickHouse(text, asked);
      if (!statement) return null;
      // ClickHouse would plan the rows of all sources before it finds that it needs none of them.
      const read = [...members].filter(([source]) => sources.includes(source));
      const sets = new Map(read.length > 0 ? read : [...members].slice(0, 1));
      const rows = unionRows(view, sets, statement.attributes, (name) =>
        attributeColumn(view.map, name),
      );
      const project = values[PINNED_PROJECT] ?? values.project;
      return answers.ask(
        {
          sql: statement.over(rows),
          values,
          project: values[ANY_PROJECT] === 'true' ? ALL_PROJECTS : (project ?? ''),
          columns,
        },
        { maxRows: query.maxRows, deadline },
      );
    },
  };
}
