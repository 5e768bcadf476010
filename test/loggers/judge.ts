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

/** Returns what is wrong with the rows of a sample, a text for each row. */
export function faultsOf(sample: Sample): string[] {
  const entries = entriesOf(linesOf(sample));
  const faults: string[] = [];
  let at = 0;
  for (const row of sample.rows) {
    const places = [...entries.keys()].filter((place) => place >= at && place < at + row.lines);
    const [place] = places;
    const entry = place === undefined ? undefined : entries.get(place);
    at += row.lines;
    const fault =
      entry === undefined || places.length > 1
        ? `${places.length} entries for one row`
        : faultOf(entry, row);
    if (fault) faults.push(`${JSON.stringify(entry?.slice(0, 100))}: ${fault}`);
  }
  return faults;
}

/** A row without a word of severity has that of its status. */
function severityOf({ severity, status }: Row): string | null {
  if (severity !== null || status === null) return severity;
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}

function faultOf(entry: string, row: Row): string | null {
  const read = reader.read(entry);
  if (read.kind === 'rejected') return `rejected: ${read.reason}`;
  const found = JSON.parse(read.text);
  const moment = found['~at'] === undefined ? null : Math.floor(found['~at'] / 1000);
  const expected = row.timestamp === null ? null : Date.parse(row.timestamp);
  const pairs: [string, unknown, unknown][] = [
    ['moment', moment, expected],
    ['message', (found.event_message ?? '').trim(), row.message.trim()],
    ['severity', found['~severity'] ?? null, severityOf(row)],
    ['status', found['~status'] ?? null, row.status],
  ];
  const wrong = pairs.filter(([, is, right]) => is !== right);
  if (wrong.length === 0) return null;
  return wrong
    .map(([name, is, right]) => `${name} ${JSON.stringify(is)}, not ${JSON.stringify(right)}`)
    .join('; ');
}
