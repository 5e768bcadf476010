// Installs what tailpond is measured with and against, when it is missing or older than the list of it.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
  join(folder, name),
) as [string, string];

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(wanted).mtimeMs) {
  console.error('installing the peers into test/bench/node_modules (some 600 MB)');
  // No package of the list needs its scripts: binaries come as packages of their own, one a platform. Not `npm ci`, which
  // refuses a list that lacks a platform's; the versions are those of the list all the same.
  execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
