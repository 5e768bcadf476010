// Compiles to dist/ when the compilers are installed; an image that was pruned of them runs the dist/ it has.
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');

const tsc = 'node_modules/typescript/bin/tsc';
const has = (path) => existsSync(`${__dirname}/${path}`);
if (has(tsc)) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: __dirname,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else if (!has('dist/server/main.js')) {
  console.error('dist/ is missing and so is the compiler: run `npm ci` first.');
  process.exitCode = 1;
}
if (!process.exitCode && has('server/console/build.cjs') && has('node_modules/esbuild'))
  require('./server/console/build.cjs').buildConsole();
