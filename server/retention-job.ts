import type { IngestLog } from '../ingest/index.ts';
import type { Config } from './config/config.ts';
import { forAll, ofEach } from './config/parse.ts';
import { isoUtc, type Limits, type Plain, type Removal, type Retention } from './store/index.ts';

/** What retention goes by. Rows that are to be forwarded stay, however old and many they are. */
export function limitsOf(config: Config): Limits {
  if (!config.clickhouse) return config;
  const maxSourceBytes = ofEach(forAll(Number.POSITIVE_INFINITY));
  return { ...config, rowsStay: true, maxBytes: Number.POSITIVE_INFINITY, maxSourceBytes };
}

export interface RetentionOptions {
  readonly retention: Retention;
  readonly limits: Limits;
  readonly log: Pick<IngestLog, 'info' | 'warn' | 'error'>;
  readonly timer?: Timer;
  /** Between two runs; to look costs a few ms where nothing is to be removed. */
  readonly everyMs: number;
}

interface Timer {
  setTimeout(action: () => void, ms: number): { unref(): void };
}

/** How soon it is looked again when space is still to be given back. */
const SOON_MS = 2_000;
/** Where the machine's clock is ahead by more than this, it is said once. */
const LAG_MS = 24 * 3_600_000;

/** Removes what is beyond the limits, now and again after each `everyMs`, until closed. */
export function startRetention({
  retention,
  limits,
  log,
  timer = globalThis,
  everyMs,
}: RetentionOptions) {
  const stopping = new AbortController();
  let behind = false;
  const run = async () => {
    try {
      const removals = await retention.run(limits, stopping.signal);
      if (removals.length > 0) log.info({ removed: summary(removals) }, 'retention removed rows');
      report(retention.lagMs() > LAG_MS);
    } catch (error) {
      // Harmless: nothing or a whole step was done, and the next run looks anew.
      if (!stopping.signal.aborted)
        log.error({ err: error }, 'retention failed; it is tried again');
    }
    timer.setTimeout(again, retention.owes() ? SOON_MS : everyMs).unref();
  };
  const again = () => {
    if (!stopping.signal.aborted) running = run();
  };
  const report = (ahead: boolean) => {
    if (ahead && !behind)
      log.warn(
        { days: Math.round(retention.lagMs() / LAG_MS) },
        'the clock is far ahead of the last run: retention follows it slowly, in case it is wrong',
      );
    behind = ahead;
  };
  let running = run();

  return {
    /** Ends after the step at hand. */
    async close() {
      stopping.abort();
      await running;
    },
  };
}

/** What `run` would remove now, an entry for each source and reason. */
export async function previewRetention(retention: Retention, limits: Limits): Promise<Plain[]> {
  const removals = await retention.preview(limits);
  return summary(removals).map(({ rows, rejected, ...entry }) => ({
    source: entry.source,
    why: entry.why,
    would_remove_rows: rows,
    would_remove_rejected: rejected,
    oldest: isoUtc(BigInt(entry.oldestMs) * 1000n),
    newest: isoUtc(BigInt(entry.newestMs) * 1000n),
    bytes: entry.bytes,
  }));
}

function summary(removals: readonly Removal[]) {
  const keys = new Set(removals.map(({ source, why }) => `${source} ${why}`));
  return [...keys].map((key) => {
    const own = removals.filter(({ source, why }) => `${source} ${why}` === key);
    const sum = (of: (removal: Removal) => number) => own.reduce((all, one) => all + of(one), 0);
    return {
      source: key.split(' ')[0] ?? '',
      why: key.split(' ')[1] ?? '',
      rows: sum(({ kind, rows }) => (kind === 'rows' ? rows : 0)),
      rejected: sum(({ kind, rows }) => (kind === 'rejected' ? rows : 0)),
      oldestMs: Math.min(...own.map(({ oldestMs }) => oldestMs)),
      newestMs: Math.max(...own.map(({ newestMs }) => newestMs)),
      bytes: sum(({ bytes }) => bytes),
    };
  });
}
