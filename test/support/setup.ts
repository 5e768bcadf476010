import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { ROOT } from '../../server/config/package-root.ts';
import { takeCases } from '../faults/case.ts';
import { takeCounts, watched } from './helpers.ts';
import { addToReport, closeReport, openReport } from './report.ts';

/**
 * Builds the service once before the tests, unless `TAILPOND_TEST_BUILT` says that it is built. They start it from dist/, as users do, in
 * half the time that it takes from its sources.
 */
export function mochaGlobalSetup() {
  // mocha overwrites it at its end, but does not get there when one of its processes dies between two files.
  process.exitCode = 1;
  if (!process.env.TAILPOND_TEST_BUILT)
    execFileSync(process.execPath, ['build.cjs'], { cwd: ROOT, stdio: 'inherit' });
  openReport();
}

const STAT = '/proc/self/stat';
let before = processorSeconds();

/** After each file. */
export const mochaHooks = {
  afterAll(this: Context) {
    addToReport({ cases: takeCases(), counts: takeCounts() });
    const after = processorSeconds();
    noteFile(this.test?.parent?.suites.at(-1)?.file, after - before);
    before = after;
    // H08 covers the services of all tests, not only of its suite.
    expect(watched.leaks).to.deep.equal([]);
  },
};

/** Returns the processor seconds of this process and of its children that have ended. */
function processorSeconds(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // Linux alone tells the times of children, in hundredths of a second, behind the name, which may hold blanks.
  const fields = existsSync(STAT)
    ? readFileSync(STAT, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
    : [];
  const ofChildren = Number(fields[13] ?? 0) + Number(fields[14] ?? 0);
  return (userCPUTime + systemCPUTime) / 1e6 + ofChildren / 100;
}

function noteFile(file: string | undefined, processor: number) {
  const path = process.env.TAILPOND_TEST_CASES;
  if (path && file)
    appendFileSync(path, `${JSON.stringify({ file: relative(ROOT, file), processor })}\n`);
}

export function mochaGlobalTeardown() {
  const { cases, counts } = closeReport();
  const rows = cases
    .toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))
    .map(({ id, title, result, ms }) => {
      const time = ms === null ? '' : `${(ms / 1000).toFixed(1)} s`;
      return `| ${id} | ${title} | ${result} | ${time} |`;
    });
  if (rows.length > 0)
    console.log(
      ['', '| case | what | result | time |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    );
  const { starts, kills, requests } = counts;
  console.log(
    `\nThe tests started the service ${starts} times as a process, ${kills} of which SIGKILL ended; it answered ${requests} requests.`,
  );
}
