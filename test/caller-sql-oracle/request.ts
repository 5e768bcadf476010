import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from './answer.ts';
import type { Dataset } from './dataset.ts';
import { EXPECTED } from './expected/index.ts';

/** A request of the parameter `sql`. */
export interface Request {
  readonly name: string;
  readonly sql: string;
  /** What the message of the refusal must say, when it must be refused. */
  readonly refused?: RegExp;
  /** What must come back, when that is known. */
  readonly rows?: (dataset: Dataset) => Answer;
}

/** The requests of a folder: a file `.sql` each. What must be refused has a name that says so. */
export function requestsOf(folder: string): Request[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.toSorted().map((file) => {
    const name = file.slice(0, -'.sql'.length);
    const rows = EXPECTED[name];
    return {
      name,
      sql: readFileSync(join(folder, file), 'utf8'),
      ...(/^(reject|unsupported)-/.test(name) ? { refused: /./ } : {}),
      ...(rows ? { rows } : {}),
    };
  });
}
