import type { CaseRow } from '../report.ts';

/** The cases of this suite and what became of them, for the table at its end. */
const table: CaseRow[] = [];

/** `npm run test:faults -- --long`: with the cases that take minutes, and larger numbers in the others. */
export const LONG = process.env.TAILPOND_TEST_LONG === '1';

export interface CaseOptions {
  readonly timeoutMs?: number;
  /** Takes so long that it is a part of the long form only; the reason. */
  readonly longOnly?: string;
}

/** A case of the suite under its id: a letter for what it is about (T tailing, D durability, H HTTP) and a number. */
export function faultCase(
  id: string,
  title: string,
  action: () => Promise<void>,
  { timeoutMs = 120_000, longOnly }: CaseOptions = {},
): void {
  if (longOnly && !LONG) {
    table.push({ id, title, result: `in the long form only: ${longOnly}`, ms: null });
    return;
  }
  const row: CaseRow = { id, title, result: 'did not run', ms: null };
  table.push(row);
  it(`${id}: ${title}`, async function () {
    this.timeout(timeoutMs);
    row.result = 'failed';
    const begin = performance.now();
    try {
      await action();
      row.result = 'holds';
    } finally {
      row.ms = performance.now() - begin;
    }
  });
}

/** A case that no machine of this kind can run. */
export function notHere(id: string, title: string, reason: string): void {
  table.push({ id, title, result: `not here: ${reason}`, ms: null });
}

/** The cases of the files that ran since the last call. */
export function takeCases(): CaseRow[] {
  return table.splice(0);
}
