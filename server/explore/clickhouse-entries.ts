import type { Answers } from '../clickhouse/index.ts';
import type { RowColumn } from '../store/index.ts';
import {
  between,
  COLUMNS,
  ENTRY,
  type EntryEngine,
  type Filter,
  type Follower,
  MAX_BYTES,
  MOST_OF_A_LOOK,
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

const MICROS = 'toUnixTimestamp64Micro';

const WORDS: Words = {
  table: (source) => `{${source}:Identifier}`,
  text: (name) => `{${name}:Nullable(String)}`,
  moment: (name) => `fromUnixTimestamp64Micro({${name}:Int64}, 'UTC')`,
  micros: (moment) => `${MICROS}(${moment})`,
  earliest: (moment) => `minOrNull(${moment})`,
  hasSought: (text) => `match(${text}, {sought:Nullable(String)})`,
  bucket: `fromUnixTimestamp64Micro(${MICROS}(timestamp) - positiveModulo(${MICROS}(timestamp), {step_us:Int64}), 'UTC')`,
  hash: `cityHash64(id, event_message, ifNull(metadata, ''))`,
  size: '',
};

/** The entries of all nodes, where they are forwarded to. */
export function clickhouseEntries(answers: Pick<Answers, 'select' | 'parquet'>): EntryEngine {
  const ask: EntryEngine['ask'] = (sql, columns, values, options) =>
    answers.select({ sql, columns }, { ...values, sought: soughtBy(values.search) }, options);
  return {
    words: WORDS,
    ask,
    mayHave: async () => null,
    newest: ({ source, where, values }, limit, signal) =>
      ask(
        `select ${COLUMNS}
          from ${WORDS.table(source)}
          where ${where} and ${between(WORDS)}
          order by timestamp desc
          limit ${limit + 1}`,
        ENTRY,
        values,
        { maxRows: limit + 1, maxBytes: MAX_BYTES, signal },
      ),
    async parquet({ source, where, values }, signal) {
      const { rows, file } = await answers.parquet(
        `select ${COLUMNS} from ${WORDS.table(source)} where ${where} and ${between(WORDS)}`,
        { ...values, sought: soughtBy(values.search) },
        signal,
      );
      return { rows, bytes: null, file, close: async () => void file.destroy() };
    },
    follow: async (filter, from, signal) => followShipments(filter, from, ask, signal),
  };
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
/** When it was begun, microseconds since the epoch, and the number of the last shipment that was seen of each node. */
const POSITION = /^(\d{1,18})((?: [\da-f-]{36}:\d{1,18})*)$/;

/** Follows shipments: rows come in the order of their numbers from each node, whatever the nodes' clocks and timestamps say. */
function followShipments(
  { source, where, values }: Filter,
  from: string,
  ask: EntryEngine['ask'],
  signal: AbortSignal,
): Follower {
  const nowUs = () => BigInt(Date.now()) * 1000n;
  const [, began, shipments = ''] = POSITION.exec(from) ?? [];
  const beganUs = began === undefined ? nowUs() : BigInt(began);
  const seen = new Map(
    shipments
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => each.split(':') as [string, string]),
  );
  const id = () => [String(beganUs), ...[...seen].map((each) => each.join(':'))].join(' ');
  return {
    id: id(),
    everyMs: LOOK_MS,
    async look() {
      const latest = nowUs() - LATEST_US;
      const bounds = {
        ...values,
        since_us: String(latest > beganUs ? latest : beganUs),
        seen: asJson(seen),
      };
      const since = `from ${WORDS.table(source)}
        where ${where} and ingested_at > ${WORDS.moment('since_us')} and _seq > ${numberOf('seen')}`;
      const { rows } = await ask(
        `select _node as node, max(_seq) as seq, count() as entries ${since} group by node`,
        SHIPMENTS,
        bounds,
        { maxRows: Number.POSITIVE_INFINITY, signal },
      );
      if (rows.length === 0) return null;
      const last = new Map(rows.map(([node, seq]) => [String(node), String(seq)]));
      const count = rows.reduce((sum, [, , entries]) => sum + Number(entries), 0);
      const entries = await unlessTooLarge(
        ask(
          `select ${COLUMNS} ${since} and _seq <= ${numberOf('last')}
            order by ingested_at desc, timestamp desc
            limit ${MOST_OF_A_LOOK}`,
          ENTRY,
          { ...bounds, last: asJson(last) },
          { maxRows: MOST_OF_A_LOOK, maxBytes: MAX_BYTES, signal },
        ),
      );
      for (const [node, seq] of last) seen.set(node, seq);
      return { entries, skipped: count - (entries?.rows.length ?? 0), id: id() };
    },
  };
}

/** What a parameter that is a JSON object of numbers has for the node of a row; 0 for others. */
function numberOf(name: string): string {
  return `JSONExtract({${name}:String}, 'Map(String, UInt64)')[_node]`;
}

function asJson(numbers: ReadonlyMap<string, string>): string {
  return `{${[...numbers].map(([node, number]) => `"${node}":${number}`).join()}}`;
}
