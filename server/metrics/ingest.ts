import type { Registry } from 'prom-client';
import { allSources, type Ingest, type SourceStatus } from '../../ingest/index.ts';
import type { LedgerEntry } from '../store/index.ts';
import { lookedUp, type Readings } from './at-scrape.ts';
import type { KeptLedger } from './ledger.ts';

/** Name, help and column of the ledger: what was counted since the store was made. */
const COUNTED = [
  ['ingest_lines_total', 'Lines taken: rows and rejected lines.', 'lines'],
  ['ingest_rows_total', 'Lines that became rows.', 'rows'],
  ['ingest_rejected_lines_total', 'Lines that were rejected.', 'rejected'],
  ['ingest_repaired_rows_total', 'Rows whose text was repaired.', 'repaired'],
  ['ingest_undated_rows_total', 'Rows that came without a timestamp.', 'undated'],
  ['ingest_future_rows_total', 'Rows whose timestamp was more than a day ahead.', 'future'],
  [
    'ingest_doubled_rows_total',
    'Rows with two members of one name in the line or in an object of it.',
    'doubled',
  ],
  ['ingest_bytes_total', 'Bytes taken from files.', 'bytes'],
] as const satisfies [string, string, keyof LedgerEntry][];

/** Name, help and field: how the tail of each source stands now. */
const STANDING = [
  ['ingest_files', 'Files that are followed.', 'files', 1],
  ['ingest_pending_bytes', 'Bytes of files that are still to be read.', 'pendingBytes', 1],
  [
    'ingest_lag_seconds',
    'How long the longest of the unread bytes have waited; 0 when there are none.',
    'lagMs',
    1000,
  ],
] as const satisfies [string, string, keyof SourceStatus, number][];

/** Adds what ingest has taken, and what it has not. */
export function ingestMetrics(
  registry: Registry,
  ingest: Pick<Ingest, 'status'>,
  ledger: KeptLedger,
): void {
  const labels = ['source'];
  for (const [name, help, column] of COUNTED)
    lookedUp(registry, {
      kind: 'counter',
      name: `tailpond_${name}`,
      help,
      labels,
      read: async () =>
        ((await ledger())?.entries ?? []).map((entry) => [{ source: entry.source }, entry[column]]),
    });
  for (const [name, help, field, divisor] of STANDING)
    lookedUp(registry, {
      kind: 'gauge',
      name: `tailpond_${name}`,
      help,
      labels,
      read: () =>
        ingest
          .status()
          .sources.map((status) => [{ source: status.source }, status[field] / divisor]),
    });
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_ingest_refused_files',
    help: 'What is there and not read; source "none" for what belongs to no source.',
    labels,
    read: () => refused(ingest),
  });
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_ingest_stalled',
    help: 'Whether no lines can be stored: reason "room" for too little free space, "error" for all else.',
    labels: ['reason'],
    read: () => stalled(ingest),
  });
}

function refused(ingest: Pick<Ingest, 'status'>): Readings {
  const all = ingest.status().refused;
  return [...allSources(), null].map((source) => [
    { source: source ?? 'none' },
    all.filter((refusal) => refusal.source === source).length,
  ]);
}

function stalled(ingest: Pick<Ingest, 'status'>): Readings {
  const { lastError: trouble, noRoom } = ingest.status();
  return [
    [{ reason: 'room' }, noRoom === null ? 0 : 1],
    [{ reason: 'error' }, trouble !== null && noRoom === null ? 1 : 0],
  ];
}
