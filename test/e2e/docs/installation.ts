import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../server/config/package-root.ts';

const INSTALLED = ['package.json', 'build.cjs', 'dist', 'sql', 'server/launch.cjs'];

/** Puts the project as it is installed, built and without the bundler, into a folder that is not there yet. */
export function install(folder: string): void {
  for (const name of INSTALLED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  // Without the bundler `npm start` runs what is built, as in the image.
  for (const name of readdirSync(packages).filter((name) => name !== 'esbuild'))
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
}
