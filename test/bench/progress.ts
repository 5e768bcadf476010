import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  step(count?: number): void;
  end(): void;
}

/** A bar on a terminal; elsewhere one line that says what is being done. */
export function progress(what: string, total: number): Progress {
  if (!process.stderr.isTTY) {
    console.error(`${what} (${total})`);
    return { step() {}, end() {} };
  }
  const format = `${what.padEnd(40)} {bar} {value}/{total} {eta_formatted}`;
  const bar = new SingleBar({ format, hideCursor: true, clearOnComplete: true }, Presets.rect);
  bar.start(total, 0);
  return { step: (count = 1) => bar.increment(count), end: () => bar.stop() };
}
