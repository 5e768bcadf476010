import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes of the files below a folder whose names begin with `prefix`. */
export function bytesBelow(folder: string, prefix = ''): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(prefix))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
