import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../../ingest/index.ts';
import { quoted } from './engine.ts';

/** The statements that store one batch. */
export interface BatchStatements {
  readonly insertRows: string;
  readonly judgeOthers: string;
  readonly insertOthers: string;
}

/** Where a line's metadata names its project; metadata is an object or an array of objects, of which the first counts. */
const PROJECT_PATHS = ['$.project', '$[0].project', '$.project_ref', '$[0].project_ref'];

/** Where the request stands in an edge line's metadata, each level an object or an array of objects. */
const REQUEST_PATHS = ['$.request', '$.request[0]', '$[0].request', '$[0].request[0]'];
const REQUEST_FIELDS = ['path', 'url', 'host'];

/**
 * Reads the statements of sql/ingest and gives a function that fills them in. Only our own words and numbers are filled
 * in, never a value that came from outside.
 */
export function batchStatements(folder: string, maxLine: number) {
  const read = (name: string) => readFileSync(join(folder, `${name}.sql`), 'utf8');
  const timestamp = read('timestamp').replaceAll('{text}', 'stamp');
  const [insertRows, judgeOthers, insertOthers] = [
    'insert_rows',
    'judge_others',
    'insert_others',
  ].map(read) as [string, string, string];

  return (source: Source, staging: string, ingestedAtUs: bigint): BatchStatements => {
    const request = source === 'edge_logs';
    const paths = request ? [...PROJECT_PATHS, ...requestPaths()] : PROJECT_PATHS;
    const words: Record<string, string> = {
      table: source,
      staging: quoted(staging),
      timestamp,
      now: `make_timestamp(${ingestedAtUs})`,
      metadata_paths: `[${paths.map(quoted).join(', ')}]`,
      request_columns: request ? requestColumns() : '',
      // Also the size of the buffers that the scan holds, two a thread; the default of 16 MB costs memory for nothing.
      max_object: String(Math.max(2 * 1024 * 1024, 2 * maxLine)),
    };
    const fill = (text: string) =>
      text.replaceAll(/\{([a-z_]+)\}/g, (whole, word: string) => words[word] ?? whole);
    return {
      insertRows: fill(insertRows),
      judgeOthers: fill(judgeOthers),
      insertOthers: fill(insertOthers),
    };
  };
}

/** The expression that reads the text `expression` as a moment, as lines are read. */
export function timestampExpression(folder: string, expression: string): string {
  return readFileSync(join(folder, 'timestamp.sql'), 'utf8').replaceAll('{text}', expression);
}

function requestPaths(): string[] {
  return REQUEST_FIELDS.flatMap((field) => REQUEST_PATHS.map((path) => `${path}.${field}`));
}

function requestColumns(): string {
  const columns = REQUEST_FIELDS.map((field, index) => {
    const first = PROJECT_PATHS.length + index * REQUEST_PATHS.length + 1;
    const values = REQUEST_PATHS.map((_, i) => `found[${first + i}]`).join(', ');
    return `coalesce(${values}) as ${field}`;
  });
  return `, ${columns.join(', ')}`;
}
