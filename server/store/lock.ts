import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreInUse } from './errors.ts';

/** A process that holds a store. All but the service and a restore end within seconds, and change nothing that a start has to see. */
export type Holder =
  | 'the service'
  | `tailpond ${'backup' | 'restore' | 'check' | 'query' | '--dry-run'}`;

export interface StoreLock {
  /** Whether others are kept out by it: not on a file system that has no locks. */
  readonly works: boolean;
  release(): Promise<void>;
}

/** What `fcntl` says where there are no locks. */
const NO_LOCKS = /^(EINVAL|ENOLCK|ENOSYS|ENOTSUP|EOPNOTSUPP)$/;

/**
 * Takes the lock of the store in `folder`: the kernel's, on the open file `lock` (`F_OFD_SETLK`). It ends with the process, however
 * that ends, and processes in other containers see it. Throws StoreInUse when another process has it.
 */
export async function lockStore(folder: string, holder: Holder): Promise<StoreLock> {
  const file = await open(join(folder, 'lock'), 'a+', 0o600);
  try {
    const taken = await tryLock(file);
    if (taken === null) {
      await file.close();
      return { works: false, release: async () => {} };
    }
    if (!taken) throw storeInUse(folder, await holderOf(file));
    // The disk may be full: then others are not told who has it.
    await file
      .truncate()
      .then(() => file.write(holder))
      .catch(() => {});
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    works: true,
    release: () =>
      file
        .truncate()
        .catch(() => {})
        .then(() => file.close()),
  };
}

/** Who has the store in `folder`, empty for one that has just come or is about to go; null for nobody, and where there are no locks. */
export async function storeHolder(folder: string): Promise<Holder | '' | null> {
  const file = await open(join(folder, 'lock'), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  try {
    return file && (await tryLock(file, { shared: true })) === false ? await holderOf(file) : null;
  } finally {
    await file?.close();
  }
}

/** Whether another process has a file locked to write to it, as the engine locks its database; false where there are no locks. */
export async function isLocked(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    return (await tryLock(file, { shared: true })) === false;
  } finally {
    await file.close();
  }
}

/** Null where there are no locks, or the package has nothing for this system. */
async function tryLock(
  { fd }: FileHandle,
  options: { readonly shared?: boolean } = {},
): Promise<boolean | null> {
  try {
    const { tryLock: lock } = (await import('fs-native-extensions')).default;
    return lock(fd, options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (NO_LOCKS.test(code ?? '') || /NOT_FOUND$/.test(code ?? '')) return null;
    throw error;
  }
}

/** Empty for one that has just come, or is about to go. */
async function holderOf(file: FileHandle): Promise<Holder | ''> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
  return buffer.toString('utf8', 0, bytesRead) as Holder | '';
}

/** The error that tells who has the store in `folder`. */
export function storeInUse(folder: string, holder: Holder | ''): StoreInUse {
  const advice =
    holder === 'the service'
      ? 'Stop it first, or ask it: tailpond store check'
      : 'Wait until it has ended.';
  return new StoreInUse(
    `Another process has the store in ${folder} open: ${holder || 'a command of tailpond'}. ${advice}`,
    { endsSoon: holder !== 'the service' && holder !== 'tailpond restore' },
  );
}
