import { blobValue, type DuckDBConnection } from '@duckdb/node-api';
import type { Source } from '../../../ingest/index.ts';
import type { Deadline } from '../../deadline.ts';
import type { QueryRows } from '../read/query-rows.ts';
import { MOST_PARTS, placesOf, SLICES, type SoughtText } from './words.ts';

/** Where more of the parts of blocks may have a text, all are read: that share of them, or so many, as the condition names each. */
const MOST_SHARE = 0.7;
const MOST_NAMED = 1000;

/**
 * Filters are added here first. A checkpoint writes a small table anew whenever a row was added to it, and all filters together are small: with
 * 10 million rows that would be 80 MB after each run.
 */
const RECENT = 'recent_text_filters';
const MOST_RECENT = 32;
/** All filters. */
const FILTERS = `(from text_filters union all by name from ${RECENT})`;

const slices = Array.from({ length: SLICES }, (_, i) => `s${i}`);

/**
 * Adds the filter of a source's rows, whose `text_block` is to be the number that this gives, and that of their part added. Later ones are
 * greater, also than those of blocks that are gone: questions that were asked before rely on it.
 */
export async function addTextFilter(
  connection: DuckDBConnection,
  source: Source,
  filter: readonly Uint8Array[],
  nowMs: number,
): Promise<number> {
  const [row] = (
    await connection.runAndReadAll(
      `select greatest(
        (select max(block) + ${MOST_PARTS - 1} from ${FILTERS} where source = '${source}'),
        (select max(text_block) from ${source})
      ) as last`,
    )
  ).getRowObjects();
  const block = Math.max(Math.floor(nowMs), Number(row?.last ?? 0) + 1);
  await connection.run(
    `insert into ${RECENT} (source, block, words, ${slices.join(', ')})
      values ('${source}', ${block}, true, ${slices.map((_, i) => `$${i + 1}`).join(', ')})`,
    filter.map((bytes) => blobValue(bytes)),
  );
  const [recent] = (
    await connection.runAndReadAll(`select count(*) as filters from ${RECENT}`)
  ).getRowObjects();
  if (Number(recent?.filters) < MOST_RECENT) return block;
  await connection.run(`insert into text_filters by name from ${RECENT}`);
  await connection.run(`delete from ${RECENT}`);
  return block;
}

/** Removes the filters of a source that no row belongs to any more: rows go, and get later blocks, from the oldest on. */
export async function removeTextFilters(
  connection: DuckDBConnection,
  source: Source,
): Promise<void> {
  for (const table of ['text_filters', RECENT])
    await connection.run(
      `delete from ${table}
        where source = '${source}'
          and block + ${MOST_PARTS - 1} < (select coalesce(min(text_block), ${Number.MAX_SAFE_INTEGER}) from ${source})`,
    );
}

/**
 * Gives the condition, in SQL, on rows of a source in which each of `texts` may stand, in whatever letter case, in the message or the
 * metadata; null where it would leave out next to nothing. It holds for rows that are stored later, too.
 */
export type TextCondition = (
  source: Source,
  texts: readonly SoughtText[],
  deadline: Deadline,
) => Promise<string | null>;

export function textConditions(ask: QueryRows): TextCondition {
  return async (source, texts, deadline) => {
    const parts = texts.flatMap(placesOf).map(({ slice, place }) => {
      // All of the slice as bits would be copied for each of them.
      const at = `2 * (${place} % (octet_length(s${slice}) // 2))`;
      return `array_slice(s${slice}, ${at} + 1, ${at} + 2)::bit`;
    });
    if (parts.length === 0) return null;
    const [row] = await ask(
      `select
        max(block) + ${MOST_PARTS - 1} as last,
        count(*) as blocks,
        list(concat(block, ' ', parts)) filter (where parts is null or bit_count(parts) > 0) as found
      from (
        select block, case when words then ${parts.join(' & ')} end as parts
        from ${FILTERS}
        where source = '${source}'
      )`,
      deadline,
    );
    if (!row || row.last === null) return null;
    const found = ((row.found ?? []) as readonly string[]).flatMap(blocksOf);
    const most = MOST_SHARE * Number(row.blocks) * MOST_PARTS;
    if (found.length > Math.min(MOST_NAMED, most)) return null;
    const there = found.length === 0 ? '' : ` or text_block in (${found.join(', ')})`;
    return `(text_block is null or text_block > ${row.last}${there})`;
  };
}

/** Returns the numbers of the parts that are marked behind the number of a block; that of a block without parts, of an earlier version, alone. */
function blocksOf(found: string): number[] {
  const [block, parts] = found.split(' ');
  if (!parts) return [Number(block)];
  return [...parts].flatMap((bit, part) => (bit === '1' ? [Number(block) + part] : []));
}
