import type { Registry } from 'prom-client';
import type { Forwarder } from '../clickhouse/index.ts';
import { lookedUp } from './at-scrape.ts';
import type { KeptLedger } from './ledger.ts';

/** Adds what was forwarded to another database, what waits for it, and whether that goes well. */
export function forwardingMetrics(
  registry: Registry,
  forwarder: Pick<Forwarder, 'status'>,
  ledger: KeptLedger,
): void {
  const entries = async () => (await ledger())?.entries ?? [];
  lookedUp(registry, {
    kind: 'counter',
    name: 'tailpond_forwarded_rows_total',
    help: 'Rows that left the store for ClickHouse.',
    labels: ['source'],
    read: async () => (await entries()).map(({ source, forwarded }) => [{ source }, forwarded]),
  });
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_forwarding_lag_seconds',
    help: 'For how long the oldest row has waited to be forwarded; 0 when none waits.',
    labels: ['source'],
    read: async () =>
      (await entries()).map(({ source, oldest_ingested: oldest }) => [
        { source },
        oldest === null ? 0 : Math.max(0, Date.now() - Date.parse(oldest)) / 1000,
      ]),
  });
  lookedUp(registry, {
    kind: 'gauge',
    name: 'tailpond_forwarding_up',
    help: 'Whether the last shipment of the source reached ClickHouse, or none was due.',
    labels: ['source'],
    read: () =>
      forwarder
        .status()
        .map(({ source, trouble, stopped }) => [{ source }, trouble || stopped ? 0 : 1]),
  });
}
