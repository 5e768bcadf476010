import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError, readConfig } from './config.ts';
import {
  readTokenFile,
  SCOPES,
  type Scope,
  type TokenEntry,
  writeTokenFile,
} from './token-file.ts';
import { digestOf, makeToken } from './tokens.ts';

// npm run token -- create | list | revoke: keeps the token file, whether the service runs or not.

const DAY_MS = 24 * 3_600_000;
const RELOAD = 'Send the service a SIGHUP, or start it again, for this to take effect.';

interface Created {
  readonly scope: Scope[];
  readonly project?: string;
  readonly expires?: number;
  readonly name?: string;
}

try {
  const { config } = readConfig(process.env);
  const path = config.tokens ?? join(resolve(config.data), 'tokens.json');
  const command = new Command('token').description(`Keeps the tokens in ${path}.`);
  command
    .command('create')
    .description('make a token and print it, once')
    .addOption(
      new Option('--scope <scopes...>', 'what it may do').choices(SCOPES).makeOptionMandatory(),
    )
    .option('--project <project>', 'the only project it may ask for')
    .option('--expires <age>', 'how long it is good, such as 12h or 30d', lifetime)
    .option('--name <name>', 'what it is for')
    .action((options: Created) => create(path, options));
  command
    .command('list')
    .description('list the tokens, without the tokens themselves')
    .action(() => list(path));
  command
    .command('revoke <id>')
    .description('take a token out of the file')
    .action((id: string) => revoke(path, id));
  command.parse();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const fault of error.faults) console.error(fault);
  process.exitCode = 1;
}

/** The token alone goes to stdout, so that a script can keep it. */
function create(path: string, { scope, project, expires, name }: Created) {
  const id = randomBytes(6).toString('hex');
  const token = makeToken(id);
  const entry: TokenEntry = {
    id,
    ...(name === undefined ? {} : { name }),
    hash: digestOf(token).toString('hex'),
    scopes: [...new Set(scope)],
    ...(expires === undefined ? {} : { expires: new Date(Date.now() + expires).toISOString() }),
    ...(project === undefined ? {} : { project }),
  };
  writeTokenFile(path, [...readTokenFile(path), entry]);
  console.log(token);
  console.error(`This is shown once. ${RELOAD}`);
}

function list(path: string) {
  for (const { id, name, scopes, project, expires } of readTokenFile(path)) {
    const until = expires === undefined ? 'for ever' : `until ${expires}`;
    const reach = project === undefined ? 'every project' : `project ${project}`;
    console.log([id, scopes.join(','), reach, until, name ?? ''].join('\t').trimEnd());
  }
}

function revoke(path: string, id: string) {
  const entries = readTokenFile(path);
  const others = entries.filter((entry) => entry.id !== id);
  if (others.length === entries.length) {
    const ids = entries.map((entry) => entry.id).join(', ') || 'none';
    throw new ConfigError([`Expected the id of a token in ${path} (${ids}), got "${id}"`]);
  }
  writeTokenFile(path, others);
  console.error(RELOAD);
}

/** Ms. */
function lifetime(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (!number) throw new InvalidArgumentError('Expected hours or days, such as 12h or 30d.');
  return Number(number) * (unit === 'd' ? DAY_MS : 3_600_000);
}
