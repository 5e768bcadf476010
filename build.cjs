// Bundles the service and the console into dist/ when the bundler is installed; an image that was pruned of it runs the dist/
// it has. One start reads a few files instead of a thousand, which halves its processor time.
const { existsSync, readdirSync, rmSync } = require('node:fs');
const { join } = require('node:path');

const has = (path) => existsSync(join(__dirname, path));

if (has('node_modules/esbuild')) {
  buildService();
  require('./server/console/build.cjs').buildConsole();
} else if (!has('dist/server/main.js')) {
  console.error('dist/ is missing, and so is the bundler: run `npm ci` first.');
  process.exitCode = 1;
}

function buildService() {
  const { metafile } = require('esbuild').buildSync({
    absWorkingDir: __dirname,
    entryPoints: ['server/main.ts'],
    outdir: 'dist/server',
    bundle: true,
    // What only one command needs is loaded by that command.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    // Packages that find files of their own beside them: the engine's library, pino's worker, the pages of Swagger.
    external: ['@duckdb/node-bindings', 'pino', 'pino-pretty', 'swagger-ui-dist'],
    // Bundled CommonJS packages call require().
    banner: {
      js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  // Names of parts carry a hash. What an older build left goes last: a service that runs from it may still load a part.
  const built = new Set(Object.keys(metafile.outputs));
  for (const name of readdirSync(join(__dirname, 'dist/server')))
    if (!built.has(`dist/server/${name}`))
      rmSync(join(__dirname, 'dist/server', name), { recursive: true });
}
