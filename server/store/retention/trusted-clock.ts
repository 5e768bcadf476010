import { allSources } from '../../../ingest/index.ts';
import type { Clock } from '../clock.ts';
import type { QueryRows } from '../read/query-rows.ts';
import type { Writer } from '../write/writer.ts';
import { EARLIEST_MS, type Moment } from './plan.ts';

/** The trusted time follows the clock of the machine at most this many times as fast as time passes (docs/decisions/0007). */
const FOLLOW = 24;
/** It is written down when it has moved by this much: a start makes up for it in minutes. */
const SAVE_MS = 3_600_000;
const earliest = `make_timestamp_ms(${EARLIEST_MS})`;

/** The moment that retention believes it is: the machine's clock, followed slowly, in case it is wrong. */
export function trustedTime({
  writer,
  ask,
  clock,
}: {
  readonly writer: Pick<Writer, 'exclusive'>;
  readonly ask: QueryRows;
  readonly clock: Clock;
}) {
  let trusted: { ms: number; at: number; savedMs: number } | null = null;
  const one = async (sql: string) => (await ask(sql))[0] ?? {};

  const now = async (): Promise<Moment> => {
    const wallMs = Math.floor(clock.now());
    const at = clock.monotonic();
    // There is no trusted time before the clock was set once.
    if (!trusted && wallMs < EARLIEST_MS) return { wallMs, trustedMs: wallMs };
    trusted ??= { ms: await lastBelieved(wallMs), at, savedMs: 0 };
    const reach = FOLLOW * (at - trusted.at);
    const ms = Math.floor(
      wallMs < EARLIEST_MS
        ? trusted.ms
        : Math.min(trusted.ms + reach, Math.max(trusted.ms - reach, wallMs)),
    );
    trusted = { ...trusted, ms, at };
    return { wallMs, trustedMs: Math.min(wallMs, ms) };
  };

  /** The last trusted time; in a store without one, the time of its newest line. */
  const lastBelieved = async (wallMs: number): Promise<number> => {
    const saved = await one(
      `select epoch_ms(max(trusted_at)) as ms from retention_clock where trusted_at >= ${earliest}`,
    );
    if (saved.ms !== null) return Number(saved.ms);
    const newest = allSources().map((source) => `select max(ingested_at) as newest from ${source}`);
    const stored = await one(
      `select epoch_ms(max(newest)) as ms from (${newest.join(' union all ')}) where newest between ${earliest} and make_timestamp_ms(${wallMs})`,
    );
    return stored.ms === null ? wallMs : Number(stored.ms);
  };

  const save = async (afterMs = SAVE_MS) => {
    if (!trusted || Math.abs(trusted.ms - trusted.savedMs) < afterMs) return;
    const { ms } = trusted;
    await writer.exclusive(({ transaction }) =>
      transaction(async (connection) => {
        await connection.run('delete from retention_clock');
        await connection.run(`insert into retention_clock values (make_timestamp_ms(${ms}))`);
      }),
    );
    trusted = { ...trusted, savedMs: ms };
  };

  return {
    now,
    /** Keeps it for the next start, when it has moved by so much. */
    save,
    /** How far the machine's clock is ahead of it, ms. */
    lagMs: () => (trusted ? Math.max(0, clock.now() - trusted.ms) : 0),
  };
}
