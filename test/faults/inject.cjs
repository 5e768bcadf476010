// Loaded into the service by NODE_OPTIONS: does on SIGUSR2 what TAILPOND_TEST_INJECT says, in the service's own process.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const faults = {
  rejection: () => void Promise.reject(new Error('injected rejection')),
  exception: () => {
    throw new Error('injected exception');
  },
  heap: () => {
    for (const held = []; ; ) held.push(Array.from({ length: 10_000 }, (_, i) => `${i} is held`));
  },
  // Opening and closing the database file anywhere in the process drops the engine's lock on it.
  'read-database': () => readFileSync(join(process.env.TAILPOND_DATA, 'store', 'tailpond.duckdb')),
};

const fault = faults[process.env.TAILPOND_TEST_INJECT];
delete process.env.TAILPOND_TEST_INJECT;
process.on('SIGUSR2', () => {
  fault();
  console.log('{"injected":true}');
});
