import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ROOT } from './root.ts';
import { SETTINGS } from './settings.ts';

export interface CommandLine {
  readonly demo: boolean;
  readonly healthcheck: boolean;
  readonly dryRun: boolean;
  /** What is to be done with the store, instead of serving it. */
  readonly store: StoreCommand | null;
}

export type StoreCommand =
  | { readonly verb: 'check' }
  | { readonly verb: 'backup' | 'restore'; readonly file: string };

/** Reads the command line; `--help` and `--version` answer and exit, an unknown option exits with 1. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const width = Math.max(...SETTINGS.map(({ name }) => name.length)) + 2;
  const settings = SETTINGS.map((setting) => {
    const preset = setting.default ? ` (default: ${setting.default})` : '';
    return `  ${setting.name.padEnd(width)}${setting.description}${preset}`;
  });
  let chosen: StoreCommand | null = null;
  const program = new Command('tailpond')
    .description(description)
    .version(version)
    .option(
      '--demo',
      'run on a scratch data folder and keep writing realistic lines of all nine sources',
      false,
    )
    .option('--healthcheck', 'ask the running service if it is ready; exit 0 if so, else 1', false)
    .option(
      '--dry-run',
      'print what retention would remove now, as JSON, and remove nothing',
      false,
    )
    .addHelpText('after', `\nSettings, as environment variables:\n${settings.join('\n')}`)
    .allowExcessArguments(false)
    .action(() => {});
  const store = program.command('store').description('check, back up or restore the store');
  store
    .command('check')
    .description('read every row and hold it against the ledger; exit 0 if all is well, else 1')
    .action(() => {
      chosen = { verb: 'check' };
    });
  store
    .command('backup <file>')
    .description('copy the database of one moment to a new file, while the service runs or not')
    .action((file: string) => {
      chosen = { verb: 'backup', file };
    });
  store
    .command('restore <file>')
    .description('put a backup in the place of the database, which is kept aside')
    .action((file: string) => {
      chosen = { verb: 'restore', file };
    });
  program.parse([...argv]);
  return { ...program.opts<Omit<CommandLine, 'store'>>(), store: chosen };
}
