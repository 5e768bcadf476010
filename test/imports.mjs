// Checks the imports of server/, ingest/ and test/ (CONTRIBUTING.md): prints each fault with file and line; exit 1 if any.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DUCKDB = '@duckdb/node-api';
const NAMELESS = /\b(?:utils?|helpers?|common|lib)\.[cm]?[jt]s$/;
/** `import … from 'x'`, `export … from 'x'`, `import 'x'`, types included; and `import('x')`, `require('x')`. */
const IMPORT =
  /^[ \t]*(?:import|export)\b(?:[^'"`;=]*?\bfrom)?\s*(['"])(?<from>[^'"\n]+)\1|\b(?:import|require)\(\s*(['"`])(?<call>[^'"`\n]+)\3/gm;

const files = ['server', 'ingest'].flatMap(codeBelow);
/** A package of its own, which `npm ci` does not install: what `npm test` runs cannot import it. */
const BENCH = 'test/bench/';
const tests = codeBelow('test').filter((file) => !file.startsWith(BENCH));
/** Folders that hold further folders of the service's code. */
const folders = new Set(
  files.map((file) => dirname(dirname(file))).filter((folder) => folder.startsWith('server')),
);
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const faults = [];
for (const file of files) checkFile(file);
for (const file of [...files, ...tests]) checkBench(file);
for (const cycle of cycles()) faults.push(cycle);
for (const cycle of roomCycles()) faults.push(cycle);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`Checked the imports of ${files.length + tests.length} files.`);

function codeBelow(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !file.includes('node_modules/'));
}

function importsOf(file) {
  const text = withoutComments(readFileSync(join(ROOT, file), 'utf8'));
  return [...text.matchAll(IMPORT)].map((match) => {
    const name = match.groups.from ?? match.groups.call;
    // The line of the name, where editors point to as well.
    const line = text.slice(0, match.index + match[0].length).split('\n').length;
    const target = name.startsWith('.')
      ? relative(ROOT, resolve(ROOT, dirname(file), name))
      : undefined;
    return { name, line, target };
  });
}

function checkFile(file) {
  const fault = (line, text) => faults.push(`${file}:${line}: ${text}`);
  if (NAMELESS.test(file)) fault(1, 'a name that says nothing; name the file after what it does');

  for (const { name, line, target } of imports.get(file)) {
    if (file.startsWith('ingest/')) {
      if (target && !target.startsWith('ingest/'))
        fault(line, `ingest/ imports ${target}; it may import nothing outside ingest/`);
      if (/^(@duckdb\/|express$|(node:)?https?$)/.test(name))
        fault(line, `ingest/ imports ${name}; it knows files and bytes, no database and no HTTP`);
    }
    if (name.startsWith('@duckdb/') && !file.startsWith('server/store/'))
      fault(line, `${name} is imported outside server/store/`);
    if (name.startsWith('@duckdb/') && name !== DUCKDB && !name.startsWith(`${DUCKDB}/`))
      fault(line, `${name} is imported; only ${DUCKDB} and its parts may be`);
    if (target && /^(server|ingest)\//.test(target) && !existsSync(join(ROOT, target)))
      fault(line, `${target} does not exist`);
  }

  if (file === 'server/store/engine.ts') return;
  const lines = withoutComments(readFileSync(join(ROOT, file), 'utf8')).split('\n');
  lines.forEach((text, i) => {
    if (/\bDuckDBInstance\b/.test(text))
      fault(i + 1, 'DuckDBInstance is named outside server/store/engine.ts, which alone opens it');
  });
}

function checkBench(file) {
  for (const { line, target } of imports.get(file) ?? importsOf(file))
    if (target?.startsWith(BENCH))
      faults.push(
        `${file}:${line}: imports ${target}; test/bench is a package of its own: move what both need to test/support`,
      );
}

/** Every import that closes a cycle, found by a walk that goes depth first. */
function cycles() {
  const found = [];
  const done = new Set();
  const walk = (file, path) => {
    for (const { line, target } of imports.get(file) ?? []) {
      const start = path.indexOf(target);
      if (start !== -1)
        found.push(`${file}:${line}: a cycle: ${[...path.slice(start), target].join(' -> ')}`);
      else if (imports.has(target) && !done.has(target)) walk(target, [...path, target]);
    }
    done.add(file);
  };
  for (const file of files) if (!done.has(file)) walk(file, [file]);
  return found;
}

/** The room of a file: its folder. A file that lies beside rooms is one of its own, so that what all use may lie there. */
function roomOf(file) {
  if (file.startsWith('ingest/')) return 'ingest';
  const folder = file.startsWith('server/console/browser/')
    ? 'server/console/browser'
    : dirname(file);
  return folders.has(folder) ? file : folder;
}

/** Imports between rooms point one way: every two rooms of which each leads to the other. */
function roomCycles() {
  const next = new Map();
  for (const [file, found] of imports)
    for (const { target } of found) {
      if (!imports.has(target) || roomOf(file) === roomOf(target)) continue;
      next.set(roomOf(file), (next.get(roomOf(file)) ?? new Set()).add(roomOf(target)));
    }
  const leadsTo = (from, to, seen = new Set()) =>
    [...(next.get(from) ?? [])].some((room) => {
      if (room === to) return true;
      if (seen.has(room)) return false;
      seen.add(room);
      return leadsTo(room, to, seen);
    });
  return [...next].flatMap(([from, rooms]) =>
    [...rooms]
      .filter((to) => leadsTo(to, from))
      .map(
        (to) =>
          `${from} imports ${to}, which leads back to it: imports between rooms point one way`,
      ),
  );
}

/** Whole-line comments become empty lines, so that line numbers stay; nothing else can look like an import here. */
function withoutComments(text) {
  return text
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/^[ \t]*\/\/.*$/gm, '');
}
