import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../../ingest/index.ts';
import type { Clock, Store } from '../../server/store/index.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Both clocks of a store. Time passes only when the test says so, and the wall clock may be set wrong. */
export interface SimulatedClock extends Clock {
  advance(ms: number): void;
  set(wallMs: number): void;
}

export function simulatedClock(start = Date.UTC(2026, 2, 1)): SimulatedClock {
  let [wall, monotonic] = [start, 0];
  return {
    now: () => wall,
    monotonic: () => monotonic,
    advance(ms) {
      wall += ms;
      monotonic += ms;
    },
    set(wallMs) {
      wall = wallMs;
    },
  };
}

/** Stores lines as ingest does, a batch at a time, with an id that counts up from `from`, and rejected lines beside them. */
export async function append(
  store: Store,
  source: Source,
  lines: number,
  options: { from?: number; rejected?: number; rejectedBytes?: number } = {},
): Promise<void> {
  const { from = 0, rejected = 0, rejectedBytes = 300 } = options;
  const staging = join(store.staging, 'batch.ndjson');
  const text = Array.from({ length: lines }, (_, i) => line(from + i)).join('');
  writeFileSync(staging, text);
  await store.sink.append([
    {
      source,
      staging,
      staged: text.length,
      lines,
      slices: [{ file: 'a.ndjson', offset: 0, staged: 0 }],
      rejected: Array.from({ length: rejected }, (_, i) => ({
        file: 'a.ndjson',
        offset: i,
        length: rejectedBytes,
        reason: 'it is not a JSON object',
        line: Buffer.alloc(rejectedBytes, noise(from + i)),
      })),
      bytes: text.length,
      repaired: 0,
      undated: 0,
      undatedForms: [],
      future: 0,
      doubled: 0,
      files: [],
    },
  ]);
}

function line(number: number): string {
  return `{"id":"${number}","timestamp":"2026-01-01T00:00:00Z","project":"p${number % 7}","event_message":"GET /rest/v1/todos/${noise(number)} 200","metadata":{"n":${number},"agent":"${noise(number * 7 + 1)}"}}\n`;
}

/** Text that cannot be compressed much, the same for the same number. */
function noise(number: number): string {
  let state = (number * 2_654_435_761 + 12_345) >>> 0;
  let text = '';
  for (let i = 0; i < 5; i++) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    text += state.toString(36);
  }
  return text;
}
