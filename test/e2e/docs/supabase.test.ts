import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { isSource } from '../../../ingest/index.ts';
import { ROOT } from '../../../server/config/package-root.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { ERRORS } from '../../../server/errors.ts';
import { LOGFLARE_NAMES } from '../../../server/push/source.ts';
import { secrets, TOKEN, withApp, withFolder, withService } from '../../support/helpers.ts';
import { missing } from '../../support/missing.ts';

const GUIDE = read('docs/supabase.md');
const DOCKERFILE = read('Dockerfile');

describe('docs/docker-compose.tailpond.yml', () => {
  const text = read('docs/docker-compose.tailpond.yml');
  const { services, volumes } = readCompose(text);
  const analytics = services.analytics ?? {};

  it('replaces the service analytics alone, at the port of Logflare', () => {
    expect(Object.keys(services)).to.deep.equal(['analytics']);
    expect(analytics.image).to.equal('tailpond');
    expect(GUIDE).to.include('docker build -t tailpond .');
    const port = SETTINGS.find(({ name }) => name === 'TAILPOND_PORT')?.default;
    expect(port).to.equal('4000');
    expect(analytics.ports).to.deep.equal([`127.0.0.1:${port}:${port}`]);
  });

  it('takes the place of what would else be added to: ports, environment, what it waits for', () => {
    const tags = [...text.matchAll(/^ {4}(\w+): !(\w+)/gm)].map(([, key, tag]) => [key, tag]);
    expect(tags).to.deep.equal([
      ['ports', 'override'],
      ['environment', 'override'],
      ['depends_on', 'reset'],
    ]);
    expect(analytics.depends_on).to.equal(null);
  });

  it('keeps the data folder of the image in a volume', () => {
    const folder = /^VOLUME (\S+)$/m.exec(DOCKERFILE)?.[1];
    expect(DOCKERFILE).to.include(`TAILPOND_DATA=${folder}`);
    expect(analytics.volumes).to.deep.equal([`tailpond-data:${folder}`]);
    expect(volumes).to.have.all.keys('tailpond-data');
  });

  it('asks for its health as the image does', () => {
    const [, flags, command] = /^HEALTHCHECK (.*?)\s*\\\n\s*CMD (.*)$/m.exec(DOCKERFILE) ?? [];
    const { test, interval, timeout, start_period, retries } = analytics.healthcheck as {
      [key: string]: unknown;
    };
    expect(test).to.deep.equal(['CMD', ...JSON.parse(command ?? '')]);
    expect(`--interval=${interval} --timeout=${timeout} --start-period=${start_period}`).to.equal(
      flags,
    );
    expect(retries).to.equal(10);
  });

  it('sets what are settings, from .env or else to what they are without it', () => {
    const environment = Object.entries(analytics.environment as Record<string, string>);
    expect(environment).to.be.not.empty;
    for (const [name, value] of environment) {
      const preset = name.startsWith('LOGFLARE_')
        ? ''
        : SETTINGS.find((setting) => setting.name === name)?.default;
      expect(value).to.equal(`\${${name}:-${preset}}`);
    }
  });

  it('is merged as it is meant by Docker Compose, where that is installed', function () {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const compose = (...args: string[]) => spawnSync('docker', ['compose', ...args], { env });
    if (compose('version').status !== 0)
      return missing(this, 'Docker Compose', 'install Docker, with the plugin Compose');
    return withFolder(async (folder) => {
      // What Supabase's files have of it that must not remain, or must.
      const logflare = {
        image: 'logflare',
        restart: 'unless-stopped',
        ports: ['4000:4000'],
        healthcheck: { test: ['CMD', 'curl', 'http://localhost:4000/health'], interval: '5s' },
        depends_on: { db: { condition: 'service_healthy' } },
        environment: { DB_PASSWORD: 'secret' },
      };
      const base = join(folder, 'docker-compose.yml');
      writeFileSync(
        base,
        JSON.stringify({ services: { analytics: logflare, db: { image: 'db' } } }),
      );
      const ours = join(ROOT, 'docs/docker-compose.tailpond.yml');
      const { status, stdout, stderr } = compose(
        ...['-f', base, '-f', ours, 'config', '--format', 'json'],
      );
      expect(status, String(stderr)).to.equal(0);
      const merged = JSON.parse(String(stdout)).services.analytics;
      expect(merged).to.include({ image: 'tailpond', restart: 'unless-stopped' });
      expect(merged.environment).to.have.all.keys(Object.keys(analytics.environment ?? {}));
      expect(merged.ports).to.have.length(1);
      expect(merged.ports[0]).to.include({ host_ip: '127.0.0.1', target: 4000 });
      expect(merged.healthcheck.test).to.include('--healthcheck');
      expect(merged).not.to.have.property('depends_on');
    });
  });
});

describe('docs/supabase.md', () => {
  it('names the sources as Vector names them, and none that it does not ship', () => {
    const rows = table('Sink').map(([, name, source]) => [name, source]);
    const shipped = Object.entries(LOGFLARE_NAMES).filter(
      ([source]) => !['function_logs', 'pgbouncer_logs'].includes(source),
    );
    expect(rows).to.have.deep.members(
      shipped.map(([source, name]) => [`\`${name}\``, `\`${source}\``]),
    );
    for (const [, word = ''] of GUIDE.matchAll(/`(\w+_logs)`/g))
      expect(isSource(word), word).to.equal(true);
    for (const source of ['function_logs', 'pgbouncer_logs'] as const)
      expect(GUIDE).to.match(new RegExp(`\`${LOGFLARE_NAMES[source]}\`\\s\\(\`${source}\`\\)`));
  });

  it('has a token for Vector and one for Studio, which may do what these do and no more', () =>
    withFolder((data) => {
      const [vector, studio] = ['the-public-token-of-env', 'the-private-token-of-env'];
      const variables = table('Variable').map(([name = '']) => name.replaceAll('`', ''));
      const env = { [variables[0] ?? '']: vector, [variables[1] ?? '']: studio };
      for (const token of [vector, studio]) secrets.add(token);
      return withService(
        data,
        async ({ url }) => {
          const statusOf = async (path: string, headers: Record<string, string>) =>
            (await fetch(url + path, { headers })).status;
          for (const [path = ''] of paths()) {
            for (const headers of [{ 'X-API-KEY': studio }, { Authorization: `Bearer ${studio}` }])
              expect(await statusOf(path, headers), path).to.equal(
                /endpoints|backends|sources/.test(path) ? 200 : 403,
              );
            expect(await statusOf(path, { 'X-API-KEY': vector }), path).to.equal(403);
          }
          const body = '[{"message":"of Vector"}]';
          const headers = { 'X-API-KEY': vector, 'Content-Type': 'application/json' };
          const push = await fetch(`${url}/api/logs?source=auth_logs`, {
            method: 'POST',
            body,
            headers,
          });
          expect(push.status).to.equal(200);
        },
        { env },
      );
    }));

  it('asks for paths and intervals that are answered', () =>
    withFolder((data) =>
      withApp(data, async ({ http }) => {
        expect(paths().length).to.be.at.least(6);
        for (const [path] of paths())
          expect((await http.get(path).set('X-API-KEY', TOKEN)).status, path).to.equal(200);
        const counts = '/api/endpoints/query/usage.api-counts?project=default&interval=';
        for (const interval of ['1hr', '1day', '7day']) {
          expect(GUIDE).to.include(`\`${interval}\``);
          const { status } = await http.get(counts + interval).set('X-API-KEY', TOKEN);
          expect(status, interval).to.equal(200);
        }
        expect((await http.get('/health')).status).to.equal(200);
      }),
    ));

  it('names settings, scopes and codes of errors that there are', () => {
    const names = SETTINGS.map(({ name }) => name as string);
    for (const [name] of GUIDE.matchAll(/TAILPOND_[A-Z_]+/g)) expect(names).to.include(name);
    const codes = [
      ...table('Symptom')
        .join('\n')
        .matchAll(/`([A-Z]+_?[A-Z]+)`/g),
    ];
    const ours = codes
      .map(([, code]) => code)
      .filter((code) => !/^(COMPOSE|CONFIG|LOGFLARE)/.test(code ?? ''));
    expect(ours).to.include('UNAUTHORIZED');
    for (const code of ours) expect(ERRORS).to.have.property(code ?? '');
    const [, title] = ERRORS.UNAUTHORIZED;
    expect(GUIDE).to.include(`"${title}."`);
  });
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

interface Compose {
  readonly services: Record<string, Record<string, unknown>>;
  readonly volumes: Record<string, unknown>;
}

/** By mocha's own parser; the project needs none. It does not know Compose's two tags. */
function readCompose(text: string): Compose {
  const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): Compose };
  return load(text.replace(/ !(override|reset)\b/g, ''));
}

/** The rows of the guide's table whose first column is called `first`, as texts of their cells. */
function table(first: string): string[][] {
  const lines = GUIDE.split('\n').map((line) => line.trim());
  const head = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  expect(head, `no table of ${first}`).to.be.at.least(0);
  const body = lines.slice(head + 2);
  const end = body.findIndex((line) => !line.startsWith('|'));
  return body.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The paths below /api that the guide asks by GET, each with parameters that are needed. */
function paths(): [string][] {
  const found = [...GUIDE.matchAll(/\/api\/[\w./?=&-]+/g)].map(([path]) => path);
  const asked = found.filter((path) => !path.startsWith('/api/logs'));
  return [...new Set(asked)].map((path) => {
    if (path.includes('?') || !path.includes('/query/')) return [path];
    return [`${path}?project=default&interval=1hr`];
  });
}
