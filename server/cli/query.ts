import { pipeline, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import ndjson from 'ndjson';
import type { Format } from '../formats/index.ts';
import { type Remote, withService } from './service-client.ts';
import { counted, table } from './table.ts';
import { write } from './terminal.ts';

export interface QueryOptions extends Remote {
  readonly project?: string;
  /** `name=value` each. */
  readonly parameter?: readonly string[];
  readonly sql?: string;
  readonly format?: Format;
  readonly json?: boolean;
}

/** Asks an endpoint and prints its rows, as a table unless another format is wanted. */
export async function query(endpoint: string, options: QueryOptions): Promise<0> {
  const search = new URLSearchParams();
  if (options.project !== undefined) search.set('project', options.project);
  if (options.sql !== undefined) search.set('sql', options.sql);
  for (const parameter of options.parameter ?? []) {
    const [name = '', ...value] = parameter.split('=');
    if (value.length === 0) throw new Error(`Expected -p name=value, got "${parameter}".`);
    search.append(name, value.join('='));
  }
  const format = options.format ?? (options.json ? 'json' : 'ndjson');
  search.set('format', format);
  return withService<0>(options, 'answers', async ({ ask }) => {
    const path = `/api/endpoints/query/${encodeURIComponent(endpoint)}?${search}`;
    const answer = await ask(path);
    if (options.format || options.json) {
      const bytes = Buffer.from(await answer.arrayBuffer());
      const newline = format === 'json' ? '\n' : '';
      await write(Buffer.concat([bytes, Buffer.from(newline)]));
      return 0;
    }
    const rows: Record<string, unknown>[] = [];
    for await (const row of rowsOf(answer)) rows.push(row);
    if (rows.length > 0) console.log(table(rows));
    const more =
      answer.headers.get('Tailpond-Truncated') === 'true' ? ', and there may be more' : '';
    const stored = answer.headers.get('Tailpond-Ingested-At');
    const when = stored === null ? '' : `; the last entry was stored: ${stored}`;
    console.error(`${counted(rows.length, 'row')}${more}${when}`);
    return 0;
  });
}

/** Reads the rows of an answer in NDJSON. */
function rowsOf({ body }: Response): AsyncIterable<Record<string, unknown>> {
  const bytes = body ? Readable.fromWeb(body as ReadableStream<Uint8Array>) : Readable.from([]);
  // An error of either ends both, and the iteration throws it.
  return pipeline(bytes, ndjson.parse(), () => {});
}
