import { AppError } from '../errors.ts';
import { EngineError, type Rows, type Store } from '../store/index.ts';
import { BYTES, COLUMNS, MAX_BYTES } from './entries.ts';
import type { Filter } from './filter.ts';

/** Entries of a page. */
const PAGE_ROWS = 5000;
/** One entry may be as long as a line. */
const ENTRY_BYTES = 64 * 1024 * 1024;
/** Rows of a page of entries that all have one timestamp, when not even their number can be told. */
const MOST_PARTS = 1 << 20;

const HORIZON_US = BigInt(Date.UTC(2201, 0)) * 1000n;

/**
 * All entries that are asked for, oldest first, a page at a time. Each page is a short query of its own: one that stayed open
 * for as long as a client takes to read would keep the write-ahead log from being written back. An entry that is there all
 * the time is in it once; one that is stored or removed meanwhile may be in it.
 */
export async function* pages(
  { source, where, values }: Filter,
  store: Pick<Store, 'callerPool'>,
  signal: AbortSignal,
): AsyncGenerator<Rows> {
  const ask = (sql: string, more: Record<string, string>, maxRows: number, maxBytes?: number) =>
    store.callerPool.query(
      sql,
      { ...values, ...more },
      { maxRows, signal, ...(maxBytes === undefined ? {} : { maxBytes }) },
    );
  const fromUs = values.from ? microsOf(values.from) : 0n;
  const toUs = values.to ? microsOf(values.to) : HORIZON_US;

  /** The first moment that an entry has, from this one on. */
  const next = async (us: bigint): Promise<bigint | null> => {
    const { rows } = await ask(
      `select epoch_us(min(timestamp)) from ${source}
        where ${where} and timestamp >= make_timestamp($a::bigint) and timestamp < make_timestamp($b::bigint)`,
      { a: String(us), b: String(toUs) },
      1,
    );
    const [moment = null] = rows[0] ?? [];
    return moment === null ? null : BigInt(moment as bigint);
  };

  /** The entries of `part` out of `parts`, from `a` up to `b`; null when they are too many for a page. */
  const page = async (a: bigint, b: bigint, part = 0, parts = 1): Promise<Rows | null> => {
    const whole = b - a === 1n && parts === MOST_PARTS;
    const split =
      parts > 1 ? `and hash(id, event_message, metadata::varchar) % ${parts} = ${part}` : '';
    try {
      const rows = await ask(
        `select ${COLUMNS}, ${BYTES} from ${source}
          where ${where} and timestamp >= make_timestamp($a::bigint) and timestamp < make_timestamp($b::bigint) ${split}
          order by timestamp
          ${whole ? '' : `limit ${PAGE_ROWS + 1}`}`,
        { a: String(a), b: String(b) },
        whole ? Infinity : PAGE_ROWS,
        whole ? ENTRY_BYTES : MAX_BYTES,
      );
      return rows.truncated ? null : rows;
    } catch (error) {
      if (!whole && isTooLarge(error)) return null;
      throw error;
    }
  };

  /** Entries of one moment can be told apart by their ids only. */
  async function* moment(at: bigint, part = 0, parts = 1): AsyncGenerator<Rows> {
    const rows = await page(at, at + 1n, part, parts);
    if (rows) return yield rows;
    const more = Math.min(parts * 16, MOST_PARTS);
    for (let each = part; each < more; each += parts) yield* moment(at, each, more);
  }

  let span = 3_600_000_000n;
  for (let at = await next(fromUs); at !== null; ) {
    const end = at + span < toUs ? at + span : toUs;
    const rows = await page(at, end);
    if (rows) {
      yield rows;
      if (rows.rows.length < PAGE_ROWS / 4) span *= 4n;
      at = rows.rows.length === 0 ? await next(end) : end;
      if (end >= toUs) return;
    } else if (end - at > 1n) {
      span = (end - at) / 8n || 1n;
    } else {
      yield* moment(at);
      at = await next(end);
    }
  }
}

function isTooLarge(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'RESULT_TOO_LARGE';
  return error instanceof EngineError && error.kind === 'memory';
}

function microsOf(iso: string): bigint {
  const [, second = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(iso) ?? [];
  return BigInt(Date.parse(`${second}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}
