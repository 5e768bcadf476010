import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { takeCases } from '../faults/case.ts';
import { takeCounts, watched } from './helpers.ts';
import { addToReport, closeReport, openReport } from './report.ts';

/**
 * Builds the service once before the tests. They start it from dist/, as users do, in half the time that it takes from its
 * sources.
 */
export function mochaGlobalSetup() {
  // mocha overwrites it at its end, but does not get there when one of its processes dies between two files.
  process.exitCode = 1;
  execFileSync(process.execPath, ['build.cjs'], { cwd: ROOT, stdio: 'inherit' });
  openReport();
}

/** After each file. */
export const mochaHooks = {
  afterAll() {
    addToReport({ cases: takeCases(), counts: takeCounts() });
    // H08 covers the services of all tests, not only of its suite.
    expect(watched.leaks).to.deep.equal([]);
  },
};

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
