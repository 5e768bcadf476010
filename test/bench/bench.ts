import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from './dataset.ts';
import type { Options } from './options.ts';

/** What every section is given. */
export interface Bench {
  readonly options: Options;
  /** The lines of this run, of all nine sources; of another seed, `few` lines of the same form. */
  readonly data: Dataset;
  readonly few: Dataset;
  /** A new empty folder in the scratch folder. */
  folder(name: string): string;
  /** The folder of an engine that holds the lines, when a section left it. */
  readonly stores: Map<string, string>;
}

/** Makes the scratch folder and hands it to `use`; it is removed at the end, also after an error or Ctrl-C. */
export async function withScratch(use: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tailpond-bench-'));
  // PostgreSQL runs as another user and must get to its folder.
  chmodSync(scratch, 0o711);
  const remove = () => rmSync(scratch, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    await use(scratch);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Gives folders below `scratch`, each new and empty. */
export function folders(scratch: string): (name: string) => string {
  let count = 0;
  return (name) => {
    const path = join(scratch, `${name}-${count++}`);
    mkdirSync(path, { mode: 0o755 });
    return path;
  };
}
