import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { Deadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { type Format, MEDIA_TYPES, writerOf } from '../formats/index.ts';
import type { Rows } from '../store/index.ts';
import { ENTRY, type EntryEngine, type Filter } from './engine.ts';
import { pages } from './pages.ts';

const COUNT = 'X-Row-Count';

export interface Export {
  readonly filter: Filter;
  readonly format: Format;
  readonly redact: ((text: string) => string) | undefined;
  /** A client that takes nothing for this long has gone. */
  readonly readMs: number;
}

/**
 * Sends any number of entries in flat memory. Their count comes at the end, in the text and as the trailer `X-Row-Count`; an
 * export that fails on the way breaks the connection, so that nobody takes it for whole. A Parquet file has its count in a
 * header. `deadline` bounds each page of text by itself.
 */
export async function sendExport(
  { filter, format, redact, readMs }: Export,
  response: Response,
  engine: Pick<EntryEngine, 'words' | 'ask' | 'parquet'>,
  deadline: Deadline,
): Promise<void> {
  const { signal } = deadline;
  if (format !== 'parquet')
    return sendText({ filter, format, redact, readMs }, response, engine, deadline);
  if (redact) {
    const detail =
      'Parquet is written by the engine, which redacts nothing: ask for json, ndjson or csv.';
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'format', detail }] });
  }
  const { rows, bytes, file, close } = await engine.parquet(filter, signal);
  try {
    setHeaders(response, filter, format);
    response.set({
      [COUNT]: String(rows),
      ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
    });
    response.setTimeout(readMs, () => response.destroy());
    await pipeline(file, response, { signal });
  } finally {
    await close();
  }
}

async function sendText(
  { filter, format, redact, readMs }: Export & { format: Exclude<Format, 'parquet'> },
  response: Response,
  engine: Pick<EntryEngine, 'words' | 'ask'>,
  deadline: Deadline,
) {
  const { signal } = deadline;
  const write = (text: string) => writeText(response, text, readMs, signal);
  const all = pages(filter, engine, deadline);
  // An error before the first page is an answer of its own.
  const first = await all.next();
  setHeaders(response, filter, format);
  // HTTP/1.0 has none, and Node throws where one is announced.
  if (response.useChunkedEncodingByDefault) response.set('Trailer', COUNT);
  // From here on an error breaks the connection: an answer of its own could not have this header.
  response.flushHeaders();
  const writer = writerOf(format, ENTRY, { redact, asStored: true });
  let count = 0;
  const send = async ({ rows }: Rows) => {
    count += rows.length;
    await write(writer.rows(rows));
  };
  await write(writer.begin());
  if (first.value) await send(first.value);
  for await (const page of all) await send(page);
  await write(writer.end(count));
  response.addTrailers({ [COUNT]: String(count) });
  response.end();
}

/** Waits until the client has taken what came before, for as long as it takes some of it: a page of some MB may take minutes. */
async function writeText(
  response: Response,
  text: string,
  readMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (text === '' || response.write(text)) return;
  // Node closes the connection, unless part of what is written was taken in that time.
  response.setTimeout(readMs);
  await once(response, 'drain', { signal });
  response.setTimeout(0);
}

/** Not before it is sure that there is something to send: an error is an answer of its own. */
function setHeaders(response: Response, { source }: Filter, format: Format) {
  response.set({
    'Content-Type': MEDIA_TYPES[format],
    'Content-Disposition': `attachment; filename="${source}.${format}"`,
    'Cache-Control': 'private, no-store',
  });
}
