import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isSource } from '../ingest/index.ts';
import { compile, QueryFileError, type SavedQuery } from './compile.ts';
import { oldestOf } from './newest.ts';
import type { Readers } from './store/index.ts';
import { viewsOf } from './views.ts';

/** The saved queries, by name and by UUID. */
export interface Endpoints {
  readonly all: readonly SavedQuery[];
  /** The endpoint of this name or this UUID, in any letter case. */
  find(nameOrId: string): SavedQuery | undefined;
}

/**
 * Reads every `.sql` file of `folder`, the file's name being the endpoint's, and has the engine prepare it. Throws
 * QueryFileError for the first that is not right: nothing is served that could fail at the first request.
 */
export async function loadEndpoints(
  folder: string,
  readers: Pick<Readers, 'describe' | 'query'>,
): Promise<Endpoints> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const all: SavedQuery[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const query = compile(basename(name, '.sql'), file, readFileSync(file, 'utf8'));
    await prepare(query, file, readers);
    const twin = all.find((other) => other.id === query.id);
    if (twin) throw new QueryFileError(file, 1, `its uuid is that of ${twin.name}, too`);
    all.push(query.sandboxing ? { ...query, views: await viewsOf(query.sql, readers) } : query);
  }
  return {
    all,
    find: (nameOrId) =>
      all.find(({ name, id }) => name === nameOrId || id === nameOrId.toLowerCase()),
  };
}

async function prepare(query: SavedQuery, file: string, readers: Pick<Readers, 'describe'>) {
  const { select, columns } = await readers.describe(query.sql).catch((error: Error) => {
    const line = Number(/LINE (\d+):/.exec(error.message)?.[1] ?? 1);
    throw new QueryFileError(file, line, error.message);
  });
  if (!select) throw new QueryFileError(file, 1, 'it must be one SELECT');
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice) throw new QueryFileError(file, 1, `two columns of its result are called ${twice}`);
  if (query.windows && !isSource(query.windows.source)) {
    throw new QueryFileError(
      file,
      1,
      `--! windows names "${query.windows.source}", which is no source`,
    );
  }
  if (query.windows) {
    await readers.describe(oldestOf(query.sql)).catch((error: Error) => {
      const reason =
        '--! windows needs a query that can stand in brackets, with a column "timestamp"';
      throw new QueryFileError(file, 1, `${reason}: ${error.message}`);
    });
  }
}
