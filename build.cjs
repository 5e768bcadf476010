// Compiles to dist/ when the compiler is installed; an image that was pruned of it runs the dist/ it has.
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');

const tsc = 'node_modules/typescript/bin/tsc';
if (existsSync(`${__dirname}/${tsc}`)) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: __dirname,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else if (!existsSync(`${__dirname}/dist/server/main.js`)) {
  console.error('dist/ is missing and so is the compiler: run `npm ci` first.');
  process.exitCode = 1;
}
