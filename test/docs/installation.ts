import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../server/root.ts';

/** The project as it is installed: compiled, with the packages that it needs at run time, and without the compiler. */
export interface Installation {
  /** Puts a copy into a folder that is not there yet. */
  copyTo(folder: string): void;
  remove(): void;
}

const SOURCES = [
  'package.json',
  'build.cjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'server',
  'ingest',
];
const INSTALLED = [
  'package.json',
  'build.cjs',
  'dist',
  'sql',
  'server/launch.cjs',
  'server/environment.cjs',
];

const COMPILERS = ['typescript', 'esbuild'];

/** Compiles the project in a folder of its own. */
export function install(): Installation {
  const built = mkdtempSync(join(tmpdir(), 'tailpond-docs-'));
  for (const name of [...SOURCES, 'sql'])
    cpSync(join(ROOT, name), join(built, name), { recursive: true });
  const packages = join(ROOT, 'node_modules');
  symlinkSync(packages, join(built, 'node_modules'));
  execFileSync(process.execPath, ['build.cjs'], {
    cwd: built,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    copyTo(folder) {
      for (const name of INSTALLED)
        cpSync(join(built, name), join(folder, name), { recursive: true });
      mkdirSync(join(folder, 'node_modules'));
      // Without the compilers `npm start` runs what is built, as in the image: it saves each command half a second.
      for (const name of readdirSync(packages).filter((name) => !COMPILERS.includes(name)))
        symlinkSync(join(packages, name), join(folder, 'node_modules', name));
    },
    remove: () => rmSync(built, { recursive: true, force: true }),
  };
}
