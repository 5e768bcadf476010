import type { Deadline } from '../deadline.ts';
import { isoUtc, microsOf, type Plain, type RowColumn, type Rows } from '../store/index.ts';
import {
  type Came,
  type EntryEngine,
  type Filter,
  type Follower,
  type FollowOptions,
  MOST_OF_A_LOOK,
} from './engine.ts';

const SOURCE: RowColumn = { name: 'source', kind: 'plain', type: 'VARCHAR' };
/** Where it stands in an entry of several sources: behind id and timestamp. */
const SOURCE_AT = 2;

/** The entries of a source that are newest, and of several the newest of all; these have their `source`, too. Newest first. */
export async function newestEntries(
  filters: readonly Filter[],
  limit: number,
  engine: Pick<EntryEngine, 'newest'>,
  deadline: Deadline,
): Promise<Rows> {
  let all: Rows | null = null;
  for (const filter of filters) {
    const rows = await engine.newest(sinceOldest(filter, all, limit), limit, deadline);
    if (filters.length === 1) return cut(rows, limit);
    all = cut(merged(all, withSource(rows, filter.source), 'timestamp'), limit);
  }
  if (all === null) throw new Error('BUG: a question that has no source');
  return all;
}

/** Once there are enough entries, others count only if they are as new: the next source need not be read farther back. */
function sinceOldest(filter: Filter, entries: Rows | null, limit: number): Filter {
  if (entries === null || entries.rows.length < limit) return filter;
  const oldest = momentOf(entries, 'timestamp')(entries.rows.at(-1) ?? []);
  if (oldest <= BigInt(filter.values.from_us ?? '0')) return filter;
  const bounds = { from: isoUtc(oldest), from_us: String(oldest) };
  return { ...filter, values: { ...filter.values, ...bounds } };
}

function cut(rows: Rows, limit: number): Rows {
  return {
    ...rows,
    rows: rows.rows.slice(0, limit),
    truncated: rows.truncated || rows.rows.length > limit,
  };
}

/** Follows what is stored in a source, or in several at once. */
export async function follow(
  filters: readonly Filter[],
  options: FollowOptions,
  engine: Pick<EntryEngine, 'follow'>,
): Promise<Follower> {
  const [only] = filters;
  if (only && filters.length === 1) return engine.follow(only, options);
  const stood = new Map(options.from.split(';').map((each) => splitAtEquals(each)));
  const followers: { readonly source: string; readonly follower: Follower; id: string }[] = [];
  for (const filter of filters) {
    const from = stood.get(filter.source) ?? '';
    const follower = await engine.follow(filter, { ...options, from });
    followers.push({ source: filter.source, follower, id: follower.id });
  }
  const standing = () => followers.map(({ source, id }) => `${source}=${id}`).join(';');
  return {
    id: standing(),
    everyMs: Math.max(...followers.map(({ follower }) => follower.everyMs)),
    async look() {
      let [entries, skipped, came]: [Rows | null, number, boolean] = [null, 0, false];
      for (const each of followers) {
        const news: Came | null = await each.follower.look();
        if (!news) continue;
        came = true;
        each.id = news.id;
        skipped += news.skipped;
        if (news.entries)
          entries = merged(entries, withSource(news.entries, each.source), 'ingested_at');
      }
      if (!came) return null;
      const more = Math.max(0, (entries?.rows.length ?? 0) - MOST_OF_A_LOOK);
      return {
        entries: entries && cut(entries, MOST_OF_A_LOOK),
        skipped: skipped + more,
        id: standing(),
      };
    },
  };
}

/** The sums of what several sources have counted of the same, such as of a bucket: those with most first. */
export function summed(counts: readonly (readonly [value: Plain, entries: number])[]) {
  const sums = new Map<Plain, number>();
  for (const [value, entries] of counts) sums.set(value, (sums.get(value) ?? 0) + entries);
  return [...sums].sort(
    ([valueA, a], [valueB, b]) => b - a || (String(valueA) < String(valueB) ? -1 : 1),
  );
}

/** Rows of one moment are in the order of their sources; those of one source stay in the order that the engine gave. */
function merged(first: Rows | null, second: Rows, newestBy: string): Rows {
  if (first === null) return second;
  const moment = momentOf(second, newestBy);
  const dated = [...first.rows, ...second.rows].map((row) => ({
    row,
    at: moment(row),
    source: String(row[SOURCE_AT]),
  }));
  dated.sort((a, b) => {
    if (a.at !== b.at) return a.at > b.at ? -1 : 1;
    return a.source === b.source ? 0 : a.source < b.source ? -1 : 1;
  });
  return {
    columns: second.columns,
    rows: dated.map(({ row }) => row),
    truncated: first.truncated || second.truncated,
  };
}

function momentOf({ columns }: Rows, name: string): (row: readonly Plain[]) => bigint {
  const at = columns.findIndex((column) => column.name === name);
  return (row) => microsOf(String(row[at]));
}

function withSource({ columns, rows, truncated }: Rows, source: string): Rows {
  return {
    columns: columns.toSpliced(SOURCE_AT, 0, SOURCE),
    rows: rows.map((row) => row.toSpliced(SOURCE_AT, 0, source)),
    truncated,
  };
}

function splitAtEquals(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}
