/** Reads the samples as the service does, and compares each entry with the right row that stands beside it. */
import { readFileSync } from 'node:fs';
import { createFieldTable, createReader, LINE_FORMATS } from '../../server/lines/index.ts';

export interface Row {
  readonly timestamp: string | null;
  readonly message: string;
  readonly severity: string | null;
  readonly status: number | null;
  readonly metadata: Record<string, unknown>;
  readonly lines: number;
}

export interface Sample {
  readonly name: string;
  readonly program: string;
  readonly version: string;
  readonly language: string;
  readonly setting: string;
  readonly made: 'run' | 'by hand';
  readonly format: string;
  readonly zone: string;
  readonly rows: readonly Row[];
}

const FOLDER = new URL('./', import.meta.url);

export const samples: readonly Sample[] = JSON.parse(
  readFileSync(new URL('samples.json', FOLDER), 'utf8'),
);

const reader = createReader({
  table: createFieldTable(),
  offsetOf: () => 0,
  formats: LINE_FORMATS.auto,
  isSupabase: false,
  now: () => Date.UTC(2026, 11, 1),
});

/** Returns the lines of a sample, without the newline at its end. */
export function linesOf({ name }: Sample): string[] {
  const lines = readFileSync(new URL(`samples/${name}.log`, FOLDER), 'utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Returns the entries of lines, each with the number of lines before it. */
function entriesOf(lines: readonly string[]): Map<number, string> {
  const entries = new Map<number, string>();
  for (let at = 0; at < lines.length; ) {
    const first = lines[at] ?? '';
    let end = at + 1;
    if (first.trim() !== '') {
      const entry = reader.entry?.(first);
      for (let next = end; entry && next < lines.length; next++) {
        const line = lines[next] ?? '';
        if (line.trim() === '') continue;
        if (!entry.goesOn(line)) break;
        end = next + 1;
      }
      entries.set(at, lines.slice(at, end).join('\n').trim());
    }
    at = end;
  }
  return entries;
}

/** What a row says, as the judge compares it. */
export interface Facts {
  /** Milliseconds since the epoch; null where the entry names no moment. */
  readonly time: number | null;
  readonly message: string;
  readonly severity: string | null;
  readonly status: number | null;
}

export const FACTS = ['time', 'message', 'severity', 'status'] as const;

/** Returns what a row must say. A row without a word of severity has that of its status. */
export function factsOf({ timestamp, message, severity, status }: Row): Facts {
  return {
    time: timestamp === null ? null : Date.parse(timestamp),
    message: message.trim(),
    severity: severity ?? (status === null ? null : severityOfStatus(status)),
    status,
  };
}

function severityOfStatus(status: number): string {
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}

/** What became of a row of a sample: the facts of its one entry, or the reason why there is none. */
export interface Reading {
  readonly row: Row;
  readonly entry?: string | undefined;
  readonly found: Facts | string;
}

/** Reads each row of a sample as the service does. */
export function readingsOf(sample: Sample): Reading[] {
  const entries = entriesOf(linesOf(sample));
  return rowsOf(sample).map(({ row, at }) => {
    const places = [...entries.keys()].filter((place) => place >= at && place < at + row.lines);
    const entry = entries.get(places[0] ?? -1);
    if (entry === undefined || places.length > 1)
      return { row, entry, found: `${places.length} entries for one row` };
    return { row, entry, found: read(entry) };
  });
}

/** Returns the rows of a sample, each with the number of lines before it. */
export function rowsOf({ rows }: Sample): { row: Row; at: number }[] {
  let at = 0;
  return rows.map((row) => {
    const place = { row, at };
    at += row.lines;
    return place;
  });
}

function read(entry: string): Facts | string {
  const result = reader.read(entry);
  if (result.kind === 'rejected') return `rejected: ${result.reason}`;
  const found = JSON.parse(result.text);
  return {
    time: found['~at'] === undefined ? null : Math.floor(found['~at'] / 1000),
    message: (found.event_message ?? '').trim(),
    severity: found['~severity'] ?? null,
    status: found['~status'] ?? null,
  };
}

/** Returns the facts of a row that are wrong. */
export function wrongFacts({ row, found }: Reading): (keyof Facts)[] {
  if (typeof found === 'string') return [...FACTS];
  const right = factsOf(row);
  return FACTS.filter((fact) => found[fact] !== right[fact]);
}

/** Returns what is wrong with the rows of a sample, a text for each such row. */
export function faultsOf(sample: Sample): string[] {
  return readingsOf(sample).flatMap((reading) => {
    const { row, entry, found } = reading;
    const right = factsOf(row);
    const wrong = wrongFacts(reading).map((fact) =>
      typeof found === 'string'
        ? found
        : `${fact} ${JSON.stringify(found[fact])}, not ${JSON.stringify(right[fact])}`,
    );
    return wrong.length === 0
      ? []
      : [`${JSON.stringify(entry?.slice(0, 100))}: ${[...new Set(wrong)].join('; ')}`];
  });
}
