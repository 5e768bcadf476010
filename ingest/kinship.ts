import { isRotated } from './name.ts';
import type { Found } from './scan.ts';
import type { KnownFile } from './types.ts';

/**
 * The order to meet files in: known inodes, known paths, then the rest, so that a copy does not pass for the file
 * that it is a copy of; the oldest first. Of several links to a known inode the one at its known path comes first: a
 * link in the folder of another source must not make the file that source's. The path of a known file that was moved is
 * no known one: a new copy may stand there, before whose original it must not be met.
 */
export function byKinship(found: readonly Found[], known: Iterable<KnownFile>): Found[] {
  const files = [...known].filter((file) => !file.gone);
  const inodes = new Set(files.map((file) => file.inode));
  const at = new Set(found.map(({ inode, path }) => `${inode} ${path}`));
  const here = new Set(found.map(({ inode }) => inode));
  const moved = ({ inode, path }: KnownFile) => here.has(inode) && !at.has(`${inode} ${path}`);
  const paths = new Set(files.filter((file) => !moved(file)).map((file) => file.path));
  const rank = (entry: Found) => {
    const isKnownPath = paths.has(entry.path);
    if (inodes.has(entry.inode)) return isKnownPath ? 0 : 1;
    if (isKnownPath) return 2;
    return isRotated(entry.path) ? 4 : 3;
  };
  return [...found].sort((a, b) => rank(a) - rank(b) || a.mtimeMs - b.mtimeMs);
}
