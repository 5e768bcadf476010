import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it, where they are not there; `mode` is the last one's. Throws what the operating system says. Not
 * `mkdir` with `recursive`: Node.js never returns from it below a folder like /proc, where none can be made.
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || statSync(dirname(path), { throwIfNoEntry: false })) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, mode);
  }
}
