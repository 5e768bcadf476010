import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import completion from '@bomb.sh/tab/commander';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { allSources } from '../../ingest/index.ts';
import { SCOPES } from '../auth/token-file.ts';
import { ConfigError, settingsOf } from '../config/config.ts';
import { nearestOf } from '../config/nearest-name.ts';
import { ROOT } from '../config/package-root.ts';
import { SETTINGS } from '../config/settings.ts';
import { FORMATS } from '../formats/index.ts';
import type { PrintOptions } from './clickhouse.ts';
import type { DrillOptions } from './drill.ts';
import type { ImportOptions } from './import.ts';
import type { QueryOptions } from './query.ts';
import type { RejectedOptions } from './rejected.ts';
import type { SearchOptions } from './search.ts';
import type { Remote } from './service-client.ts';
import type { StartOptions } from './start.ts';
import type { TailOptions } from './tail.ts';
import { complain } from './terminal.ts';
import type { CreateOptions } from './token.ts';

const DAY_MS = 24 * 3_600_000;
const JSON_OUT = ['--json', 'print JSON, for programs'] as const;

/**
 * The command `tailpond`. What a command does is loaded when it is run; its actions give exit codes. `--help` and `--version`
 * answer and exit, what is unknown exits with 1.
 */
export function commandLine(exit: (code: number) => void): Command {
  const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const program = new Command('tailpond')
    .description(description)
    .version(version)
    .allowExcessArguments(true)
    .showHelpAfterError('(tailpond --help, or tailpond <command> --help, tells more)');
  starts(program);
  asks(program, exit);
  stores(program, exit);
  tokens(program, exit);
  clickhouses(program, exit);
  completes(program);
  return program;
}

/** Throws InvalidArgumentError for what asks for all projects. */
function oneProject(text: string): string {
  if (text === '*' || text === '') throw new InvalidArgumentError('Expected one project.');
  return text;
}

function starts(program: Command) {
  const start = async (options: StartOptions) => (await import('./start.ts')).start(options);
  program
    .option(...DEMO)
    .option('--healthcheck', 'ask the running service if it is ready; exit 0 if so, else 1')
    .option('--dry-run', 'print what retention would remove now, as JSON, and remove nothing')
    .addHelpText('after', settings)
    .action((options: StartOptions, { args: [name] }: Command) => {
      if (name !== undefined) program.error(unknownCommand(name, program));
      return start(options);
    });
  program
    .command('start')
    .description('run the service; the same as without a command')
    .option(...DEMO)
    .addOption(new Option('--with-parent', 'stop when the process that started it ends').hideHelp())
    .action(start);
  program
    .command('demo')
    .description('run the service on a scratch data folder, with realistic lines')
    .action(() => start({ demo: true }));
}

function unknownCommand(name: string, { commands }: Command): string {
  const nearest = nearestOf(
    name,
    commands.map((command) => command.name()),
  );
  return `error: unknown command '${name}'${nearest ? `\n(Did you mean ${nearest}?)` : ''}`;
}

const DEMO = [
  '--demo',
  'run on a scratch data folder and keep writing realistic lines of all sources',
] as const;

function settings(): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length)) + 2;
  const lines = SETTINGS.map((setting) => {
    const preset = setting.default ? ` (default: ${setting.default})` : '';
    return `  ${setting.name.padEnd(width)}${setting.description}${preset}`;
  });
  return `\nSettings, as environment variables:\n${lines.join('\n')}`;
}

/** Adds the commands that ask a service: the one that runs on the data folder, or the one that `--url` names. */
function asks(program: Command, exit: (code: number) => void) {
  const source = () =>
    suggesting(new Option('--source <source>', 'the source')).makeOptionMandatory();
  const remote = (command: Command) =>
    command
      .option(
        '--url <url>',
        'ask the service there, with TAILPOND_TOKEN or TAILPOND_TOKEN_FILE',
        httpUrl,
      )
      .option(...JSON_OUT);

  remote(program.command('query <endpoint>'))
    .description('ask an endpoint, and print the rows as a table')
    .option('--project <project>', 'its parameter "project"; "*" asks for all')
    .option('-p, --parameter <name=value...>', 'another parameter')
    .option('--sql <sql>', "a caller's SQL, over the views of the endpoint")
    .addOption(new Option('--format <format>', 'print the answer as it is').choices(FORMATS))
    .addHelpText(
      'after',
      example(
        'tailpond query logs.all --project default',
        'tailpond query usage.api-counts --project default -p interval=1day --json',
        `tailpond query logs.all --project default --sql 'select count(*) as n from auth_logs'`,
      ),
    )
    .action(async (endpoint: string, options: QueryOptions) =>
      exit(await (await import('./query.ts')).query(endpoint, options)),
    );

  remote(program.command('tail'))
    .addArgument(
      suggesting(new Argument('<source>', 'one, several as edge_logs,auth_logs, or * for all')),
    )
    .description('print entries as they are stored')
    .option('--project <project>', 'only entries of this project; "*" or none: of all')
    .option('--search <text>', 'only entries with this text, in any letter case')
    .option('-q, --query <query>', 'only entries for which this search query holds')
    .addHelpText('after', example('tailpond tail edge_logs --project default --search " 500"'))
    .action(async (name: string, options: TailOptions) =>
      exit(await (await import('./tail.ts')).tail(name, options)),
    );

  remote(program.command('search'))
    .addArgument(
      suggesting(new Argument('<source>', 'one, several as edge_logs,auth_logs, or * for all')),
    )
    .argument('[query...]', 'words, "phrases", field:value, AND, OR, -not; behind --')
    .description('print the newest entries for which a search query holds')
    .option('--project <project>', 'only entries of this project; "*" or none: of all')
    .option('--since <time>', 'only entries from then on: a timestamp, or 30m, 2h, 7d ago')
    .option('--limit <entries>', 'how many, 1 to 1000', wholeNumber, 100)
    .addHelpText(
      'after',
      example(
        `tailpond search edge_logs --since 1h 'status:>=500 path:/rpc/*'`,
        `tailpond search app_logs -- '-level:info checkout'`,
      ),
    )
    .action(async (name: string, words: string[], options: SearchOptions) =>
      exit(await (await import('./search.ts')).search(name, words, options)),
    );

  remote(program.command('import <files...>'))
    .description('send the lines of files in, gzip too; - is standard input')
    .addOption(source())
    .option('--project <project>', 'the project of lines that name none')
    .option('--skip <lines>', 'leave out this many lines at the beginning', wholeNumber)
    .addHelpText(
      'after',
      example(
        'tailpond import --source auth_logs old/auth.log.*.gz',
        'zcat old.gz | tailpond import --source edge_logs -',
      ),
    )
    .action(async (files: string[], options: ImportOptions) =>
      exit(await (await import('./import.ts')).importFiles(files, options)),
    );

  const rejected = program
    .command('rejected')
    .description('list rejected lines, show one whole, or send them in again');
  remote(rejected.command('list'))
    .description('list the latest')
    .addOption(suggesting(new Option('--source <source>', 'only of this source')))
    .option('--limit <lines>', 'how many, 1 to 1000', wholeNumber, 100)
    .action(async (options: RejectedOptions) =>
      exit(await (await import('./rejected.ts')).listRejected(options)),
    );
  remote(rejected.command('show <id>'))
    .description('print all bytes that were kept of one')
    .action(async (id: string, options: Remote) =>
      exit(await (await import('./rejected.ts')).showRejected(id, options)),
    );
  remote(rejected.command('retry [id]'))
    .description('send one in again, as it came or edited; or all of a source')
    .option('--line <text>', 'the text to send in its place')
    .option('--all', 'all that were kept whole, of --source or of every one')
    .addOption(suggesting(new Option('--source <source>', 'with --all, only of this source')))
    .action(async (id: string | undefined, options: RejectedOptions) =>
      exit(await (await import('./rejected.ts')).retryRejected(id, options)),
    );
}

/** Adds the commands that look at the data folder themselves, or have its service do so. */
function stores(program: Command, exit: (code: number) => void) {
  program
    .command('check')
    .description(
      'look at settings, endpoints, the data folder and the service; exit 78 when one is wrong, 1 when it is not ready',
    )
    .option(...JSON_OUT)
    .action(async (options: { json?: boolean }) =>
      exit(await (await import('./check.ts')).check(options)),
    );
  const store = program.command('store').description('check, back up or restore the store');
  const verb = (name: 'check' | 'backup' | 'restore') => async (file: unknown) => {
    const { runStoreCommand } = await import('./store-admin.ts');
    const command = name === 'check' ? { verb: name } : { verb: name, file: String(file) };
    exit(await runStoreCommand(command, settingsOf()));
  };
  store
    .command('check')
    .description('read every row and hold it against the ledger; exit 0 if all is well, else 1')
    .action(verb('check'));
  for (const parent of [store, program]) {
    parent
      .command('backup <file>')
      .description('copy the database of one moment to a new file, while the service runs or not')
      .action(verb('backup'));
    parent
      .command('restore <file>')
      .description('put a backup in the place of the database, which is kept aside')
      .action(verb('restore'));
  }
}

/** Adds the commands for a ClickHouse that rows are forwarded to. */
function clickhouses(program: Command, exit: (code: number) => void) {
  const clickhouse = program
    .command('clickhouse')
    .description('print or check the tables that rows are forwarded to, or test forwarding');
  clickhouse
    .command('schema')
    .description('print the statements that make the tables; tailpond never runs them itself')
    .option('--cluster <name>', 'make them on this cluster, with a table that reads all shards')
    .option('--replicated', 'for shards of several servers', false)
    .option('--days <days>', 'how long rows are kept', wholeNumber, 30)
    .option('--reader <user>', 'print instead what lets this user read them, and do no more')
    .addHelpText('after', example('tailpond clickhouse schema | clickhouse client --multiquery'))
    .action(async ({ cluster = null, reader = null, ...options }: PrintOptions) =>
      exit((await import('./clickhouse.ts')).printSchema({ ...options, cluster, reader })),
    );
  clickhouse
    .command('check')
    .description(
      'look at the tables of the servers of TAILPOND_CLICKHOUSE_URL; exit 0 if all is well, else 1',
    )
    .action(async () => exit(await (await import('./clickhouse.ts')).checkClickHouse()));
  clickhouse
    .command('drill')
    .description(
      'forward lines from a scratch node that is killed again and again; exit 0 if each line is there once, else 1',
    )
    .option('--lines <lines>', 'how many lines', wholeNumber, 100_000)
    .option('--kills <kills>', 'how often the node is killed', wholeNumber, 10)
    .addHelpText('after', example('TAILPOND_CLICKHOUSE_DATABASE=drill tailpond clickhouse drill'))
    .action(async (options: DrillOptions) =>
      exit(await (await import('./drill.ts')).drill(options)),
    );
}

function tokens(program: Command, exit: (code: number) => void) {
  /** A wrong token or token file is the command's own fault, not one of the settings. */
  const run = async (
    action: (commands: typeof import('./token.ts')) => number | Promise<number>,
  ) => {
    try {
      exit(await action(await import('./token.ts')));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const fault of error.faults) complain(fault);
      exit(1);
    }
  };
  const token = program
    .command('token')
    .description('keep the tokens in the file that TAILPOND_TOKENS names');
  token
    .command('create')
    .description('make a token and print it, once')
    .addOption(
      new Option('--scope <scopes...>', 'what it may do').choices(SCOPES).makeOptionMandatory(),
    )
    .option('--project <project>', 'the only project it may ask for', oneProject)
    .option('--expires <age>', 'how long it is good, such as 12h or 30d', lifetime)
    .option('--name <name>', 'what it is for')
    .option(...JSON_OUT)
    .addHelpText('after', example('tailpond token create --scope ingest --name vector'))
    .action((options: CreateOptions) => run(({ createToken }) => createToken(options)));
  token
    .command('list')
    .description('list the tokens, without the tokens themselves')
    .option(...JSON_OUT)
    .action((options: { json?: boolean }) => run(({ listTokens }) => listTokens(options)));
  token
    .command('revoke <id>')
    .description('take a token out of the file')
    .option(...JSON_OUT)
    .action((id: string, options: { json?: boolean }) =>
      run(({ revokeToken }) => revokeToken(id, options)),
    );
}

/** The shell asks this program at each tab, by a hidden command. */
function completes(program: Command) {
  completion(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print what a shell runs to complete these commands')
    .addHelpText('after', example('source <(tailpond completion bash)'));
}

/** Completes the sources of this machine's settings. The service that is asked may have others. */
function suggesting<T extends Argument | Option>(word: T): T {
  word.choices(allSources()).argParser((name: string) => name);
  return word;
}

function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

function httpUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must begin with http:// or https://.');
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number.');
}

/** Ms. */
function lifetime(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (!number) throw new InvalidArgumentError('Expected hours or days, such as 12h or 30d.');
  return Number(number) * (unit === 'd' ? DAY_MS : 3_600_000);
}
