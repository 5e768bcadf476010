import type { Deadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { EngineError, type RowColumn, type Rows } from '../store/index.ts';
import { COLUMNS, ENTRY, type EntryEngine, type Filter, MAX_BYTES, TIES } from './engine.ts';

/** Entries of a page. */
const PAGE_ROWS = 5000;
/** One entry may be as long as a line. */
const ENTRY_BYTES = 64 * 1024 * 1024;
/** Rows of a page of entries that all have one timestamp, when not even their number can be told. */
const MOST_PARTS = 1 << 20;

const MOMENT: readonly RowColumn[] = [{ name: 'at', kind: 'plain', type: 'BIGINT' }];

/**
 * All entries that are asked for, oldest first, a page at a time. Each page is a short query of its own: one that stayed open
 * for as long as a client takes to read would keep the write-ahead log from being written back. An entry that is there all
 * the time is in it once; one that is stored or removed meanwhile may be in it. Each page has the time of `deadline` by itself.
 */
export async function* pages(
  { relation, where, values }: Filter,
  { words, ask }: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
): AsyncGenerator<Rows> {
  let ofPage = deadline;
  const [fromUs, toUs] = [BigInt(values.from_us as string), BigInt(values.to_us as string)];
  const from = `from ${relation.from()}
    where ${where} and timestamp >= ${words.moment('a')} and timestamp < ${words.moment('b')}`;

  /** The first moment that an entry has, from this one on. */
  const next = async (us: bigint): Promise<bigint | null> => {
    const { rows } = await ask(
      `select ${words.micros(words.earliest('timestamp'))} as at ${from}`,
      MOMENT,
      { ...values, a: String(us), b: String(toUs) },
      { maxRows: 1, deadline: ofPage },
    );
    const [moment = null] = rows[0] ?? [];
    return moment === null ? null : BigInt(moment as bigint);
  };

  /** The entries of `part` out of `parts`, from `a` up to `b`; null when they are too many for a page. */
  const page = async (a: bigint, b: bigint, part = 0, parts = 1): Promise<Rows | null> => {
    const whole = b - a === 1n && parts === MOST_PARTS;
    const split = parts > 1 ? `and ${words.hash} % ${parts} = ${part}` : '';
    try {
      const rows = await ask(
        `select ${COLUMNS}${words.size} ${from} ${split}
          order by timestamp, ${TIES}
          ${whole ? '' : `limit ${PAGE_ROWS + 1}`}`,
        ENTRY,
        { ...values, a: String(a), b: String(b) },
        {
          maxRows: whole ? Number.POSITIVE_INFINITY : PAGE_ROWS,
          maxBytes: whole ? ENTRY_BYTES : MAX_BYTES,
          deadline: ofPage,
        },
      );
      return rows.truncated ? null : rows;
    } catch (error) {
      if (!whole && isTooLarge(error)) return null;
      throw error;
    }
  };

  async function* given(rows: Rows): AsyncGenerator<Rows> {
    yield rows;
    ofPage = deadline.renewed();
  }

  /** Entries of one moment can be told apart by their ids only. */
  async function* moment(at: bigint, part = 0, parts = 1): AsyncGenerator<Rows> {
    const rows = await page(at, at + 1n, part, parts);
    if (rows) return yield* given(rows);
    const more = Math.min(parts * 16, MOST_PARTS);
    for (let each = part; each < more; each += parts) yield* moment(at, each, more);
  }

  let span = 3_600_000_000n;
  for (let at = await next(fromUs); at !== null; ) {
    const end = at + span < toUs ? at + span : toUs;
    const rows = await page(at, end);
    if (rows) {
      yield* given(rows);
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
