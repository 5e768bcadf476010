// The lines that every driver writes. The recorder gives the tape's name in NAME.

import { setTimeout as sleep } from 'node:timers/promises';

const START = Date.parse('2026-11-20T10:00:00Z');

export { sleep };

/** Returns the fields of line `n`. */
export function fields(n) {
  return {
    id: `${process.env.NAME}-${n}`,
    timestamp: new Date(START + n * 1000).toISOString(),
    project: 'p',
  };
}

/** Writes `count` lines with short pauses, and a longer one after every `block` lines. */
export async function writeLines(count, write, { pause = 15, block = 6, rest = 350 } = {}) {
  for (let n = 0; n < count; n++) {
    await write(JSON.stringify(fields(n)), n);
    await sleep(n % block === block - 1 ? rest : pause);
  }
  await sleep(rest);
}
