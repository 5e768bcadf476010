import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSource, type Source } from '../../ingest/index.ts';
import type { FetchedView, Reads, Translation } from '../caller-sql/index.ts';
import type { Answers, Counted, Filled, Narrow } from '../clickhouse/index.ts';
import type { Deadline } from '../deadline.ts';
import { boundsOn } from '../records/bounds.ts';
import type { Path, Shape } from '../records/shapes.ts';
import { columnOf, filledFrom, type MemberSet, type Store, shipped } from '../store/index.ts';
import type { Values } from './parameters.ts';
import {
  ANY_PROJECT,
  NEWEST_FROM,
  PINNED_PROJECT,
  type SavedQuery,
  type Views,
} from './query-file.ts';
import type { FetchedNames } from './views.ts';

/** Rows of sources that are fetched from where they were forwarded to, for one question. */
export interface FetchedRows {
  /** Fetches what the statement reads of the rows that its views may give, and runs `ask` with the statement over them. */
  over<T>(question: Fetching, ask: (sql: string) => Promise<T>): Promise<T>;
  /**
   * The same for a question of the newest rows of one source: over some of the newest, and over more, until an answer is enough. Null where
   * none is.
   */
  overNewest<T>(
    question: Fetching,
    ask: (sql: string) => Promise<T>,
    isEnough: (answer: T) => boolean,
  ): Promise<T | null>;
  /**
   * The same for a statement that takes rows which stand for several: rows between which it does not tell are counted where they are. Null
   * where it tells between too many: by their timestamps.
   */
  overCounted<T>(question: Fetching, ask: (sql: string) => Promise<T>): Promise<T | null>;
}

/** What the rows are fetched for. */
export interface Fetching {
  readonly translation: Pick<Translation, 'sql' | 'reads'>;
  readonly query: SavedQuery;
  readonly views: Views;
  readonly values: Values;
  readonly deadline: Deadline;
}

/** So many of the newest rows are fetched first, where the newest are asked for. */
const NEWEST = [2000, 20_000];

/** Is in names that nobody who writes SQL knows. */
const ID = randomUUID().replaceAll('-', '');
const MARK = `fetched_${ID}_`;
const NAME = new RegExp(`"?${MARK}([a-z][a-z0-9_]*)"?`, 'g');

/** What stands for the tables of sources until their rows are fetched. */
export const FETCHED: FetchedNames = {
  table: (source) => `${MARK}${source}`,
  times: `times_${ID}`,
};

/** The columns of a source's table, and their types. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: 'varchar',
  timestamp: 'timestamp',
  project: 'varchar',
  severity: 'varchar',
  status: 'smallint',
  event_message: 'varchar',
  metadata: 'json',
  ingested_at: 'timestamp',
};
const REQUEST_COLUMNS: typeof COLUMNS = { path: 'varchar', url: 'varchar', host: 'varchar' };

type Readers = Pick<Store, 'staging' | 'callerPool' | 'members'>;

export function createFetchedRows(
  { staging, callerPool, members }: Readers,
  answers: Pick<Answers, 'fetch' | 'newest'>,
): FetchedRows {
  const setOf = (source: Source): MemberSet => {
    const set = members.get(source);
    if (!set) throw new Error(`BUG: the members of ${source} are not known`);
    return set;
  };
  const wantedBy = (fetching: Fetching, counted: Counted | null) =>
    wantedOf(fetching, counted, setOf);
  const over = async <T>(
    { translation, deadline }: Fetching,
    wanted: ReadonlyMap<Source, Narrow>,
    bounds: ReturnType<typeof boundsOf>,
    ask: (sql: string) => Promise<T>,
  ): Promise<T> => {
    const files = new Map<Source, string>();
    try {
      // One after the other: each may be as large as there is memory for.
      for (const [source, narrow] of wanted) {
        const path = join(staging, `fetched-${randomUUID()}.parquet`);
        files.set(source, path);
        await answers.fetch({ source, ...bounds, narrow }, path, deadline);
      }
      const place = (source: Source) => {
        const narrow = wanted.get(source);
        if (!narrow) throw new Error(`BUG: rows of ${source} were not fetched`);
        return placed(setOf(source), narrow, files.get(source) ?? '');
      };
      return await ask(translation.sql.replaceAll(NAME, (_, source: Source) => place(source)));
    } finally {
      for (const path of files.values()) await rm(path, { force: true });
    }
  };
  /** The constants that a source's timestamps are compared with, µs since the epoch. Null without a way to know. */
  const momentsOf = async ({ translation, views, values, deadline }: Fetching) => {
    const [reads, ...others] = translation.reads;
    const fetched = reads && views.get(reads.view)?.fetched;
    if (!reads || !fetched || others.length > 0 || fetched.moments === null) return null;
    const timestamps = [...fetched.columns].filter(([, column]) => column === 'timestamp');
    const names = timestamps.map(([name]) => name);
    const isNamed = names.some((name) => reads.columns.has(name));
    const read = names.flatMap((name) => reads.moments.get(name) ?? []);
    if (isNamed && (read.length === 0 || names.length > 1)) return null;
    const [{ unit, constants } = { unit: null, constants: [] }] = read;
    const asked = [
      ...(fetched.moments === '' ? [] : [fetched.moments]),
      ...(constants.length === 0 ? [] : [`select ${constants.join(', ')}`]),
    ];
    const moments: bigint[] = [];
    for (const sql of asked) {
      const given = `select epoch_us(columns(*)) from (${sql})`;
      const bound = { ...values, [NEWEST_FROM]: EPOCH };
      const { rows } = await callerPool.query(given, bound, { maxRows: 1, deadline });
      for (const moment of rows[0] ?? []) if (typeof moment === 'bigint') moments.push(moment);
    }
    return { unit, moments };
  };
  return {
    over: (question, ask) => over(question, wantedBy(question, null), boundsOf(question), ask),
    async overNewest(question, ask, isEnough) {
      const [bounds, wanted] = [boundsOf(question), wantedBy(question, null)];
      const [entry] = wanted;
      if (!entry) throw new Error('BUG: no source is asked');
      const [source, narrow] = entry;
      for (const count of NEWEST) {
        const { from, rows } = await answers.newest(
          { source, ...bounds, narrow },
          count,
          question.deadline,
        );
        // These are all there are.
        if (rows < count) return over(question, wanted, bounds, ask);
        // With those that have the timestamp of the last, so that no older row comes before any.
        const answer = await over(question, wanted, { ...bounds, from }, ask);
        if (isEnough(answer)) return answer;
      }
      return null;
    },
    async overCounted(question, ask) {
      const counted = await momentsOf(question);
      return counted && over(question, wantedBy(question, counted), boundsOf(question), ask);
    },
  };
}

const EPOCH = new Date(0).toISOString();

/** What of each source's rows a statement reads. */
function wantedOf(
  { translation, views }: Fetching,
  counted: Counted | null,
  setOf: (source: Source) => MemberSet,
): Map<Source, Narrow> {
  const wanted = new Map<Source, Narrow>();
  for (const reads of translation.reads) {
    const view = views.get(reads.view);
    for (const source of (view?.tables ?? []).filter(isSource)) {
      const narrow = narrowOf(reads, setOf(source), view?.fetched, counted);
      const other = wanted.get(source);
      wanted.set(source, other ? both(other, narrow) : narrow);
    }
  }
  return wanted;
}

function narrowOf(
  { columns, members, inColumns, texts, bounds }: Reads,
  set: MemberSet,
  fetched: FetchedView | undefined,
  counted: Counted | null,
): Narrow {
  const { source } = set;
  const all = Object.keys(columnsOf(source));
  if (!fetched) return wholeRows(all, counted);
  const own = (name: string) => fetched.columns.get(name) ?? '';
  const read = new Set([...fetched.filter, ...[...columns].map(own)]);
  const shapes = [...columns].flatMap((name) =>
    own(name) === 'metadata' ? [members.get(name) ?? null] : [],
  );
  const [shape = null, ...more] = fetched.filter.has('metadata') ? [null] : shapes;
  const cut = more.length > 0 ? null : shape;
  const areFilled = [...inColumns].some((name) => own(name) === 'metadata');
  const filled = cut && areFilled ? filledOf(set, cut) : null;
  return {
    columns: new Set(all.filter((name) => read.has(name))),
    members: cut,
    filled,
    bounds: boundsOn(bounds, ({ of, path }) =>
      own(of) === 'metadata' ? filled?.columns.find((each) => each === columnOf(path)) : undefined,
    ),
    texts: texts.flatMap(({ column, text }) =>
      ['varchar', 'json'].includes(columnsOf(source)[own(column)] ?? '')
        ? [{ column: own(column), text }]
        : [],
    ),
    counted,
  };
}

function wholeRows(columns: readonly string[], counted: Counted | null): Narrow {
  return {
    columns: new Set(columns),
    members: null,
    filled: null,
    texts: [],
    bounds: undefined,
    counted,
  };
}

/** The columns of members, of a set. One has the value of a key with dashes, too, which so has no column of its own. */
function filledOf(set: MemberSet, members: Shape<null>): Filled {
  const known = new Set(set.members.map(columnOf));
  return {
    set: set.name,
    from: filledFrom(shipped(set)),
    columns: pathsIn(members)
      .map(columnOf)
      .filter((column) => known.has(column)),
  };
}

function pathsIn(shape: Shape<null>): Path[] {
  return [...shape].flatMap(([name, below]) =>
    below === null ? [[name]] : pathsIn(below).map((path) => [name, ...path]),
  );
}

/** What two parts of a statement read. */
function both(left: Narrow, right: Narrow): Narrow {
  const isRead = ({ columns }: Narrow) => columns.has('metadata');
  const members = !isRead(left)
    ? right.members
    : !isRead(right)
      ? left.members
      : left.members && right.members && merged(left.members, right.members);
  const filled = !isRead(left)
    ? right.filled
    : !isRead(right)
      ? left.filled
      : left.filled &&
        right.filled && {
          ...left.filled,
          columns: [...new Set([...left.filled.columns, ...right.filled.columns])],
        };
  return {
    columns: new Set([...left.columns, ...right.columns]),
    members,
    filled,
    // What one leaves out the other may read.
    texts: [],
    bounds: undefined,
    counted: left.counted,
  };
}

function merged(left: Shape<null>, right: Shape<null>): Shape<null> {
  const shape = new Map(left);
  for (const [name, below] of right) {
    const other = shape.get(name);
    shape.set(name, other && below ? merged(other, below) : other === undefined ? below : null);
  }
  return shape;
}

function columnsOf(source: Source): typeof COLUMNS {
  return source === 'edge_logs' ? { ...COLUMNS, ...REQUEST_COLUMNS } : COLUMNS;
}

/** The rows of a file as the table has them; NULL for what was not fetched. */
function placed(
  { source, members }: MemberSet,
  { columns, filled, counted }: Narrow,
  path: string,
): string {
  const value = (name: string, type: string, isThere: boolean) =>
    `${isThere ? `"c_${name}"` : 'null'}::${type} as "${name}"`;
  const list = [
    ...Object.entries(columnsOf(source)).map(([name, type]) =>
      value(name, type, columns.has(name)),
    ),
    ...members
      .map(columnOf)
      .map((name) => value(name, 'json', filled?.columns.includes(name) ?? false)),
    `${filled ? 'c_member_state' : '0'}::bigint as member_state`,
  ];
  return `(
    select ${list.join(', ')}, ${counted ? 'c_times' : '1'}::bigint as ${FETCHED.times}
    from read_parquet('${path.replaceAll("'", "''")}')
  )`;
}

/** What of the rows can be left out before they are fetched: the views leave out the rest. */
function boundsOf({ query: { parameters, windows }, values }: Fetching) {
  const project = parameters.find(({ name }) => name === 'project');
  const isText = project?.type === 'string' && values[ANY_PROJECT] !== 'true';
  return {
    project: values[PINNED_PROJECT] ?? (isText ? (values.project ?? null) : null),
    from: windows ? (values[windows.from] ?? null) : null,
    until: windows ? (values[windows.until] ?? null) : null,
  };
}
