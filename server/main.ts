import { commandLine } from './cli/program.ts';
import { inWords } from './cli/system-errors.ts';
import { complain } from './cli/terminal.ts';
import { ConfigError, EX_CONFIG, takeSources } from './config/config.ts';
import { QueryFileError } from './endpoints/query-file.ts';
import { StoreBroken } from './store/index.ts';

// The command line completes them.
takeSources(process.env);

try {
  await commandLine((code) => process.exit(code)).parseAsync(process.argv);
} catch (error) {
  if (error instanceof ConfigError) for (const fault of error.faults) complain(fault);
  else complain(inWords(error));
  const faults = [ConfigError, StoreBroken, QueryFileError];
  process.exit(faults.some((fault) => error instanceof fault) ? EX_CONFIG : 1);
}
