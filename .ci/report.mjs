// Sums what the parts of .ci/run told, and decides whether it passed: `node .ci/report.mjs <folder>`. The folder holds `parts`, a line a
// part (name, status, seconds, processor seconds, apart by blanks), and `<name>.jsonl`, the cases of each part that runs tests and what each
// file took, as test/support/reporter.cjs and test/support/setup.ts write them. The last line is "N passed, M failed", with ", K skipped" where cases were skipped.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** No case may take longer by itself, or one slow case keeps everybody waiting. */
const MOST_MS = 20_000;
const SLOWEST = 30;
/** Programs and rights that a machine may lack: nothing else excuses a skipped case. */
const EXCUSED = /skipped: .*(\broot\b|Docker Compose is missing)/g;

const folder = process.argv[2];
const read = (name) => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
const parts = read('parts')
  .split('\n')
  .filter(Boolean)
  .map((line) => {
    const [name, status, seconds, processor] = line.split(' ');
    const noted = read(`${name}.jsonl`)
      .split('\n')
      .filter(Boolean)
      .map((each) => JSON.parse(each));
    return {
      name,
      cases: noted.filter(({ result }) => result),
      files: noted.filter(({ result }) => !result),
      passed: status === '0',
      seconds: Number(seconds),
      processor: Number(processor),
    };
  });
const cases = parts.flatMap(({ name, cases }) => cases.map((each) => ({ ...each, part: name })));
const of = (result) => cases.filter((each) => each.result === result);
const faults = [];

for (const { name, passed } of parts) if (!passed) faults.push(`The part "${name}" failed.`);
// Each mocha run must have had cases, and each file of tests must have been in one.
for (const { name, cases } of parts)
  if (existsSync(join(folder, `${name}.jsonl`)) && cases.length === 0)
    faults.push(`The part "${name}" ran no tests.`);
for (const name of ['quick', 'newest-node', 'slow'])
  if (!parts.some((part) => part.name === name)) faults.push(`The part "${name}" did not run.`);
const ran = new Set(cases.map(({ file }) => file));
for (const name of readdirSync('test', { recursive: true })) {
  const file = join('test', name);
  if (file.endsWith('.test.ts') && !file.includes('node_modules') && !ran.has(file))
    faults.push(`No case of ${file} ran.`);
}
const excused = read('output').match(EXCUSED)?.length ?? 0;
if (of('skipped').length > excused)
  faults.push(
    `${of('skipped').length} cases were skipped, and ${excused} of them are excused; skipped tests prove nothing:`,
    ...of('skipped').map(({ file, title }) => `  ${file}: ${title}`),
  );
const budget = Number(readFileSync('.ci/processor-seconds', 'utf8'));
const used = Math.round(parts.reduce((sum, { processor }) => sum + processor, 0));
if (used > budget)
  faults.push(
    `All parts took ${used} processor seconds, and .ci/processor-seconds allows ${budget}: find what grew, or raise it with a reason.`,
  );
// Cases of one run share the processors, and the run shares them with others. Of four jobs on two processors a case took 2.6 to 3.0 times as
// long as by itself, since each has several processes.
const { jobs } = JSON.parse(readFileSync('.mocharc.json', 'utf8'));
const mostMs = (MOST_MS * Math.max(1, (1.5 * jobs) / availableParallelism())) / ownShare();
const slow = [...cases].sort((a, b) => b.ms - a.ms);
for (const { title, ms } of slow.filter((each) => each.ms > mostMs))
  faults.push(`A case took ${seconds(ms)} s, and may take ${seconds(mostMs)}: ${title}`);
for (const commit of unreasonedRaises())
  faults.push(
    `The commit ${commit} raises .ci/processor-seconds: its message needs a line "Budget: <the reason>".`,
  );

console.log(
  `\n${slow.filter(({ ms }) => ms > MOST_MS).length} cases took more than ${MOST_MS / 1000} s beside others; ${seconds(mostMs)} s is the most. The ${SLOWEST} slowest:`,
);
for (const { ms, part, file, title } of slow.slice(0, SLOWEST))
  console.log(`${seconds(ms).padStart(6)} s  ${part}  ${file}: ${title}`);
console.log(`\nThe ${SLOWEST} files that took longest, in the order of test/longest-first.txt:`);
for (const [file, { ms, processor }] of filesByTime().slice(0, SLOWEST))
  console.log(
    `${seconds(ms).padStart(6)} s, ${processor.toFixed(1).padStart(5)} processor s  ${file}`,
  );
console.log('\nThe parts:');
for (const { name, seconds, processor, cases } of parts)
  console.log(
    `${String(Math.round(seconds)).padStart(6)} s, ${String(Math.round(processor)).padStart(5)} processor s  ${name}${cases.length > 0 ? `, ${cases.length} cases` : ''}`,
  );
console.log(
  `${used} processor seconds of the ${budget} that are allowed; ${Math.round(100 * ownShare())} % of what this machine used.`,
);
for (const { title, file, error } of of('failed'))
  console.log(`\nFAILED ${file}: ${title}\n${error}`);
if (faults.length > 0) console.log(`\n${faults.join('\n')}`);
const skipped = of('skipped').length;
console.log(
  `${of('passed').length} passed, ${of('failed').length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
);
process.exitCode = faults.length > 0 || of('failed').length > 0 ? 1 : 0;

/** Returns the share that the parts had of the processor time that was used on this machine meanwhile, at most 1. */
function ownShare() {
  const [before, after] = read('machine')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.trim().split(/\s+/).slice(1).map(Number));
  if (!before || !after) return 1;
  // user, nice, system, idle, iowait, irq, softirq, steal: hundredths of a second.
  const busy = [0, 1, 2, 5, 6, 7].reduce((sum, n) => sum + after[n] - before[n], 0) / 100;
  return busy > 0 ? Math.min(1, used / busy) : 1;
}

function seconds(ms) {
  return (ms / 1000).toFixed(1);
}

function filesByTime() {
  const sums = new Map();
  const sumOf = (file) => {
    if (!sums.has(file)) sums.set(file, { ms: 0, processor: 0 });
    return sums.get(file);
  };
  for (const { file, ms } of cases) sumOf(file).ms += ms;
  for (const { files } of parts)
    for (const { file, processor } of files) sumOf(file).processor += processor;
  return [...sums].sort(([, a], [, b]) => b.ms - a.ms);
}

/** Returns the commits that raised the budget and do not say why. */
function unreasonedRaises() {
  const path = '.ci/processor-seconds';
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' });
  const at = (commit) => {
    try {
      return Number(git('show', `${commit}:${path}`));
    } catch {
      // The file is new, or the history is cut off there.
      return Number.POSITIVE_INFINITY;
    }
  };
  try {
    const commits = git('log', '--format=%H', '--', path).split('\n').filter(Boolean);
    return commits.filter(
      (commit) =>
        at(commit) > at(`${commit}^`) &&
        !/^Budget: \S/m.test(git('log', '-1', '--format=%B', commit)),
    );
  } catch {
    // An archive without a history can raise nothing.
    return [];
  }
}
