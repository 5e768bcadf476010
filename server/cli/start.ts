import { readConfig } from '../config/config.ts';
import { runService } from '../service.ts';
import { startDemo, withDemoSources } from './demo.ts';
import { createLogger } from './logger.ts';
import { checkHealth } from './service-client.ts';
import { dryRun } from './store-admin.ts';

export interface StartOptions {
  readonly demo?: boolean;
  readonly healthcheck?: boolean;
  readonly dryRun?: boolean;
  readonly withParent?: boolean;
}

/** Runs the service until it is stopped; or asks the one that runs, or looks at its store, and exits. */
export async function start(options: StartOptions): Promise<void> {
  const { config, warnings } = readConfig(
    options.demo ? withDemoSources(process.env) : process.env,
  );
  if (options.healthcheck) process.exit(await checkHealth(config));
  if (options.dryRun) {
    console.log(JSON.stringify({ result: await dryRun(config) }));
    process.exit(0);
  }
  if (options.withParent) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  const files = openFiles();
  if (files < ENOUGH_FILES)
    logger.warn(
      { limit: files },
      `this process may open ${files} files, which are the database, log files and connections: let it open ${ENOUGH_FILES} at least (ulimit -n, LimitNOFILE)`,
    );
  const demo = options.demo ? await startDemo(logger) : null;
  await runService(demo ? { ...config, data: demo.data } : config, logger, demo?.close);
}

/** 256 are enough for thousands of log files (T31); most systems allow 1024. */
const ENOUGH_FILES = 256;

/** How many files this process may open. */
function openFiles(): number {
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | 'unlimited' } };
  };
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}
