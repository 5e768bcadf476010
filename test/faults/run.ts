import { spawn } from 'node:child_process';
import { once } from 'node:events';

// npm run test:faults -- [--long] [mocha's own options]
const options = process.argv.slice(2);
const child = spawn(
  'mocha',
  ['test/faults/**/*.test.ts', ...options.filter((text) => text !== '--long')],
  {
    env: { ...process.env, TAILPOND_TEST_LONG: options.includes('--long') ? '1' : '' },
    stdio: 'inherit',
  },
);
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
