import type { Store } from '../store/index.ts';

/** Says how many rows a store has forwarded, which are in no answer while the settings name no ClickHouse; null where it has none. */
export async function unansweredRows({ ledger }: Pick<Store, 'ledger'>): Promise<string | null> {
  let rows = 0;
  for (const { forwarded } of await ledger()) rows += forwarded;
  if (rows === 0) return null;
  return `${rows} rows were forwarded to ClickHouse and are in no answer, because TAILPOND_CLICKHOUSE_URL names none`;
}
