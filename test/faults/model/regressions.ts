import type { History } from './operations.ts';

/** Histories that failed once, each under what went wrong. */
export const REGRESSIONS: Readonly<Record<string, History>> = {};
