import type { Source } from '../../ingest/index.ts';
import type { Ask } from './ask.ts';

/** Bytes of the texts in the newest rows of a source; Infinity when they can not be read. 7 ms with 10 million rows. */
export async function newestBytes(ask: Ask, source: Source, rows: number): Promise<number> {
  const answer = ask(
    `select sum(strlen(event_message) + coalesce(strlen(metadata::varchar), 0)) as bytes
      from ${source}
      where rowid > (select max(rowid) - ${rows} from ${source})`,
  );
  // Mostly for want of memory. What else is wrong with the store is not for the start of ingest to find.
  return answer.then(
    ([sum]) => Number(sum?.bytes ?? 0),
    () => Infinity,
  );
}
