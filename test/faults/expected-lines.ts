import { allSources, type Source } from '../../ingest/index.ts';
import { withStore } from '../support/helpers.ts';

/**
 * What a test has written, line by line: the one oracle of this suite. What was written and not destroyed must be there
 * once each, as a row or as a rejected line, and nothing else.
 */
export interface ExpectedLines {
  /** A line with its newline, that must become a row. `id` is its own; `text` goes into its message. */
  line(source?: Source, text?: string): string;
  /** Notes a line of the test's own making, that must become a row of this id. */
  row(id: string, source?: Source): void;
  /** Notes a line that must become a rejected line of just these bytes, without newline. */
  bad(line: string | Uint8Array, source?: Source): void;
  /** Takes a line back that is gone before anybody could read it: neither a row nor a rejected line may be there. */
  destroyed(line: string, source?: Source): void;
  /** A line that may have been read before it was destroyed, or not: at most once. */
  doubtful(line: string, source?: Source): void;
  /** A line of which there is a copy that is another file by what the docs say: it is there once more. */
  copied(line: string, source?: Source): void;
  /** Says how often a line of the test's own making must be there at least, and may be at most. */
  between(line: { row: string } | { rejected: string }, source: Source, ...limits: Limits): void;
  /** How many rows, and rejected lines, must be there. */
  expected(source?: Source): { rows: number; rejected: number };
  /** The ids of the rows that must be there. */
  ids(source: Source): string[];
  /** Compares with the store below `data`, which no service may have open. Gives the first differences, in words. */
  differences(data: string): Promise<string[]>;
}

/** How often a line must be there at least, and may be at most. */
type Limits = [least: number, most: number];

interface Page {
  readonly rows: Map<string, Limits>;
  /** By their bytes as Latin-1; two bad lines may be the same. */
  readonly rejected: Map<string, Limits>;
}

const MOST = 10;
const NONE: Limits = [0, 0];

/** New expectedLines; `name` tells the lines of one test, or of one writer, from those of others. */
export function newExpectedLines(name = 'line'): ExpectedLines {
  const pages = new Map<Source, Page>(
    allSources().map((source) => [source, { rows: new Map(), rejected: new Map() }]),
  );
  const page = (source: Source) => pages.get(source) as Page;
  let sequence = 0;

  return {
    line(source = 'edge_logs', text = '') {
      const id = `${name}-${sequence++}`;
      page(source).rows.set(id, [1, 1]);
      const timestamp = new Date().toISOString();
      const metadata = { w: name, n: sequence };
      return `${JSON.stringify({ id, timestamp, project: 'p', event_message: text, metadata })}\n`;
    },
    row(id, source = 'edge_logs') {
      page(source).rows.set(id, [1, 1]);
    },
    bad(line, source = 'edge_logs') {
      const { rejected } = page(source);
      const text = Buffer.from(line).toString('latin1');
      const [least, most] = rejected.get(text) ?? NONE;
      rejected.set(text, [least + 1, most + 1]);
    },
    destroyed(line, source = 'edge_logs') {
      page(source).rows.delete(idOf(line));
    },
    doubtful(line, source = 'edge_logs') {
      page(source).rows.set(idOf(line), [0, 1]);
    },
    between(line, source, ...limits) {
      const { rows, rejected } = page(source);
      if ('row' in line) rows.set(line.row, limits);
      else rejected.set(line.rejected, limits);
    },
    copied(line, source = 'edge_logs') {
      page(source).rows.set(idOf(line), [2, 2]);
    },
    expected(source = 'edge_logs') {
      const { rows, rejected } = page(source);
      const least = (lines: Map<string, Limits>) => {
        let sum = 0;
        for (const [count] of lines.values()) sum += count;
        return sum;
      };
      return { rows: least(rows), rejected: least(rejected) };
    },
    ids: (source) => [...page(source).rows.keys()],
    differences: (data) =>
      withStore(data, async (store) => {
        const count = async (sql: string) => {
          const { rows } = await store.query(sql, {}, { maxRows: 10_000_000 });
          return new Map(rows.map(([text, times]) => [String(text), Number(times)]));
        };
        const found: string[] = [];
        for (const [source, { rows, rejected }] of pages) {
          const stored = await count(`select id, count(*) from ${source} group by id`);
          const lines = await count(
            `select base64(whole), count(*)
              from (
                select list_reduce([line] || coalesce(rest, []), lambda a, b: a || b) as whole
                from rejected
                left join (
                  select source, file, "offset", rejected_at, list(piece order by start) as rest
                  from rejected_rest
                  group by all
                ) using (source, file, "offset", rejected_at)
                where source = '${source}'
              )
              group by whole`,
          );
          const kept = new Map(
            [...lines].map(([text, times]) => [
              Buffer.from(text, 'base64').toString('latin1'),
              times,
            ]),
          );
          found.push(
            ...compare(`row of ${source}`, stored, rows),
            ...compare(`rejected line of ${source}`, kept, rejected),
          );
        }
        return found;
      }),
  };
}

function idOf(line: string): string {
  return String(JSON.parse(line).id);
}

function compare(
  what: string,
  stored: ReadonlyMap<string, number>,
  written: ReadonlyMap<string, Limits>,
): string[] {
  const found: string[] = [];
  let missing = 0;
  for (const key of new Set([...written.keys(), ...stored.keys()])) {
    const [times, [least, most]] = [stored.get(key) ?? 0, written.get(key) ?? NONE];
    if (times < least) missing++;
    if (times < least || times > most)
      found.push(
        `${what}: ${times} times instead of ${least === most ? least : `${least} to ${most}`}: ${key}`,
      );
  }
  if (found.length <= MOST) return found;
  // Whether rows are missing where others are there twice tells what has happened.
  const all = `${what}: ${found.length} differences, ${missing} of them missing`;
  return [all, ...found.slice(0, MOST)];
}
