import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { eventually, TOKEN, withFolder } from '../../support/helpers.ts';
import { missing } from '../../support/missing.ts';
import { SLOW } from '../../support/slow.ts';

/** A user that owns nothing: `nobody` of Debian. */
const NOBODY = 65534;
const IS_ROOT = process.getuid?.() === 0;

describe('the image', () => {
  const harnesses = readDockerfile(join(ROOT, 'Dockerfile'));
  const last = harnesses.at(-1) ?? [];
  const value = (name: string) => last.findLast((step) => step.name === name)?.value ?? '';
  const command = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));
  const env = Object.fromEntries(
    last
      .filter(({ name }) => name === 'ENV')
      .flatMap((step) => words(step.value).map((word) => word.split('=') as [string, string])),
  );

  it('is built on a slim Node that package.json allows, in every harness', () => {
    const engine = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node;
    const oldest = Number(/\d+/.exec(engine)?.[0]);
    for (const harness of harnesses) {
      const [, major] = /^node:(\d+)-\w+-slim\b/.exec(harness[0]?.value ?? '') ?? [];
      expect(Number(major), harness[0]?.value).to.be.at.least(oldest);
    }
    expect(new Set(harnesses.map((harness) => words(harness[0]?.value ?? '')[0]))).to.have.length(
      1,
    );
  });

  it('runs as a user that is not root, with its data in a volume and a check of its health', () => {
    expect(value('USER')).to.match(/^(?!root\b|0\b)\w+/);
    expect(value('VOLUME')).to.equal('/data');
    expect(value('EXPOSE')).to.equal('4000');
    expect(env).to.include({
      TAILPOND_DATA: '/data',
      TAILPOND_HOST: '0.0.0.0',
      UV_THREADPOOL_SIZE: '16',
    });
    expect(command(value('ENTRYPOINT'))).to.eql(['tailpond']);
    expect(command(value('HEALTHCHECK'))).to.eql(['tailpond', '--healthcheck']);
  });

  it('is given every file that it copies, and no other', () => {
    const copied = harnesses
      .flat()
      .flatMap((step) => (copy(step)?.from === null ? sources(step) : []));
    for (const source of copied) expect(existsSync(join(ROOT, source)), source).to.equal(true);
    const rules = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const listed = rules.filter((rule) => rule && !rule.startsWith('#'));
    const tops = new Set(copied.map((source) => `!${source.split('/')[0]}`));
    expect(listed).to.have.members(['*', ...tops]);
  });

  it(`builds by its own steps, and serves another user from a folder that nobody may write to ${SLOW}`, async function () {
    this.timeout(300_000);
    await withFolder(async (folder) => {
      chmodSync(folder, 0o755);
      const root = build(harnesses, folder);
      const app = join(root, value('WORKDIR'));
      const data = join(root, value('VOLUME'));
      if (IS_ROOT) chownSync(data, NOBODY, NOBODY);
      expect(existsSync(join(app, 'node_modules/typescript'))).to.equal(false);
      execFileSync('chmod', ['-R', 'a-w', app]);

      const [program = '', ...args] = command(value('ENTRYPOINT'));
      const [checker = '', ...check] = command(value('HEALTHCHECK'));
      const path = env.PATH?.replace('/app', app).replace('$PATH', process.env.PATH ?? '');
      const options = {
        cwd: app,
        env: { ...env, PATH: path, TAILPOND_DATA: data, TAILPOND_TOKEN: TOKEN },
        ...(IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {}),
      };
      const child = spawn(program, args, {
        ...options,
        env: { ...options.env, TAILPOND_PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const port = await listens(child);
        const isHealthy = () =>
          spawnSync(checker, check, {
            ...options,
            env: { ...options.env, TAILPOND_PORT: String(port) },
          }).status;
        await eventually(() => expect(isHealthy()).to.equal(0));
        writeFileSync(
          join(data, 'logs/edge_logs/app.ndjson'),
          '{"project":"shop","id":"1","timestamp":"2026-11-20T10:00:00Z","event_message":"hello"}\n',
        );
        await eventually(async () => {
          const answer = await fetch(
            `http://127.0.0.1:${port}/api/endpoints/query/logs.all?project=shop`,
            { headers: { 'X-API-KEY': TOKEN } },
          );
          const { result } = (await answer.json()) as { result: Record<string, unknown>[] };
          expect(result).to.have.length(1);
          expect(result[0]).to.include({ id: '1', event_message: 'hello' });
        });
        if (IS_ROOT) expect(statSync(join(data, 'store/tailpond.duckdb')).uid).to.equal(NOBODY);

        child.kill('SIGTERM');
        expect(await once(child, 'exit')).to.eql([0, null]);
        expect(isHealthy()).to.equal(1);
      } finally {
        if (child.exitCode === null) child.kill('SIGKILL');
        execFileSync('chmod', ['-R', 'u+w', app]);
      }
    });
  });
});

describe('docker-compose.yml', () => {
  const file = join(ROOT, 'docker-compose.yml');

  it('runs one service, once, for this machine only, with its data in a folder of the host', () => {
    // mocha's own parser; the project needs none.
    const { load } = createRequire(import.meta.url)('js-yaml') as {
      load(text: string): { services: Record<string, Record<string, unknown>> };
    };
    const { services } = load(readFileSync(file, 'utf8'));
    expect(Object.keys(services)).to.eql(['tailpond']);
    expect(services.tailpond).to.deep.include({
      build: '.',
      deploy: { replicas: 1 },
      restart: 'unless-stopped',
      ports: ['127.0.0.1:4000:4000'],
      volumes: ['./data:/data'],
      stop_grace_period: '15s',
      group_add: ['4'],
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: '2g',
    });
  });

  it('is what Docker Compose takes, where that is installed', function () {
    const docker = (...args: string[]) => spawnSync('docker', ['compose', ...args]);
    if (docker('version').status !== 0)
      return missing(this, 'Docker Compose', 'install Docker, with the plugin Compose');
    const { status, stderr } = docker('-f', file, 'config', '-q');
    expect(status, String(stderr)).to.equal(0);
  });
});

/** A step of a harness: `COPY`, and what follows it. */
interface Step {
  readonly name: string;
  readonly value: string;
}

/** The harnesses of a Dockerfile, each beginning with its FROM. */
function readDockerfile(path: string): Step[][] {
  const text = readFileSync(path, 'utf8')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  const harnesses: Step[][] = [];
  for (const line of text.split('\n').filter((line) => line.trim())) {
    const [, name = '', value = ''] = /^(\w+)\s+(.*)$/.exec(line.replace(/\s+/g, ' ')) ?? [];
    if (name === 'FROM') harnesses.push([]);
    harnesses.at(-1)?.push({ name, value });
  }
  return harnesses;
}

/** Runs the harnesses' steps below `folder`, one folder a harness, as their engine would; gives the last harness's folder. */
function build(harnesses: readonly Step[][], folder: string): string {
  const named = new Map<string, string>();
  let root = folder;
  harnesses.forEach((harness, i) => {
    root = join(folder, `stage-${i}`);
    let cwd = root;
    for (const step of harness) {
      if (step.name === 'FROM') named.set(/ AS (\S+)/.exec(step.value)?.[1] ?? '', root);
      if (step.name === 'WORKDIR') {
        cwd = join(root, step.value);
        mkdirSync(cwd, { recursive: true });
      }
      const copying = copy(step);
      if (copying) {
        const from = copying.from === null ? ROOT : (named.get(copying.from) ?? '');
        const base = copying.target.startsWith('/') ? root : cwd;
        for (const source of copying.sources) put(join(from, source), base, copying.target);
      }
      if (step.name === 'RUN')
        execFileSync('sh', ['-c', step.value], {
          cwd,
          env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
    }
  });
  return root;
}

/** A folder's contents go into the target, a file goes into it too if the target ends in a slash. */
function put(source: string, base: string, target: string) {
  const isInto = target.endsWith('/') && statSync(source).isFile();
  const place = isInto ? join(base, target, basename(source)) : join(base, target);
  cpSync(source, place, { recursive: true, verbatimSymlinks: true });
}

function copy({ name, value }: Step) {
  if (name !== 'COPY') return null;
  const from = /--from=(\S+)/.exec(value)?.[1] ?? null;
  const paths = words(value).filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

function sources(step: Step): readonly string[] {
  return copy(step)?.sources ?? [];
}

function words(text: string): string[] {
  return text.split(' ').filter(Boolean);
}

/** The port that the service says it listens on. */
function listens(child: ChildProcessByStdio<null, Readable, null>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { port } = JSON.parse(line) as { port?: number };
      if (port) resolve(port);
    });
  });
}

describe('deploy/cluster', () => {
  const folder = join(ROOT, 'deploy/cluster');

  it('gives each node and server a volume of its own, files that are there, and settings that exist', () => {
    const { load } = createRequire(import.meta.url)('js-yaml') as {
      load(text: string): {
        services: Record<string, { volumes: string[]; environment?: Record<string, string> }>;
        volumes: Record<string, null>;
        secrets: Record<string, { file?: string }>;
      };
    };
    const { services, volumes, secrets } = load(
      readFileSync(join(folder, 'docker-compose.yml'), 'utf8'),
    );
    const mounts = Object.values(services).flatMap((service) => service.volumes);
    const sources = mounts.map((mount) => mount.split(':')[0] ?? '');
    const own = sources.filter((source) => !source.startsWith('.'));
    expect(own.sort()).to.deep.equal(Object.keys(volumes).sort());
    for (const file of sources.filter((source) => source.startsWith('.')))
      expect(existsSync(join(folder, file)), file).to.equal(true);
    // One of the environment cannot be had in a container that is read-only.
    for (const { file } of Object.values(secrets)) expect(file).to.match(/^\.\//);
    for (const { environment = {} } of Object.values(services))
      for (const name of Object.keys(environment).filter((each) => each.startsWith('TAILPOND_')))
        expect(SETTINGS.map((setting) => setting.name)).to.include(name);
  });
});
