/** The value below which `share` of the numbers lie; NaN of none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** Latencies in short: ms. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly samples: number;
}

export function latency(ms: readonly number[]): Latency {
  return { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), samples: ms.length };
}

/** The medians of what several runs gave. */
export function medianLatency(runs: readonly Latency[]): Latency {
  return {
    p50: median(runs.map(({ p50 }) => p50)),
    p99: median(runs.map(({ p99 }) => p99)),
    samples: runs.reduce((sum, { samples }) => sum + samples, 0),
  };
}
