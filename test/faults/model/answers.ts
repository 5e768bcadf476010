import { expect } from 'chai';
import type { Source } from '../../../ingest/index.ts';
import type { LedgerEntry } from '../../../server/store/index.ts';
import type { Service } from '../../support/helpers.ts';
import { LOGS, type ModelFile, momentOf } from './files.ts';
import type { Line, ModelLines } from './lines.ts';

export const SOURCES = [...new Set(LOGS.map(({ source }) => source))];
/** The source whose rows can be asked for by name, by `logs.all`. */
export const NAMED: Source = 'edge_logs';
/** One answer of `logs.all` has 100 rows, headers among them. */
const PAGE = 90;

type Get = Service['get'];

/** How many rows of each source the service says it has, and the question whether it has a line. */
export async function whatItHas(get: Get, lines: ModelLines) {
  const rejected = new Map<Source, Set<string>>();
  const rows = new Map<Source, number>();
  for (const entry of await ledger(get)) {
    if (!SOURCES.includes(entry.source)) continue;
    const { result } = await answer(get, `/api/rejected?source=${entry.source}&limit=1000`);
    rejected.set(entry.source, new Set(result.map(({ line }) => String(line))));
    rows.set(entry.source, entry.rows);
  }
  const ids = await namedRows(get, lines.made);
  const has = ({ source, text, id, exposed }: Line) => {
    if (id === null) return rejected.get(source)?.has(text) ?? false;
    // The other sources have only a number: when some are missing that may be missing, none is known.
    if (source === NAMED) return ids.has(id);
    return exposed && rows.get(source) === lines.rows(source)[1];
  };
  return { rows, has };
}

async function namedRows(get: Get, made: number): Promise<Set<string>> {
  const ids = new Set<string>();
  // Headers are there, in the first page, even before the first line was made.
  for (let from = 0; from <= made; from += PAGE) {
    const [after, until] = [momentOf(from - 1), momentOf(from + PAGE - 1)];
    const { result } = await answer(
      get,
      `/api/endpoints/query/logs.all?project=p&iso_timestamp_start=${after}&iso_timestamp_end=${until}`,
    );
    for (const { id } of result) ids.add(String(id));
  }
  return ids;
}

/** Throws while there are files that the service has not met, or has not read to their last whole line. */
export async function everythingIsRead(get: Get, files: readonly ModelFile[]) {
  for (const entry of await ledger(get)) {
    const own = files.filter(({ log }) => LOGS[log]?.source === entry.source);
    expect(entry.files, `files of ${entry.source}`).to.equal(own.length);
    const open = own.map(({ text }) => text.length - 1 - text.lastIndexOf('\n'));
    expect(entry.pending_bytes).to.be.at.most(open.reduce((sum, length) => sum + length, 0));
  }
}

async function ledger(get: Get) {
  const { result } = await answer(get, '/api/ledger');
  return result as unknown as (LedgerEntry & { files: number; pending_bytes: number })[];
}

export async function answer(get: Get, path: string) {
  const { status, body } = await get(path);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body as { result: Record<string, unknown>[] };
}
