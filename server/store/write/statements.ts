import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSources, type Batch, type Source } from '../../../ingest/index.ts';
import { quoted } from '../engine.ts';
import {
  type Found,
  metadataFound,
  metadataGrades,
  REQUEST_COLUMNS,
  ROOT,
} from './metadata-paths.ts';

export interface IngestStatements {
  /** Makes the rows of several batches at once, in the temporary table `scanned`. */
  scan(batches: readonly Batch[], ingestedAtUs: bigint): string;
  /** Inserts the rows of batches of one source; `scanned`: they are in that table. */
  insertRows(batches: readonly [Batch, ...Batch[]], ingestedAtUs: bigint, scanned: boolean): string;
}

/** No object of a staging file is longer than the file; below this, buffers cost next to nothing. */
const LEAST_OBJECT = 128 * 1024;

/**
 * Reads the statements of sql/ingest and returns functions that fill them in. Only words and numbers of the service and of its settings are
 * filled in, never a value that came from outside. `defaultProject` is the project of lines that name none, by source.
 */
export function ingestStatements(
  folder: string,
  maxLine: number,
  defaultProject: Readonly<Record<Source, string | null>>,
): IngestStatements {
  const read = (name: string) => readFileSync(join(folder, `${name}.sql`), 'utf8');
  const rowsOf = read('rows').replaceAll(/^--.*\n/gm, '');
  const graded = gradedRows(folder);
  const ofSource = new Map(allSources().map((source) => [source, metadataFound(source)]));
  const ofAll = metadataFound(null);
  const foundOf = (source: Source): Found => ofSource.get(source) ?? metadataFound(source);
  // A line in normal form may be twice as long as it was written, and has names of its own.
  const maxObject = Math.max(2 * 1024 * 1024, 2 * maxLine + LEAST_OBJECT);
  const projectOf = (source: Source) => {
    const project = defaultProject[source] ?? null;
    return project === null ? 'null' : quoted(project);
  };
  const words = (batches: readonly Batch[], found: Found, ingestedAtUs: bigint) => ({
    ...found,
    root: ROOT,
    staging: `[${batches.map(({ staging }) => quoted(staging)).join(', ')}]`,
    now: `make_timestamp(${ingestedAtUs})`,
    // Also the size of the buffers that the scan holds, two a thread: for a few lines to make them takes a third of its time.
    max_object: String(
      Math.min(maxObject, Math.max(LEAST_OBJECT, ...batches.map(({ staged }) => 2 * staged))),
    ),
  });

  return {
    scan(batches, ingestedAtUs) {
      // Once for all of them: to plan it takes the engine five times as long as to plan an INSERT without it.
      const lines = `(${fill(rowsOf, words(batches, ofAll, ingestedAtUs))})`;
      const rows = graded(FOUND_BY_KIND, foundByKind(kindsOf(batches, foundOf), lines));
      return `create or replace temp table scanned as select * exclude (${[...SPARE, ...BY_KIND].join(', ')}) from ${rows}`;
    },
    insertRows(batches, ingestedAtUs, scanned) {
      const [{ source }] = batches;
      const project = `coalesce(project, ${projectOf(source)}) as project`;
      const select = (spare: readonly string[], rows: string) =>
        `insert into ${source} by name select * exclude (${[...spare, ...READ].join(', ')}) replace (${project}, ${GRADES}) from ${rows}`;
      if (scanned) {
        const paths = batches.map(({ staging }) => quoted(staging)).join(', ');
        const spare = ['filename', ...(source === 'edge_logs' ? [] : REQUEST_COLUMNS)];
        return select(spare, `scanned where filename in (${paths})`);
      }
      const found = foundOf(source);
      const rows = `(${fill(rowsOf, words(batches, found, ingestedAtUs))})`;
      return select(['filename', ...SPARE], graded(found, rows));
    },
  };
}

/** Columns of rows that are on their way. */
const SPARE = ['found', 'listed', 'said'];
/** Columns of lines that were read in Node.js, and what they count for. */
const GRADES =
  'case when is_read then read_severity else severity end as severity, case when is_read then read_status else status end as status';
const READ = ['is_read', 'read_severity', 'read_status'];

/** What stands in metadata of rows of several sources, in columns: `kind` tells which of them a row is like. */
const FOUND_BY_KIND = { severity_found: 'severity_found', status_found: 'status_found' } as const;
const BY_KIND = ['kind', ...Object.values(FOUND_BY_KIND)];

/** Batches whose metadata is asked for the same. */
interface BatchKind {
  readonly found: Found;
  readonly paths: string[];
}

function kindsOf(batches: readonly Batch[], foundOf: (source: Source) => Found): BatchKind[] {
  const kinds = new Map<string, BatchKind>();
  for (const { source, staging } of batches) {
    const found = foundOf(source);
    const key = JSON.stringify(found);
    const kind = kinds.get(key) ?? { found, paths: [] };
    kind.paths.push(quoted(staging));
    kinds.set(key, kind);
  }
  return [...kinds.values()];
}

/** The rows with the columns of `FOUND_BY_KIND`. */
function foundByKind(kinds: readonly BatchKind[], rows: string): string {
  const byKind = (expression: (found: Found) => string) =>
    `case kind ${kinds.map(({ found }, i) => `when ${i} then ${expression(found)}`).join(' ')} end`;
  const columns = Object.entries(FOUND_BY_KIND).map(
    ([name, column]) =>
      `${byKind((found) => found[name as keyof typeof FOUND_BY_KIND])} as ${column}`,
  );
  const kind = kinds.map(({ paths }, i) => `when filename in (${paths.join(', ')}) then ${i}`);
  return `(
    select *, ${columns.join(', ')}
    from (select *, case ${kind.join(' ')} end as kind from ${rows})
  )`;
}

function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z_]+)\}/g, (whole, word: string) => words[word] ?? whole);
}

type Graded = Pick<Found, 'severity_found' | 'status_found'>;

/** Gives rows with `severity` and `status`, as sql/ingest/graded_rows.sql says. */
function gradedRows(folder: string): (found: Graded, rows: string) => string {
  const text = readFileSync(join(folder, 'graded_rows.sql'), 'utf8').replaceAll(/^--.*\n/gm, '');
  return (found, rows) => fill(text, { ...found, rows });
}

/**
 * Gives rows of a source, a table and a condition, with `severity` and `status` where they have none, by their metadata: a store of an
 * earlier version did not fill these columns. Also with their `rowid`, as `row`.
 */
export function regradedRows(folder: string): (source: Source, from: string) => string {
  const graded = gradedRows(folder);
  return (source, from) => {
    const found = metadataGrades(source);
    const rows = `(
      select *, ${found.metadata_listed} as listed
      from (
        select *, ${found.metadata_found} as found
        from (
          select
            * rename (severity as kept_severity, status as kept_status),
            rowid as row,
            ${ROOT} as root
          from ${from}
        )
      )
    )`;
    return `(
      select * replace (coalesce(kept_severity, severity) as severity, coalesce(kept_status, status) as status)
      from ${graded(found, rows)}
    )`;
  };
}
