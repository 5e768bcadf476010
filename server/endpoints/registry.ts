import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isSource } from '../../ingest/index.ts';
import type { Statement } from '../clickhouse/select.ts';
import type { UnionView } from '../clickhouse/union-rows.ts';
import type { Config } from '../config/config.ts';
import { ROOT } from '../config/package-root.ts';
import { deadlineIn } from '../deadline.ts';
import { EngineError, type RowColumn, type Store } from '../store/index.ts';
import { FETCHED } from './fetched-rows.ts';
import { oldestOf } from './newest-rows.ts';
import { checkParameters } from './parameters.ts';
import {
  ANY_PROJECT,
  PINNED_PROJECT,
  parseQueryFile,
  QueryFileError,
  type SavedQuery,
  SUPPLIED,
} from './query-file.ts';
import { PREPARE_MS, partsOf } from './views.ts';

/** The saved queries, by name and by UUID. */
export interface Endpoints {
  readonly all: readonly SavedQuery[];
  /** The endpoint of this name or this UUID, in any letter case. */
  find(nameOrId: string): SavedQuery | undefined;
}

/** The endpoints of files that may change. */
export interface OpenEndpoints extends Endpoints {
  /** Reads all files again, all or nothing. Throws QueryFileError, and then the endpoints stay as they are. */
  reload(): Promise<void>;
}

const OWN_FOLDER = join(ROOT, 'sql', 'endpoints');

/** The endpoints of the files in these folders, as `loadEndpoints` reads them, until they are read again. */
export async function openEndpoints(
  folders: readonly string[],
  store: EndpointStore,
  isForwarded: boolean,
): Promise<OpenEndpoints> {
  let current = await loadEndpoints(folders, store, isForwarded);
  return {
    get all() {
      return current.all;
    },
    find: (nameOrId) => current.find(nameOrId),
    async reload() {
      current = await loadEndpoints(folders, store, isForwarded);
    },
  };
}

/** The folders of the files: those that come with tailpond, then the operator's. */
export function endpointFolders({ endpoints }: Pick<Config, 'endpoints'>): string[] {
  return [OWN_FOLDER, ...(endpoints ? [resolve(endpoints)] : [])];
}

type EndpointStore = Pick<Store, 'describe' | 'query' | 'members'>;

/**
 * Reads every `.sql` file of the folders, the file's name being the endpoint's, and has the engine prepare it; where rows are forwarded,
 * also its statement for ClickHouse, of the same name in the folder `clickhouse` beside it. Throws QueryFileError for the first that is not
 * right: nothing of an operator is served that could fail at the first request.
 */
export async function loadEndpoints(
  folders: readonly string[],
  store: EndpointStore,
  isForwarded = false,
): Promise<Endpoints> {
  const all: SavedQuery[] = [];
  for (const file of folders.flatMap(filesOf)) {
    const query = parseQueryFile(basename(file, '.sql'), file, read(file));
    const columns = await prepare(query, file, store);
    if (all.some(({ name }) => name === query.name))
      throw new QueryFileError(file, 1, 'another folder has an endpoint of this name');
    const twin = all.find((other) => other.id === query.id);
    if (twin) throw new QueryFileError(file, 1, `its uuid is that of ${twin.name}, too`);
    const { viewsOf, tables, sql } = await partsOf(query, store, isForwarded ? FETCHED : null);
    const views = once(viewsOf);
    // The views of our own files are right, and asking for them would take longer than the rest of a start.
    if (dirname(file) !== OWN_FOLDER) await views();
    const there = join(dirname(file), 'clickhouse', basename(file));
    all.push({
      ...query,
      sql,
      clickhouse: isForwarded && query.text === null ? readStatement(query, there, columns) : null,
      // Without it what is asked as SQL of a caller is asked over fetched rows.
      unionThere:
        isForwarded && query.dialect === 'clickhouse' && query.union && existsSync(there)
          ? readUnion(query, there)
          : null,
      views,
      sources: tables.filter(isSource),
    });
  }
  return {
    all,
    find: (nameOrId) =>
      all.find(({ name, id }) => name === nameOrId || id === nameOrId.toLowerCase()),
  };
}

/** Gives what `get` gave the first time; calls it again after it failed. */
function once<T>(get: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null;
  return () => {
    known ??= get().catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sql') && !name.startsWith('.'))
      .map((name) => basename(name, '.sql'))
      .sort()
      .map((name) => join(folder, `${name}.sql`));
  } catch (error) {
    throw unreadable(folder, error);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(path: string, error: unknown): QueryFileError {
  return new QueryFileError(
    path,
    1,
    `it cannot be read (${(error as NodeJS.ErrnoException).code})`,
  );
}

/** Whether a query's text is at fault. All else is trouble of the engine's own, and the next start may not have it. */
function isOfText(error: unknown): error is EngineError {
  return error instanceof EngineError && (error.kind === 'statement' || error.kind === 'input');
}

async function prepare(
  query: SavedQuery,
  file: string,
  store: EndpointStore,
): Promise<RowColumn[]> {
  const { select, columns, types } = await store.describe(query.sql).catch((error: Error) => {
    if (!isOfText(error)) throw error;
    throw new QueryFileError(file, error.line ?? 1, error.message);
  });
  if (!select) throw new QueryFileError(file, 1, 'it must be one SELECT');
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice) throw new QueryFileError(file, 1, `two columns of its result are called ${twice}`);
  const isView = query.windows?.source === query.union;
  if (query.windows && !isSource(query.windows.source) && !isView) {
    throw new QueryFileError(
      file,
      1,
      `--! windows names "${query.windows.source}", which is not a source`,
    );
  }
  if (query.windows) {
    await store.describe(oldestOf(query.sql)).catch((error: Error) => {
      if (!isOfText(error)) throw error;
      const reason =
        '--! windows needs a query that can stand in brackets, with a column "timestamp"';
      throw new QueryFileError(file, 1, `${reason}: ${error.message}`);
    });
  }
  const presets = query.parameters.map(({ name, preset }) => [name, preset]);
  const deadline = deadlineIn(PREPARE_MS);
  await checkParameters(query, Object.fromEntries(presets), store, deadline).catch(
    (error: Error) => {
      throw new QueryFileError(file, 1, `a preset is wrong: ${error.message}`);
    },
  );
  return columns.map((name, i) => {
    const type = types[i] ?? '';
    return { name, type, kind: type === 'JSON' ? 'json' : 'plain' };
  });
}

interface Placeholder {
  readonly name: string;
  readonly type: string;
  readonly line: number;
}

function placeholdersOf(sql: string): Placeholder[] {
  return sql.split('\n').flatMap((text, i) => {
    const names = text.replace(/--.*/, '').matchAll(/\{(\w+)\s*:\s*(\w+)/g);
    return Array.from(names, ([, name = '', type = '']) => ({ name, type, line: i + 1 }));
  });
}

/** The statement for ClickHouse, whose parameters are those of the query, and tables of sources. */
function readStatement(query: SavedQuery, file: string, columns: readonly RowColumn[]): Statement {
  const sql = read(file);
  checkPlaceholders(query, file, sql, isSource);
  return { sql, columns };
}

/** The rows of one source in the view of all, for ClickHouse. */
function readUnion(query: SavedQuery, file: string): UnionView {
  const sql = read(file)
    .replaceAll(/^--.*\n/gm, '')
    .trim();
  const [source, ...others] = placeholdersOf(sql).filter(({ type }) => type === 'Identifier');
  const [map = ''] = query.maps;
  if (!source || others.length > 0)
    throw new QueryFileError(file, 1, 'it must read one table, written {log_source:Identifier}');
  if (!sql.includes(`metadata as ${map}`))
    throw new QueryFileError(file, 1, `it must have a column "metadata as ${map}"`);
  checkPlaceholders(query, file, sql, (name) => name === source.name);
  return { sql, source: source.name, map };
}

function checkPlaceholders(
  query: SavedQuery,
  file: string,
  sql: string,
  isTable: (name: string) => boolean,
): void {
  const used = placeholdersOf(sql);
  const known = [...query.parameters.map(({ name }) => name), ...SUPPLIED];
  for (const { name, type, line } of used)
    if (type === 'Identifier' ? !isTable(name) : !known.includes(name))
      throw new QueryFileError(
        file,
        line,
        `"${name}" is ${type === 'Identifier' ? 'not a source' : 'no parameter of the endpoint'}`,
      );
  const supplied = [
    ...(query.pinned ? [PINNED_PROJECT] : []),
    ...(query.anyProject ? [ANY_PROJECT] : []),
  ];
  for (const name of supplied)
    if (!used.some((each) => each.name === name))
      throw new QueryFileError(
        file,
        1,
        `it does not use {${name}}, as the endpoint's own file does`,
      );
}
