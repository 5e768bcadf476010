import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../server/root.ts';

const INSTALLED = [
  'package.json',
  'build.cjs',
  'dist',
  'sql',
  'server/launch.cjs',
  'server/environment.cjs',
];

const COMPILERS = ['typescript', 'esbuild'];

/** Puts the project as it is installed, compiled and without the compilers, into a folder that is not there yet. */
export function install(folder: string): void {
  for (const name of INSTALLED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  // Without the compilers `npm start` runs what is built, as in the image: it saves each command half a second.
  for (const name of readdirSync(packages).filter((name) => !COMPILERS.includes(name)))
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
}
