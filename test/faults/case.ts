import type { CaseRow } from '../support/report.ts';
import { SLOW } from '../support/slow.ts';
import { CORE } from './core-cases.ts';

/** The cases of this suite and what became of them, for the table at its end. */
const table: CaseRow[] = [];

/** Set by `npm run test:long`: the cases that take minutes run, too, and others have larger numbers. */
export const LONG = process.env.TAILPOND_TEST_LONG === '1';

/** A case of the long form may take so many times as long. One that is cut off leaves its store open, and all that follow in its process fail. */
const LONGER = 6;

export interface CaseOptions {
  readonly timeoutMs?: number;
  /** Takes so long that it is a part of the long form only; the reason. */
  readonly longOnly?: string;
}

/**
 * Registers a case of the suite under its id: a letter for its subject (T tailing, D durability, H HTTP, P push, S callers'
 * SQL) and a number. Cases outside CORE are tagged as slow.
 */
export function faultCase(
  id: string,
  title: string,
  action: () => Promise<void>,
  { timeoutMs = 300_000, longOnly }: CaseOptions = {},
): void {
  if (longOnly && !LONG) return;
  it(titleOf(id, title), async function () {
    this.timeout(LONG ? LONGER * timeoutMs : timeoutMs);
    const row: CaseRow = { id, title, result: 'failed', ms: null };
    table.push(row);
    const begin = performance.now();
    try {
      await action();
      row.result = 'holds';
    } finally {
      row.ms = performance.now() - begin;
    }
  });
}

/** Registers a case that this machine cannot run: it is skipped by name, with the reason. */
export function notHere(id: string, title: string, reason: string): void {
  it(titleOf(id, title), function () {
    table.push({ id, title, result: `skipped: ${reason}`, ms: null });
    console.log(`      skipped: ${id}: ${reason}`);
    this.skip();
  });
}

function titleOf(id: string, title: string): string {
  return `${id}: ${title}${CORE.has(id) ? '' : ` ${SLOW}`}`;
}

/** The cases of the files that ran since the last call. */
export function takeCases(): CaseRow[] {
  return table.splice(0);
}
