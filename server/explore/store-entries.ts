import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { Source } from '../../ingest/index.ts';
import type { Deadline } from '../deadline.ts';
import { createNewest, type NewestQuestion, oldestOf } from '../endpoints/newest-rows.ts';
import { AppError } from '../errors.ts';
import type { SearchWords } from '../search/condition.ts';
import {
  type MemberSet,
  microsOf,
  type RowColumn,
  type Rows,
  type Store,
  URL_OF_ROW,
} from '../store/index.ts';
import {
  between,
  type Came,
  COLUMNS,
  ENTRY,
  type EntryEngine,
  type Filter,
  MAX_BYTES,
  MOST_OF_A_LOOK,
  type Relation,
  TIES,
  type Words,
} from './engine.ts';
import { memberRows } from './member-rows.ts';

/** How often it is looked whether something was stored. */
const LOOK_MS = 250;
/** A client that was away for longer gets no more than this, microseconds. */
const BACK_US = 3_600_000_000n;

/** As JSON writes a number: the engine reads others, too, such as _1 and Infinity. */
const JSON_NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;

const WORDS: Words = {
  text: (name) => `$${name}::varchar`,
  moment: (name) => `make_timestamp($${name}::bigint)`,
  micros: (moment) => `epoch_us(${moment})`,
  earliest: (moment) => `min(${moment})`,
  // A regular expression takes 0.6 of the time that it takes to write all texts in small letters.
  hasSought: (text) => `regexp_matches(${text}::varchar, regexp_escape($search::varchar), 'i')`,
  bucket: `time_bucket(to_microseconds($step_us::bigint), timestamp, timestamp '1970-01-01')`,
  hash: 'hash(id, event_message, metadata::varchar)',
  size: ', strlen(event_message) + coalesce(strlen(metadata::varchar), 0) + 128 as bytes',
};

type Asked = Pick<
  Store,
  'entryPool' | 'span' | 'query' | 'commits' | 'mayHave' | 'exportParquet' | 'members'
>;

/** `set`: the members of the source that have columns. */
function relationOf(source: Source, set: MemberSet | undefined): Relation {
  const { member, orElse, from } = memberRows(source, set);
  const search: SearchWords = {
    member: (path) => member(path).text,
    // The member is taken out of the JSON as often as it stands here, so the first condition that is told ends the look.
    some(path, test, otherwise) {
      const { text, isArray } = member(path);
      const own = test(text);
      const orText = otherwise === null ? own : `coalesce(${own}, ${orElse(path, otherwise)})`;
      return `(case when ${orText} then true
        when ${isArray} and json_valid(${text})
        then len(list_filter(json_extract_string(${text}, '$[*]'), lambda each: ${test('each')})) > 0
        else false end)`;
    },
    hasOne: (text, parts) =>
      `(${parts.map((part) => `contains(${text}::varchar, '${part}')`).join(' or ')})`,
    matches: (text, parameter) => `regexp_matches(${text}::varchar, $${parameter}::varchar)`,
    equals: (text, parameter) => `${text} = $${parameter}::varchar`,
    compares: (text, comparison, parameter) =>
      `(case when try_cast(${text} as double) ${comparison} $${parameter}::double then regexp_full_match(${text}, '${JSON_NUMBER}') end)`,
    asText: (number) => `${number}::varchar`,
    url: `(${URL_OF_ROW})`,
  };
  return { search, from };
}

/** The entries that are in the store. */
export function storeEntries(store: Asked): EntryEngine {
  const newest = createNewest(store);
  // Requests for one project share the limits of one owner, and so do requests for all projects.
  const ask: EntryEngine['ask'] = (sql, _columns, values, options) =>
    store.entryPool.query(sql, values, { ...options, owner: values.project ?? '' });
  return {
    words: WORDS,
    relation: (source) => relationOf(source, store.members.get(source)),
    ask,
    mayHave: store.mayHave,
    newest({ source, relation, where, values }, limit, deadline) {
      const sql = `select ${COLUMNS}${WORDS.size}
        from ${relation.from()}
        where ${where}
          and ${between(WORDS)}
          and timestamp >= $newest_from::timestamp
        order by ${source}.timestamp desc, ${TIES}
        limit ${limit + 1}`;
      const question: NewestQuestion = {
        sources: [source],
        rows: limit + 1,
        sql,
        oldest: oldestOf(sql),
        reads: values.search === null && values.q === null ? 'little' : 'rows',
        windows: { from: 'from', until: 'to' },
        alsoBounds: ['from_us', 'to_us'],
      };
      const limits = { maxRows: limit + 1, deadline };
      return newest(
        question,
        values,
        (text, bound) =>
          ask(
            text,
            ENTRY,
            { ...values, ...bound },
            text === sql ? { ...limits, maxBytes: MAX_BYTES } : limits,
          ),
        deadline,
      );
    },
    async parquet({ relation, where, values }, signal) {
      const { path, rows } = await store.exportParquet(
        `select ${COLUMNS} from ${relation.from()} where ${where} and ${between(WORDS)}`,
        values,
        signal,
      );
      const close = () => rm(path, { force: true });
      try {
        return { rows, bytes: (await stat(path)).size, file: createReadStream(path), close };
      } catch (error) {
        await close();
        throw error;
      }
    },
    async follow(filter, { from, pinned, deadline }) {
      const last = await lastStoredOf(filter, store, deadline);
      const after = /^\d{1,18}$/.test(from) ? BigInt(from) : null;
      let seen =
        after === null || after > last ? last : last - after > BACK_US ? last - BACK_US : after;
      let commits = -1;
      return {
        // When the last entry of any project was stored is not for a pinned token.
        id: pinned ? await lastOwn(filter, seen, ask, deadline) : String(seen),
        everyMs: LOOK_MS,
        async look() {
          const { visible, storedUs } = store.commits();
          if (visible === commits) return null;
          commits = visible;
          const ofLook = deadline.renewed();
          const until = storedUs || (await lastStoredOf(filter, store, ofLook));
          // The clock was set back: what was stored before has later moments.
          if (until < seen) seen = until - 1n;
          if (until === seen) return null;
          const came = await storedBetween(filter, { seen, until }, ask, ofLook);
          seen = until;
          return came;
        },
      };
    },
  };
}

const COUNTED: readonly RowColumn[] = [];

async function storedBetween(
  { relation, where, values }: Filter,
  { seen, until }: { readonly seen: bigint; readonly until: bigint },
  ask: EntryEngine['ask'],
  deadline: Deadline,
): Promise<Came | null> {
  const from = `from ${relation.from()}
    where ${where} and ingested_at > ${WORDS.moment('seen')} and ingested_at <= ${WORDS.moment('until')}`;
  const bounds = { ...values, seen: String(seen), until: String(until) };
  const entries = await unlessTooLarge(
    ask(
      `select ${COLUMNS}${WORDS.size} ${from} order by ingested_at desc, timestamp desc, ${TIES} limit ${MOST_OF_A_LOOK + 1}`,
      ENTRY,
      bounds,
      { maxRows: MOST_OF_A_LOOK, maxBytes: MAX_BYTES, deadline },
    ),
  );
  if (entries && !entries.truncated) {
    const last = lastOf(entries);
    return last === null ? null : { entries, skipped: 0, id: String(last) };
  }
  const { rows } = await ask(
    `select count(*), ${WORDS.micros('max(ingested_at)')} ${from}`,
    COUNTED,
    bounds,
    { maxRows: 1, deadline },
  );
  const [count, last] = rows[0] ?? [];
  return {
    entries,
    skipped: Number(count) - (entries?.rows.length ?? 0),
    id: String(last ?? until),
  };
}

/** When the newest of the entries was stored, which come newest first; null without any. A client need not be told of others. */
function lastOf({ columns, rows }: Rows): bigint | null {
  const stored = rows[0]?.[columns.findIndex(({ name }) => name === 'ingested_at')];
  return stored === undefined ? null : microsOf(String(stored));
}

/** What comes of a question; null where it is too large to be put together. */
export async function unlessTooLarge(question: Promise<Rows>): Promise<Rows | null> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof AppError && error.code === 'RESULT_TOO_LARGE') return null;
    throw error;
  }
}

/** When the last entry of the filter's own project was stored, as far as any was seen. */
async function lastOwn(
  { source, values }: Filter,
  seen: bigint,
  ask: EntryEngine['ask'],
  deadline: Deadline,
): Promise<string> {
  const { rows } = await ask(
    `select coalesce(${WORDS.micros('max(ingested_at)')}, 0) from ${source}
      where project = ${WORDS.text('project')} and ingested_at <= ${WORDS.moment('seen')}`,
    COUNTED,
    { project: values.project ?? null, seen: String(seen) },
    { maxRows: 1, deadline },
  );
  return String(rows[0]?.[0] ?? 0);
}

async function lastStoredOf(
  { source }: Filter,
  store: Pick<Store, 'query'>,
  deadline: Deadline,
): Promise<bigint> {
  const { rows } = await store.query(
    `select coalesce(epoch_us(max(ingested_at)), 0) from ${source}`,
    {},
    { maxRows: 1, deadline },
  );
  return BigInt(rows[0]?.[0] as bigint);
}
