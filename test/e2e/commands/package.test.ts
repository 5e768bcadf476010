import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { withFolder } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';

const COMMAND_MS = 60_000;
const LEFT_OUT = ['.git', 'node_modules', 'dist', 'data', 'test', '.shippers'];

describe(`the package ${SLOW}`, () => {
  let env: NodeJS.ProcessEnv;

  it('is packed and installed into an empty folder, where its command runs', () =>
    withFolder(async (folder) => {
      const scratch = join(folder, 'tmp');
      mkdirSync(scratch);
      env = { PATH: process.env.PATH, HOME: folder, TMPDIR: scratch, TAILPOND_PORT: '0' };
      const place = join(folder, 'place');
      install(pack(join(folder, 'checkout')), place);

      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      expect(npx(place, ['--version'])).to.equal(`${version}\n`);
      const endpoints = readdirSync(join(ROOT, 'sql/endpoints'))
        .filter((name) => name.endsWith('.sql'))
        .map((name) => name.slice(0, -'.sql'.length))
        .sort();
      expect(npx(place, ['check'])).to.include(`ok    endpoints: ${endpoints.join(', ')}\n`);
      expect(readdirSync(place)).to.deep.equal(['node_modules']);

      const demo = spawn(join(place, 'node_modules/.bin/tailpond'), ['demo'], {
        cwd: place,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const closed = once(demo, 'close');
      try {
        const page = await fetch(await addressOf(demo));
        expect(page.status).to.equal(200);
        expect(await page.text()).to.include('<title>');
      } finally {
        demo.kill('SIGTERM');
      }
      expect((await closed)[0]).to.equal(0);
      expect(readdirSync(scratch).filter((name) => name.startsWith('tailpond-'))).to.deep.equal([]);
    })).timeout(3 * COMMAND_MS);

  function npx(place: string, words: readonly string[]): string {
    const options = { cwd: place, env, encoding: 'utf8', timeout: COMMAND_MS } as const;
    return execFileSync('npx', ['--no-install', 'tailpond', ...words], options);
  }

  /** Packs a copy of the checkout, which compiles it; gives the package's file. */
  function pack(checkout: string): string {
    cpSync(ROOT, checkout, {
      recursive: true,
      filter: (path) => dirname(path) !== ROOT || !LEFT_OUT.includes(basename(path)),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    const options = { cwd: checkout, env, encoding: 'utf8', timeout: COMMAND_MS } as const;
    return join(checkout, execFileSync('npm', ['pack', '--silent'], options).trim());
  }
});

/** What `npm install` of the package makes of an empty folder, with the packages that are here in the place of the registry's. */
function install(file: string, place: string) {
  const packages = join(place, 'node_modules');
  mkdirSync(join(packages, '.bin'), { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', packages]);
  const { bin } = JSON.parse(readFileSync(join(packages, 'package/package.json'), 'utf8'));
  renameSync(join(packages, 'package'), join(packages, 'tailpond'));
  const program = join(packages, 'tailpond', bin.tailpond);
  chmodSync(program, 0o755);
  symlinkSync(program, join(packages, '.bin/tailpond'));
  for (const path of neededPackages()) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(place, path));
  }
}

/** The packages that are not development's, and are made for this machine: `node_modules/<name>`. */
function neededPackages(): string[] {
  type Lock = { packages: Record<string, { dev?: boolean }> };
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  return Object.entries(packages)
    .filter(([path, { dev }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && !dev)
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    setTimeout(() => failed(new Error('it does not listen')), COMMAND_MS).unref();
    child.once('close', (code) => failed(new Error(`it ended with ${code} before it listened`)));
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const url = /listening on (http:[^"\s]+)/.exec(line)?.[1];
        if (url) found(url);
      });
  });
}
