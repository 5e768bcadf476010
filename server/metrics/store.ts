import type { Registry } from 'prom-client';
import { checkReady, type Parts } from '../admin/health.ts';
import type { LedgerEntry, Store } from '../store/index.ts';
import { lookedUp } from './at-scrape.ts';
import type { KeptLedger } from './ledger.ts';

/** Name, help and how it is told by an entry of the ledger: what of a source is stored now. */
const STORED: readonly [string, string, (entry: LedgerEntry) => number | null][] = [
  ['stored_rows', 'Rows that are stored now.', ({ stored }) => stored],
  [
    'stored_bytes',
    'Bytes that rows and rejected lines take on the disk; an estimate, up to a minute old.',
    ({ size }) => size,
  ],
  [
    'oldest_row_timestamp_seconds',
    'Timestamp of the oldest row, since the epoch; absent when there is none.',
    ({ oldest }) => seconds(oldest),
  ],
  [
    'newest_row_timestamp_seconds',
    'Timestamp of the newest row, since the epoch; absent when there is none.',
    ({ newest }) => seconds(newest),
  ],
];

/** The same for what retention has removed. */
const REMOVED: typeof STORED = [
  ['removed_rows_total', 'Rows that retention removed.', ({ removed }) => removed],
  [
    'removed_rejected_lines_total',
    'Rejected lines that retention removed.',
    (entry) => entry.removed_rejected,
  ],
];

/** Adds what is stored, what retention removed, what that takes of the disk, and whether all is well. */
export function storeMetrics(
  registry: Registry,
  parts: Parts & { readonly store: Pick<Store, 'disk' | 'settling'> },
  ledger: KeptLedger,
): void {
  const { store } = parts;
  const bySource = (kind: 'counter' | 'gauge', [name, help, tell]: (typeof STORED)[number]) =>
    lookedUp(registry, {
      kind,
      name: `tailpond_${name}`,
      help,
      labels: ['source'],
      read: async () =>
        ((await ledger())?.entries ?? []).map((entry) => [{ source: entry.source }, tell(entry)]),
    });
  const single = (name: string, help: string, tell: () => Promise<number | null>) =>
    lookedUp(registry, {
      kind: 'gauge',
      name: `tailpond_${name}`,
      help,
      labels: [],
      read: async () => [[{}, await tell()]],
    });

  for (const metric of STORED) bySource('gauge', metric);
  for (const metric of REMOVED) bySource('counter', metric);
  lookedUp(registry, {
    kind: 'counter',
    name: 'tailpond_settled_rows_total',
    help: 'Rows that were put in order, and whose members got columns, since the start.',
    labels: ['source'],
    read: async () => Array.from(store.settling.rows(), ([source, rows]) => [{ source }, rows]),
  });
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_store_file_bytes',
    help: 'Sizes of the database file and of its write-ahead log.',
    labels: ['file'],
    read: async () => {
      const { database, wal } = await store.disk();
      return [
        [{ file: 'database' }, database],
        [{ file: 'wal' }, wal],
      ];
    },
  });
  single(
    'disk_free_bytes',
    'Bytes that may still be written to the disk of the store.',
    async () => (await store.disk()).free,
  );
  single(
    'disk_min_free_bytes',
    'Free bytes below which nothing is stored (TAILPOND_MIN_FREE); 0 when it is off.',
    async () => (await store.disk()).minFree,
  );
  single('ledger_age_seconds', 'How old the counts of the ledger in this answer are.', async () => {
    const kept = await ledger();
    return kept && kept.ageMs / 1000;
  });
  single('ready', 'Whether queries are answered and lines can be stored, as /readyz says.', () =>
    checkReady(parts).then(
      () => 1,
      () => 0,
    ),
  );
}

function seconds(moment: string | null): number | null {
  return moment === null ? null : Date.parse(moment) / 1000;
}
