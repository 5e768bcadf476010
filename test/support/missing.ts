import type { Context } from 'mocha';

/** Skips a test that needs a program which is not there, and says so by name. */
export function missing(test: Context, program: string, how: string): void {
  console.log(`      skipped: ${test.test?.title}: ${program} is missing; ${how}`);
  test.skip();
}
