import { SUPABASE_SOURCES, type SupabaseSource } from '../../ingest/index.ts';
import { BOUNDS, type Event, PROJECT } from './events.ts';
import type { Json } from './shape.ts';

/** An entry as a view of `logs.all` has it; its timestamp in microseconds. */
export type Row = Readonly<{
  id: string;
  timestamp: number;
  event_message: string;
  metadata: Json;
  project: string;
}>;

/** What a request may see: the rows of each view. */
export type Dataset = Readonly<Record<SupabaseSource, readonly Row[]>>;

/** The parameters beside `sql`: a lower bound that is exclusive and an upper one that is inclusive, in microseconds. */
export interface Window {
  readonly after?: number;
  readonly until?: number;
}

/** The windows that every request is tried in: all entries, and some two hours whose bounds are moments of entries. */
export const WINDOWS: readonly Window[] = [
  {},
  { after: BOUNDS[2] as number, until: BOUNDS[3] as number },
];

/** What of the entries a request of our project may see within a window. */
export function datasetOf(events: readonly Event[], { after, until }: Window): Dataset {
  const dataset = Object.fromEntries(
    SUPABASE_SOURCES.map((source) => [source, []]),
  ) as unknown as Record<SupabaseSource, Row[]>;
  for (const event of events) {
    const row = stored(event);
    if (row.project !== PROJECT) continue;
    if (after !== undefined && row.timestamp <= after) continue;
    if (until !== undefined && row.timestamp > until) continue;
    dataset[event.source].push(row as Row);
  }
  return dataset;
}

const COLUMNS = ['timestamp', 'id', 'project', 'event_message', 'metadata'];

/** The row that a line becomes, by the rules of lines in docs/lines.md. */
function stored({ line, moment }: Event): Omit<Row, 'project'> & { project: Json } {
  const others = Object.entries(line).filter(([name]) => !COLUMNS.includes(name));
  const flat = others.length > 0 ? Object.fromEntries(others) : null;
  const metadata = line.metadata ?? flat;
  const first = (Array.isArray(metadata) ? metadata[0] : metadata) as Record<string, Json> | null;
  return {
    id: line.id as string,
    timestamp: moment,
    event_message: line.event_message as string,
    metadata,
    project: [line.project, first?.project, first?.project_ref].find(isName) ?? PROJECT,
  };
}

/** Tells whether a value names a project: an empty text, an object and a list pass the turn on. */
function isName(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== '' && typeof value !== 'object';
}
