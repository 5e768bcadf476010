const { copyFileSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');

const browser = join(__dirname, 'browser');
const target = join(__dirname, '..', '..', 'dist', 'console');

/** Bundles the console into dist/console. Throws when esbuild is not installed, or what it is given has a fault. */
exports.buildConsole = function buildConsole() {
  require('esbuild').buildSync({
    entryPoints: [
      { in: join(browser, 'main.ts'), out: 'console' },
      { in: join(browser, 'console.css'), out: 'console' },
    ],
    outdir: target,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  mkdirSync(target, { recursive: true });
  for (const file of ['index.html', 'favicon.svg'])
    copyFileSync(join(browser, file), join(target, file));
};
