import type { Source } from '../../ingest/index.ts';
import { as, isUnreadable } from '../clickhouse/expressions.ts';
import type { Answers } from '../clickhouse/index.ts';
import type { Deadline } from '../deadline.ts';
import type { Values } from '../endpoints/parameters.ts';
import type { SearchWords } from '../search/condition.ts';
import { dashedPath, joinedPaths, joints } from '../search/fields.ts';
import { microsOf, type RowColumn } from '../store/index.ts';
import {
  between,
  COLUMNS,
  ENTRY,
  type EntryEngine,
  type Filter,
  type Follower,
  type FollowOptions,
  MAX_BYTES,
  MOST_OF_A_LOOK,
  TIES,
  type Words,
} from './engine.ts';
import { unlessTooLarge } from './store-entries.ts';

/** How often it is asked what has come, by each client that follows. */
const LOOK_MS = 1000;
/**
 * Whoever follows sees a row that comes within this time of when its node stored it, microseconds. ClickHouse passes over the parts that
 * have none so new, and so reads little.
 */
const LATEST_US = 600_000_000n;

/** A pinned follower that had no entry yet goes on from so long before its beginning: by then an entry is here, as a rule. */
const SHIPMENT_MS = 10_000;

const MICROS = 'toUnixTimestamp64Micro';

/** As JSON writes a number; backslashes are doubled in a literal. */
const JSON_NUMBER = String.raw`^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?$`;

const WORDS: Words = {
  text: (name) => `{${name}:Nullable(String)}`,
  moment: (name) => `fromUnixTimestamp64Micro({${name}:Int64}, 'UTC')`,
  micros: (moment) => `${MICROS}(${moment})`,
  earliest: (moment) => `minOrNull(${moment})`,
  hasSought: (text) => `match(${text}, {sought:Nullable(String)})`,
  bucket: `fromUnixTimestamp64Micro(${MICROS}(timestamp) - positiveModulo(${MICROS}(timestamp), {step_us:Int64}), 'UTC')`,
  hash: `cityHash64(id, event_message, ifNull(metadata, ''))`,
  size: '',
};

const tableOf = (source: Source) => `{${source}:Identifier}`;

const SEARCH: SearchWords = {
  member: memberOf,
  some(path, test, otherwise) {
    const member = memberOf(path);
    const array = `startsWith(ifNull(own, ''), '[')`;
    const own = as('own', member, `(${test('own')} or ${array} and ${elementsMeet(test)})`);
    const orText = otherwise === null ? own : `${own} or (${member} is null and ${otherwise})`;
    return `ifNull(${orText}, false)`;
  },
  hasOne: (text, parts) => `multiSearchAny(${text}, [${parts.map(quoted).join(', ')}])`,
  matches: (text, parameter) => `match(${text}, {${parameter}:String})`,
  equals: (text, parameter) => `${text} = {${parameter}:String}`,
  compares: (text, comparison, parameter) =>
    `(toFloat64OrNull(${text}) ${comparison} toFloat64({${parameter}:String}) and match(${text}, '${JSON_NUMBER}'))`,
  asText: (number) => `toString(${number})`,
  url: 'url',
};

/** The entries of all nodes, where they are forwarded to. */
export function clickhouseEntries(answers: Pick<Answers, 'select' | 'parquet'>): EntryEngine {
  const ask: EntryEngine['ask'] = (sql, columns, values, options) =>
    answers.select({ sql, columns }, { ...values, sought: soughtBy(values.search) }, options);
  return {
    words: WORDS,
    relation: (source) => ({ search: SEARCH, from: () => tableOf(source) }),
    ask,
    mayHave: async () => null,
    newest: ({ source, where, values }, limit, deadline) =>
      ask(
        `select ${COLUMNS}
          from ${tableOf(source)}
          where ${where} and ${between(WORDS)}
          order by timestamp desc, ${TIES}
          limit ${limit + 1}`,
        ENTRY,
        values,
        { maxRows: limit + 1, maxBytes: MAX_BYTES, deadline },
      ),
    async parquet({ source, where, values }, signal) {
      const { rows, file } = await answers.parquet(
        `select ${COLUMNS} from ${tableOf(source)} where ${where} and ${between(WORDS)}`,
        { ...values, sought: soughtBy(values.search) },
        signal,
      );
      return { rows, bytes: null, file, close: async () => void file.destroy() };
    },
    follow: (filter, options) => followShipments(filter, options, ask),
  };
}

/** The member of metadata that these names lead to, through records that are objects or the first of an array, as text. */
function memberOf(path: readonly string[]): string {
  const joined = joinedPaths(path);
  const hasJoined = joints(path)
    .map((joint) => `position(json, ${quoted(joint)}) > 0`)
    .join(' or ');
  const twin = dashedPath(path);
  const found = [
    nestedOf(path),
    ...(twin === null
      ? []
      : [`if(position(json, ${quoted(`"${twin.at(-1)}"`)}) > 0, ${nestedOf(twin)}, null)`]),
    ...(joined.length === 0
      ? []
      : [`if(${hasJoined}, coalesce(${joined.map(nestedOf).join(', ')}, null), null)`]),
  ];
  return as(
    'json',
    "ifNull(metadata, '')",
    as('json', READABLE, found.length === 1 ? found.join('') : `coalesce(${found.join(', ')})`),
  );
}

/** The member below `json` of exactly these names. */
function nestedOf(path: readonly string[]): string {
  const last = path.length - 1;
  const below = (record: string, depth: number): string => {
    const [own, name] = [`m${depth}`, quoted(path[depth] ?? '')];
    const raw = `JSONExtractRaw(${own}, ${name})`;
    const found =
      depth < last ? below(raw, depth + 1) : `if(${raw} in ('', 'null'), null, ${textOf(raw)})`;
    const single = `if(startsWith(${record}, '['), JSONExtractRaw(${record}, 1), ${record})`;
    return as(own, single, found);
  };
  return below('json', 0);
}

/** Tells whether an element of the array `own` meets a test. */
function elementsMeet(test: (text: string) => string): string {
  const elements = as('json', "ifNull(own, '')", `JSONExtractArrayRaw(${READABLE})`);
  return `arrayExists(raw -> ${as('each', textOf('raw'), `ifNull(${test('each')}, 0)`)}, ${elements})`;
}

/** The text of a value of MARKED as it is shown. */
function textOf(raw: string): string {
  return `if(startsWith(${raw}, '"'), ${unmarked(`JSONExtractString(${raw})`, '^')}, ${unmarked(raw, '"', '"')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A text that no log has, before a number that is made a text. */
const NUMBER_MARK = '\ufdd0';
/** The strings of JSON, and what is between these. */
const STRING_OR_NOT = String.raw`"(?s:[^"\\\\]|\\\\.)*"|[^"]+`;
const NUMBER = String.raw`-?(?:\\d[\\d.eE+-]*|Infinity|NaN)`;
/** `json` with its numbers as texts: ClickHouse reads nothing of it where it has no type for one of them. */
const MARKED = `arrayStringConcat(arrayMap(part -> if(startsWith(part, '"'), part, replaceRegexpAll(part, '${NUMBER}', '"${NUMBER_MARK}\\\\0"')), extractAll(json, '${STRING_OR_NOT}')))`;

const READABLE = `if(${isUnreadable('json')}, ${MARKED}, json)`;

/** A text with the numbers of MARKED as they were. */
function unmarked(text: string, before: string, after = ''): string {
  return `replaceRegexpAll(${text}, '${before}${NUMBER_MARK}([^"]*)${after}', '\\\\1')`;
}

/** The regular expression for a text in any letter case. */
function soughtBy(search: string | null | undefined): string | null {
  if (search === null || search === undefined) return null;
  return `(?i)${search.replaceAll(/[^\w\u0080-\uffff]/g, (sign) => (sign === '\0' ? '\\x00' : `\\${sign}`))}`;
}

const SHIPMENTS: readonly RowColumn[] = [
  { name: 'node', kind: 'plain', type: 'VARCHAR' },
  { name: 'seq', kind: 'plain', type: 'UBIGINT' },
  { name: 'entries', kind: 'plain', type: 'UBIGINT' },
];
/** The number of the last shipment that was seen of each node. */
const OF_SHIPMENTS = /^shipments((?: [\da-f-]{36}:\d{1,18})*)$/;
/** When the last entry was stored, microseconds since the epoch. */
const OF_ENTRY = /^\d{1,18}$/;

/**
 * Follows shipments: rows come in the order of their numbers from each node, whatever the nodes' clocks and timestamps say. Numbers tell how
 * often a node had rows of any project, so a pinned follower stands at the moment of its last entry.
 */
async function followShipments(
  { source, where, values }: Filter,
  { from, pinned, deadline }: FollowOptions,
  ask: EntryEngine['ask'],
): Promise<Follower> {
  const table = tableOf(source);
  const lately = () => BigInt(Date.now()) * 1000n - LATEST_US;
  /** The last shipment of each node among the entries of the last minutes, and how many these are. */
  const shipments = async (condition: string, bounds: Values, own: Deadline) => {
    const { rows } = await ask(
      `select _node as node, max(_seq) as seq, count() as entries
        from ${table}
        where ${where} and ingested_at > ${WORDS.moment('since_us')} and ${condition}
        group by node`,
      SHIPMENTS,
      { ...values, ...bounds },
      { maxRows: Number.POSITIVE_INFINITY, deadline: own },
    );
    return {
      last: new Map(rows.map(([node, seq]) => [String(node), String(seq)])),
      entries: rows.reduce((sum, [, , entries]) => sum + Number(entries), 0),
    };
  };
  const begun = async () => {
    const [, listed] = OF_SHIPMENTS.exec(from) ?? [];
    if (listed !== undefined && !pinned)
      return new Map(listed.split(' ').flatMap((each) => (each ? [splitAtColon(each)] : [])));
    const bounds = { since_us: String(lately()), until_us: OF_ENTRY.test(from) ? from : FAR_US };
    return (await shipments(`ingested_at <= ${WORDS.moment('until_us')}`, bounds, deadline)).last;
  };

  const seen = await begun();
  let lastUs = OF_ENTRY.test(from) ? from : String(BigInt(Date.now() - SHIPMENT_MS) * 1000n);
  const id = () =>
    pinned ? lastUs : ['shipments', ...[...seen].map((each) => each.join(':'))].join(' ');
  return {
    id: id(),
    everyMs: LOOK_MS,
    async look() {
      const ofLook = deadline.renewed();
      const bounds = { since_us: String(lately()), seen: asJson(seen) };
      const isNew = `_seq > ${numberOf('seen')}`;
      const come = await shipments(isNew, bounds, ofLook);
      if (come.entries === 0) return null;
      const entries = await unlessTooLarge(
        ask(
          `select ${COLUMNS}
            from ${table}
            where ${where} and ingested_at > ${WORDS.moment('since_us')} and ${isNew} and _seq <= ${numberOf('last')}
            order by ingested_at desc, timestamp desc, ${TIES}
            limit ${MOST_OF_A_LOOK}`,
          ENTRY,
          { ...values, ...bounds, last: asJson(come.last) },
          { maxRows: MOST_OF_A_LOOK, maxBytes: MAX_BYTES, deadline: ofLook },
        ),
      );
      for (const [node, seq] of come.last) seen.set(node, seq);
      const stored = entries?.rows[0]?.[ENTRY.findIndex(({ name }) => name === 'ingested_at')];
      if (stored !== undefined) lastUs = String(microsOf(String(stored)));
      return { entries, skipped: come.entries - (entries?.rows.length ?? 0), id: id() };
    },
  };
}

/** Beyond all moments that a node can have stored a row at. */
const FAR_US = String(Date.UTC(2201, 0) * 1000);

function splitAtColon(text: string): [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** What a parameter that is a JSON object of numbers has for the node of a row; 0 for others. */
function numberOf(name: string): string {
  return `JSONExtract({${name}:String}, 'Map(String, UInt64)')[_node]`;
}

function asJson(numbers: ReadonlyMap<string, string>): string {
  return `{${[...numbers].map(([node, number]) => `"${node}":${number}`).join()}}`;
}
