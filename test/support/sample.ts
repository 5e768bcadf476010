/** Decides which samples this run takes; failures tell it. `TAILPOND_TEST_SEED` repeats a run. */
export const SAMPLE_SEED = Number(
  process.env.TAILPOND_TEST_SEED ?? Math.floor(Math.random() * 10_000),
);

/** Every `of`th of some items, from one on that differs from run to run, so that runs together take all of them. */
export function sampleOf<T>(items: readonly T[], of: number): T[] {
  return items.filter((_, n) => n % of === SAMPLE_SEED % of);
}
