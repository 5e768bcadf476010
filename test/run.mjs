// Runs the tests of a tier with mocha, the longest files first, so that no process is left alone with one of them at the end.
//   quick   what `npm test` runs
//   slow    what `npm test` leaves out: .ci/run
//   long    everything, the long forms with it: before a release
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [tier, ...options] = process.argv.slice(2);
const TIERS = {
  quick: ['--grep', '@slow|@long', '--invert'],
  slow: ['--grep', '^(?!.*@long).*@slow'],
  long: ['--timeout', '1800000'],
};
if (!(tier in TIERS)) {
  console.error(`Expected a tier, one of ${Object.keys(TIERS).join(', ')}, got ${tier}.`);
  process.exit(2);
}

/** The files whose long forms take longest. */
const LONG_FORMS = [
  'faults/forwarding',
  'faults/fail-call',
  'faults/push-kills',
  'unit/ingest/long-histories',
  'unit/ingest/histories',
  'faults/logrotate',
].map((name) => `test/${name}.test.ts`);
const order = [
  ...(tier === 'long' ? LONG_FORMS : []),
  ...readFileSync('test/longest-first.txt', 'utf8').split('\n'),
];
const rank = (file) => (order.includes(file) ? order.indexOf(file) : order.length);
const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
const { status } = spawnSync('mocha', [...TIERS[tier], ...options, ...files], {
  stdio: 'inherit',
  env: { ...process.env, ...(tier === 'long' ? { TAILPOND_TEST_LONG: '1' } : {}) },
});
process.exit(status ?? 1);
