import {
  closeSync,
  ftruncateSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(64 * 1024, 1);

/** Fills the file system of a folder, by a file in it, until so many bytes are left. */
export function fill(folder: string, leftBytes: number): void {
  const path = ballast(folder);
  const file = openSync(path, 'a');
  try {
    for (;;) writeSync(file, BLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    ftruncateSync(file, Math.max(0, statSync(path).size - leftBytes));
  } finally {
    closeSync(file);
  }
}

/** Fills it as far, or a block less, and so that it is never full: nobody else’s write fails. */
export function fillWithin(folder: string, leftBytes: number): void {
  const file = openSync(ballast(folder), 'a');
  const left = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  try {
    while (left() >= leftBytes + BLOCK.length) writeSync(file, BLOCK);
  } finally {
    closeSync(file);
  }
}

/** Gives the space back. */
export function free(folder: string): void {
  rmSync(ballast(folder), { force: true });
}

function ballast(folder: string): string {
  return join(folder, 'ballast');
}
