import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Batch, MAX_DEPTH, type Source } from '../../../ingest/index.ts';
import { quoted } from '../engine.ts';
import { type Found, metadataFound, REQUEST_FIELDS } from './metadata-paths.ts';

/** The statements for the lines of a batch that are not the common case. */
export interface SlowPath {
  /** Makes the temporary table `classified`. */
  readonly classify: string;
  readonly insert: string;
}

export interface IngestStatements {
  /** Makes the rows of several batches at once, in the temporary table `scanned`. */
  scan(batches: readonly Batch[], ingestedAtUs: bigint): string;
  /** Inserts the rows of batches of one source; `scanned`: they are in that table. */
  insertRows(batches: readonly [Batch, ...Batch[]], ingestedAtUs: bigint, scanned: boolean): string;
  slowPath(batch: Batch, ingestedAtUs: bigint): SlowPath;
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
  const timestamp = read('timestamp').replaceAll('{text}', 'stamp');
  const fastPath = read('fast_path');
  const classify = read('classify_lines');
  const insert = read('slow_path');
  const found = { plain: metadataFound(false), request: metadataFound(true) };
  const maxObject = Math.max(2 * 1024 * 1024, 2 * maxLine);
  const projectOf = (source: Source) => {
    const project = defaultProject[source] ?? null;
    return project === null ? 'null' : quoted(project);
  };
  const words = (batches: readonly Batch[], request: boolean, ingestedAtUs: bigint) => ({
    ...found[request ? 'request' : 'plain'],
    severity: severityExpression(folder, found.plain),
    code: STATUS_CODE,
    staging: `[${batches.map(({ staging }) => quoted(staging)).join(', ')}]`,
    timestamp,
    now: `make_timestamp(${ingestedAtUs})`,
    max_depth: String(MAX_DEPTH),
    // Also the size of the buffers that the scan holds, two a thread: for a few lines to make them takes a third of its time.
    max_object: String(
      Math.min(maxObject, Math.max(LEAST_OBJECT, ...batches.map(({ staged }) => 2 * staged))),
    ),
  });

  return {
    scan(batches, ingestedAtUs) {
      return `create or replace temp table scanned as ${fill(fastPath, words(batches, true, ingestedAtUs))}`;
    },
    insertRows(batches, ingestedAtUs, scanned) {
      const [{ source }] = batches;
      const paths = batches.map(({ staging }) => staging);
      const request = source === 'edge_logs';
      const from = scanned
        ? `scanned where filename in (${paths.map(quoted).join(', ')})`
        : `(${fill(fastPath, words(batches, request, ingestedAtUs))})`;
      const spare = scanned && !request ? ['filename', ...REQUEST_FIELDS] : ['filename'];
      const project = `coalesce(project, ${projectOf(source)}) as project`;
      return `insert into ${source} by name select * exclude (${spare.join(', ')}) replace (${project}) from ${from}`;
    },
    slowPath(batch, ingestedAtUs) {
      const { source } = batch;
      const filled = {
        ...words([batch], source === 'edge_logs', ingestedAtUs),
        table: source,
        default_project: projectOf(source),
      };
      return { classify: fill(classify, filled), insert: fill(insert, filled) };
    },
  };
}

function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z_]+)\}/g, (whole, word: string) => words[word] ?? whole);
}

/** The number of a status of HTTP in the text `code`; NULL when it is none. */
const STATUS_CODE = `case when regexp_full_match(code, '[1-5]\\d\\d') then code::smallint end`;

/** The severity of a row with the columns `word`, `http_status` and `found`. */
function severityExpression(folder: string, { priority, number }: Found): string {
  const text = readFileSync(join(folder, 'severity.sql'), 'utf8').replaceAll(/^--.*\n/gm, '');
  return fill(text, { word: 'word', status: 'http_status', priority, number });
}

/**
 * The rows `from`, a table and a condition, with `severity` and `status` where they have none, by their metadata: a store of an earlier
 * version did not fill these columns. Also with their `rowid`, as `row`.
 */
export function gradedRows(folder: string): (from: string) => string {
  const found = metadataFound(false);
  const severity = severityExpression(folder, found);
  return (from) => `(
    select * replace (coalesce(severity, ${severity}) as severity, coalesce(status, http_status) as status)
    from (
      select *, lower(coalesce(${found.word_found})) as word, ${STATUS_CODE} as http_status
      from (
        select *, coalesce(${found.status_found}) as code
        from (select *, rowid as row, json_extract_string(metadata, ${found.metadata_paths}) as found from ${from})
      )
    )
  )`;
}

/** The expression that reads the text `expression` as a moment, as lines are read. */
export function timestampExpression(folder: string, expression: string): string {
  return readFileSync(join(folder, 'timestamp.sql'), 'utf8').replaceAll('{text}', expression);
}
