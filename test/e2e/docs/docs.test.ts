import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { allSources } from '../../../ingest/index.ts';
import { commandLine } from '../../../server/cli/program.ts';
import { ROOT } from '../../../server/config/package-root.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { parseQueryFile } from '../../../server/endpoints/query-file.ts';
import { ERRORS } from '../../../server/errors.ts';
import type { Parameter } from '../../../server/http/route.ts';
import { FIELDS } from '../../../server/lines/index.ts';
import { logflareName } from '../../../server/push/source.ts';
import { readBlocks } from './markdown.ts';

const README = read('README.md');
const ENDPOINTS = 'docs/endpoints.md';

describe('the docs', () => {
  it('list every setting with its default and meaning, in the order of the code', () => {
    const rows = table('docs/settings.md', '## Settings', 'Setting').map(
      ([name, preset, meaning]) => [name, preset, meaning?.replaceAll('`', '')],
    );
    const expected = SETTINGS.map((setting) => [
      code(setting.name),
      setting.default === '' ? 'none' : code(setting.default),
      setting.description,
    ]);
    expect(rows).to.deep.equal(expected);
  });

  it('list every error code with its status, and no other', () => {
    const rows = table('docs/http.md', '## Errors', 'Code').map(([name, status]) => [name, status]);
    const expected = Object.entries(ERRORS).map(([name, [status]]) => [code(name), `${status}`]);
    expect(rows).to.deep.equal(expected);
  });

  it('list every source with the name that Logflare gives it, and no other', () => {
    const rows = table('docs/files.md', '## Sources', 'Kind').map(([, source, named]) => [
      source,
      named,
    ]);
    expect(rows).to.deep.equal(
      allSources().map((source) => [code(source), code(logflareName(source))]),
    );
  });

  it('list every name of a field, in order', () => {
    const rows = table('docs/lines.md', '## Fields', 'Column');
    const columns: Partial<Record<string, string>> = {
      time: 'timestamp',
      message: 'event_message',
    };
    const expected = Object.entries(FIELDS)
      .filter(([role]) => role !== 'trace' && role !== 'request')
      .map(([role, names]) => [code(columns[role] ?? role), names.map(code).join(', ')]);
    expect(rows).to.deep.equal(expected);
  });

  it('list every command', () => {
    const rows = table('docs/commands.md', '# The command tailpond', 'Command');
    const named = rows.flatMap(([name = '']) =>
      [...name.matchAll(/`(\w+)/g)].map(([, word]) => word),
    );
    const program = commandLine(() => {});
    const names = program
      .createHelp()
      .visibleCommands(program)
      .map((command) => command.name());
    expect(named).to.have.members(names.filter((name) => name !== 'help'));
  });

  it('list every key of the console as its help does', () => {
    const rows = table('docs/console.md', '## Keys', 'Key');
    const help = read('server/console/browser/pages/help.ts').matchAll(
      /^ {2}\['(.+)', '(.+)'\],$/gm,
    );
    const keys = [...help].map(([, key = '', what]) => [
      key.split(', ').map(code).join(', '),
      what,
    ]);
    expect(keys).to.have.length.above(5);
    expect(rows).to.deep.equal(keys);
  });

  for (const query of endpoints()) {
    it(`describe the endpoint ${query.name} with its UUID and parameters`, () => {
      const heading = `### ${code(query.name)}`;
      expect(section(ENDPOINTS, heading)).to.include(code(query.id));
      const rows = table(ENDPOINTS, heading, 'Parameter').map(([name, type, need]) => [
        name,
        type,
        need,
      ]);
      expect(rows).to.deep.equal(query.parameters.map(documented));
    });
  }

  it('describe no endpoint that is not there', () => {
    const headings = [...section(ENDPOINTS, '## What there is').matchAll(/^### `(.+)`$/gm)].map(
      ([, name]) => name,
    );
    expect(headings).to.have.members(endpoints().map(({ name }) => name));
  });

  it('show an example of an endpoint that compiles', () => {
    const example =
      /```sql[^\n]*\n(.*?)```/s.exec(section(ENDPOINTS, '## Adding an endpoint'))?.[1] ?? '';
    expect(parseQueryFile('example', ENDPOINTS, example).windows).to.include({ rows: 50 });
  });

  it('open with the two commands, which package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const commands = [...README.matchAll(/^npm ci && npm (\w+)$/gm)].map(([, script]) => script);
    expect(commands).to.deep.equal(['start', 'test']);
    expect(scripts).to.include.all.keys('start', 'test');
  });

  it('name no file of the code that is not there, where they tell how it works', () => {
    const folders = ['server', 'ingest', 'sql', 'test'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true }).map((file) => `/${folder}/${file}`),
    );
    const named = read('docs/architecture.md').match(/[\w/.-]+\.(?:ts|cjs|sql)\b/g) ?? [];
    expect(named).to.have.length.above(100);
    expect(named.filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).to.be.empty;
  });

  it('cite no case of the fault suite that is not there', () => {
    const folder = join(ROOT, 'test', 'faults');
    const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const code = tests
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n');
    const cited = markdownFiles().flatMap((file) => read(file).match(/\b[TDSHP]\d\d\w*/g) ?? []);
    expect(cited).to.have.length.above(100);
    // The code of cases that are made in a loop has the number and a place for the letter.
    const isThere = (id: string) =>
      new RegExp(`\\b${id}`).test(code) || code.includes(`${id.slice(0, 3)}\${`);
    expect(cited.filter((id) => !isThere(id))).to.deep.equal([]);
  });

  it('stay one page, which names every other', () => {
    expect(README.split('\n').length).to.be.at.most(130);
    const named = links(README).map((link) => link.split('#')[0]);
    const pages = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
    expect(named).to.include.members(pages.map((page) => `docs/${page}`));
  });

  it('hold no YAML but such as can be read, and the group of the Compose file', () => {
    // mocha's own parser; the project needs none.
    const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };
    const blocks = markdownFiles().flatMap((file) =>
      readBlocks(file, read(file)).filter(({ language }) => language === 'yaml'),
    );
    expect(blocks).to.have.length.above(3);
    for (const { page, line, text } of blocks)
      expect(load(text), `${page}:${line}`).to.be.an('object');
    const install = blocks.find(({ page }) => page === 'docs/install.md');
    type Compose = { services: { tailpond: object } };
    const ours = load(read('docker-compose.yml')) as Compose;
    const shown = load(install?.text ?? '') as Compose;
    expect(ours.services.tailpond).to.deep.include(shown.services.tailpond);
  });

  for (const file of markdownFiles()) {
    it(`lead nowhere else than to what is there: ${file}`, () => {
      const broken = links(read(file)).filter((link) => !leads(file, link));
      expect(broken).to.deep.equal([]);
    });
  }
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A page from a heading to the next one of its level or a higher one. */
function section(page: string, heading: string): string {
  const lines = read(page).split('\n');
  const start = lines.indexOf(heading);
  expect(start, `${page} has no heading "${heading}"`).to.be.at.least(0);
  const level = heading.indexOf(' ');
  let fenced = false;
  const length = lines.slice(start + 1).findIndex((line) => {
    if (line.startsWith('```')) fenced = !fenced;
    const marks = /^(#+) /.exec(line)?.[1]?.length;
    return !fenced && marks !== undefined && marks <= level;
  });
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** The rows of a page's table below `heading` whose first column is called `first`, as texts of their cells. */
function table(page: string, heading: string, first: string): string[][] {
  const lines = section(page, heading).split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  expect(head, `no table of ${first} below "${heading}" in ${page}`).to.be.at.least(0);
  const body = lines.slice(head + 2);
  const end = body.findIndex((line) => !line.startsWith('|'));
  return body.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function endpoints() {
  const folder = join(ROOT, 'sql', 'endpoints');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) =>
      parseQueryFile(basename(file, '.sql'), file, readFileSync(join(folder, file), 'utf8')),
    );
}

/** A parameter as the docs' tables write it. */
function documented({ name, type, required }: Parameter): string[] {
  const words = typeof type === 'string' ? type : choice(type.map(code));
  return [code(name), words, required ? 'required' : 'optional'];
}

function choice(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].join(' or ');
}

function markdownFiles(): string[] {
  const skipped = ['node_modules', 'dist', 'data', '.git', '.shippers'];
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return skipped.includes(entry.name) ? [] : walk(path);
      return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
    });
  return walk(ROOT);
}

/** The targets of links, but those to other sites. */
function links(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));
}

function leads(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || !target.endsWith('.md') || anchors(read(target)).includes(anchor);
}

/** The anchors of the headings, as GitHub makes them. */
function anchors(text: string): string[] {
  const prose = text.replace(/^```.*?^```/gms, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
