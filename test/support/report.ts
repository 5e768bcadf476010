import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A case of the fault suite and what became of it. */
export interface CaseRow {
  readonly id: string;
  readonly title: string;
  result: string;
  ms: number | null;
}

/** Counts what the services did that the tests started as processes. */
export interface Counts {
  starts: number;
  /** SIGKILLs, from a test or from the service itself. */
  kills: number;
  /** Requests with a log line, which services write once they have answered. */
  requests: number;
}

export interface Report {
  readonly cases: readonly CaseRow[];
  readonly counts: Counts;
}

const FOLDER = 'TAILPOND_TEST_REPORT';
const PARTS = 'parts.jsonl';

/** Opens the file that gathers the reports of test files, which run in processes beside each other. */
export function openReport(): void {
  const folder = mkdtempSync(join(tmpdir(), 'tailpond-report-'));
  writeFileSync(join(folder, PARTS), '');
  process.env[FOLDER] = folder;
}

/** Adds a part; parts are summed. */
export function addToReport(part: Report): void {
  const folder = process.env[FOLDER];
  if (folder) appendFileSync(join(folder, PARTS), `${JSON.stringify(part)}\n`);
}

/** Returns the whole report and removes its file. */
export function closeReport(): Report {
  const folder = process.env[FOLDER];
  if (!folder) throw new Error('BUG: no report is open');
  const lines = readFileSync(join(folder, PARTS), 'utf8').split('\n').filter(Boolean);
  rmSync(folder, { recursive: true });
  const parts = lines.map((line) => JSON.parse(line) as Report);
  const sum = (of: keyof Counts) => parts.reduce((total, { counts }) => total + counts[of], 0);
  return {
    cases: parts.flatMap(({ cases }) => cases),
    counts: { starts: sum('starts'), kills: sum('kills'), requests: sum('requests') },
  };
}
