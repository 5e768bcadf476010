import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { SETTINGS } from './config.ts';
import { ROOT } from './root.ts';

export interface CommandLine {
  readonly demo: boolean;
  readonly healthcheck: boolean;
  readonly dryRun: boolean;
}

/** Reads the command line; `--help` and `--version` answer and exit, an unknown option exits with 1. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const width = Math.max(...SETTINGS.map(({ name }) => name.length)) + 2;
  const settings = SETTINGS.map((setting) => {
    const preset = setting.default ? ` (default: ${setting.default})` : '';
    return `  ${setting.name.padEnd(width)}${setting.description}${preset}`;
  });
  const command = new Command('tailpond')
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
    .parse([...argv]);
  return command.opts<CommandLine>();
}
