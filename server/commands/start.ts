import { readConfig } from '../config.ts';
import { startDemo } from '../demo.ts';
import { dryRun } from '../dry-run.ts';
import { checkHealth } from '../healthcheck.ts';
import { createLogger } from '../logger.ts';
import { serve } from '../serve.ts';

export interface StartOptions {
  readonly demo?: boolean;
  readonly healthcheck?: boolean;
  readonly dryRun?: boolean;
}

/** Runs the service until it is stopped; or asks the one that runs, or looks at its store, and exits. */
export async function start(options: StartOptions): Promise<void> {
  const { config, warnings } = readConfig(process.env);
  if (options.healthcheck) process.exit(await checkHealth(config));
  if (options.dryRun) {
    console.log(JSON.stringify({ result: await dryRun(config) }));
    process.exit(0);
  }
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  const demo = options.demo ? await startDemo(logger) : null;
  await serve(demo ? { ...config, data: demo.data } : config, logger, demo);
}
