/** Prints how many rows of each sample are read right, and with a name of a sample what is wrong with its others. */
import { faultsOf, samples } from './judge.ts';

const [, , shown] = process.argv;
let right = 0;
let all = 0;
for (const sample of samples) {
  const faults = faultsOf(sample);
  right += sample.rows.length - faults.length;
  all += sample.rows.length;
  if (shown && sample.name.includes(shown)) console.log(faults.join('\n'));
  else if (!shown && faults.length > 0)
    console.log(`${sample.name}: ${sample.rows.length - faults.length} of ${sample.rows.length}`);
}
console.log(`${right} of ${all} rows are right.`);
