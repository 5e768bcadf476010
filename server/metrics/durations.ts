/** Bounds of the histograms, s: from a cached answer (under 1 ms) to the usual limit of a query (30 s). */
export const DURATIONS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
