import { commandLine } from './command-line.ts';
import { QueryFileError } from './compile.ts';
import { ConfigError } from './config.ts';
import { inWords } from './error-words.ts';
import { StoreBroken } from './store/index.ts';

/** What `sysexits.h` calls a configuration error: starting again does not help. */
const EX_CONFIG = 78;

try {
  await commandLine((code) => process.exit(code)).parseAsync(process.argv);
} catch (error) {
  if (error instanceof ConfigError) for (const fault of error.faults) console.error(fault);
  else console.error(inWords(error));
  const faults = [ConfigError, StoreBroken, QueryFileError];
  process.exit(faults.some((fault) => error instanceof fault) ? EX_CONFIG : 1);
}
