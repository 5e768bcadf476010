import { readFileSync } from 'node:fs';
import type { Content } from './content.ts';
import type { Disk } from './disk.ts';

/** Handles beyond this many are closed; such a file is opened again by path, and identified anew. */
const MAX_OPEN = 500;
/** Log files take no more than this part of the handles that the process may have: requests and the engine need some. */
const SHARE_OF_HANDLES = 0.25;

/** Opens log files, and tells when too many are open. */
export class Handles {
  private count = 0;
  private readonly max = Math.min(MAX_OPEN, Math.floor(handleLimit() * SHARE_OF_HANDLES));

  private readonly disk: Pick<Disk, 'open'>;

  constructor(disk: Pick<Disk, 'open'>) {
    this.disk = disk;
  }

  /** Opens the file at `path`; it counts until it is closed. Throws what `Disk.open` throws. */
  async open(path: string): Promise<Content> {
    const content = await this.disk.open(path);
    this.count++;
    return {
      ...content,
      close: () => {
        this.count--;
        return content.close();
      },
    };
  }

  isFull(): boolean {
    return this.count >= this.max;
  }

  /** How many more are open than should be. */
  surplus(): number {
    return Math.max(0, this.count - this.max);
  }
}

/** How many handles the process may have, as Linux tells it; Infinity elsewhere, and without a limit. */
function handleLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
