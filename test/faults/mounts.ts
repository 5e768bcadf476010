import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CaseOptions, faultCase, notHere } from './case.ts';

/** Mounts a tmpfs of so many MB on a new folder while `action` runs. */
export async function withTmpfs<T>(folder: string, megabytes: number, action: () => Promise<T>) {
  mkdirSync(folder, { recursive: true });
  const options = `size=${megabytes}m,mode=700`;
  run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder);
  try {
    return await action();
  } finally {
    run('umount', '-l', folder);
  }
}

/** An ext4 file system in a file, on a folder. */
export interface Ext4 {
  /** Has the disk keep all that was written. */
  synchronise(): void;
  /**
   * What a loss of power does: nothing reaches the disk from now on, what was not synchronised is lost, and everything
   * that is tried fails (EXT4_IOC_SHUTDOWN without a flush of the journal).
   */
  losePower(): void;
  /** Read-only at once, whatever is open for writing, as after an error of the disk. */
  becomeReadOnly(): void;
  /** Mounts it anew, as a start of the machine does. No process may have a file of it open. */
  remount(): void;
}

/** Mounts a new ext4 of so many MB on a new folder while `action` runs. */
export async function withExt4<T>(
  folder: string,
  megabytes: number,
  action: (disk: Ext4) => Promise<T>,
) {
  const image = `${folder}.ext4`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(image, '');
  truncateSync(image, megabytes * 1024 * 1024);
  run('mkfs.ext4', '-q', '-m', '0', image);
  run('mount', '-o', 'loop', image, folder);
  try {
    return await action({
      synchronise: () => run('sync', '--file-system', folder),
      losePower() {
        run(
          'perl',
          '-e',
          'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!',
          folder,
        );
      },
      becomeReadOnly: () => run('mount', '-o', 'remount,abort', folder),
      remount() {
        run('umount', folder);
        run('mount', '-o', 'loop', image, folder);
      },
    });
  } finally {
    run('umount', '-l', folder);
  }
}

/** A case that mounts file systems; where that is not permitted, it says so. */
export function mountCase(
  id: string,
  title: string,
  kind: 'tmpfs' | 'ext4',
  action: () => Promise<void>,
  options: CaseOptions = {},
): void {
  const reason = whyNoMount(kind);
  if (reason === null) {
    faultCase(id, title, action, options);
    return;
  }
  notHere(id, title, reason);
}

/** Why a kind of file system cannot be mounted here; null if it can. */
export function whyNoMount(kind: 'tmpfs' | 'ext4'): string | null {
  return why[kind]();
}

/** Asked once each. */
const why = {
  tmpfs: once(() => probe((folder) => mounted('mount', '-t', 'tmpfs', 'tmpfs', folder))),
  ext4: once(() =>
    probe((folder) => {
      const image = join(folder, 'image');
      writeFileSync(image, '');
      truncateSync(image, 1024 * 1024);
      return mounted('mkfs.ext4', '-q', image) && mounted('mount', '-o', 'loop', image, folder);
    }),
  ),
};

function probe(mount: (folder: string) => boolean): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'tailpond-test-'));
  try {
    if (!mount(folder)) return 'a file system cannot be mounted here (it takes root)';
    run('umount', folder);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function mounted(command: string, ...words: string[]): boolean {
  return spawnSync(command, words).status === 0;
}

function run(command: string, ...words: string[]): void {
  const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr}`);
}
