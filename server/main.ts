import { readCommandLine } from './command-line.ts';
import { QueryFileError } from './compile.ts';
import { ConfigError, readConfig } from './config.ts';
import { startDemo } from './demo.ts';
import { dryRun } from './dry-run.ts';
import { checkHealth } from './healthcheck.ts';
import { createLogger } from './logger.ts';
import { serve } from './serve.ts';
import { StoreBroken } from './store/index.ts';
import { runStoreCommand } from './store-command.ts';

/** What `sysexits.h` calls a configuration error: starting again does not help. */
const EX_CONFIG = 78;

try {
  const command = readCommandLine(process.argv);
  const { config, warnings } = readConfig(process.env);
  if (command.healthcheck) process.exit(await checkHealth(config));
  if (command.dryRun) {
    console.log(JSON.stringify({ result: await dryRun(config) }));
    process.exit(0);
  }
  if (command.store) process.exit(await runStoreCommand(command.store, config));
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  const demo = command.demo ? await startDemo(logger) : null;
  await serve(demo ? { ...config, data: demo.data } : config, logger, demo);
} catch (error) {
  if (error instanceof ConfigError) for (const fault of error.faults) console.error(fault);
  else console.error(error instanceof Error ? error.message : error);
  const faults = [ConfigError, StoreBroken, QueryFileError];
  process.exit(faults.some((fault) => error instanceof fault) ? EX_CONFIG : 1);
}
