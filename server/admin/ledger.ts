import type { Ingest } from '../../ingest/index.ts';
import type { Plain, Store } from '../store/index.ts';

/** Returns what the store and ingest have counted of each source, and the files that are not read. */
export async function ledger(
  store: Pick<Store, 'ledger'>,
  ingest: Pick<Ingest, 'status'>,
): Promise<Plain[]> {
  const { sources, refused } = ingest.status();
  const now = new Map(sources.map((status) => [status.source, status]));
  const copies = sources.flatMap(({ source, copies: own }) =>
    own.map(({ path, of }) => ({ source, path, reason: `it is a copy of ${of}, which is read` })),
  );
  const notRead = (source: string | null): Plain[] =>
    [...refused, ...copies]
      .filter((refusal) => refusal.source === source)
      .map(({ path, reason }) => ({ path, reason }));
  const entries: Plain[] = (await store.ledger()).map(({ source, ...counted }) => ({
    source,
    files: now.get(source)?.files ?? 0,
    pending_bytes: now.get(source)?.pendingBytes ?? 0,
    lag_seconds: Math.round(now.get(source)?.lagMs ?? 0) / 1000,
    ...counted,
    refused: notRead(source),
  }));
  const homeless = notRead(null);
  return homeless.length === 0 ? entries : [...entries, { source: null, refused: homeless }];
}
