/** What the operating system refuses, by its code; `path` is the file that was asked for. */
const WORDS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `${path} is not there.`,
  ENOTDIR: (path) => `${path}: a part of this path is a file, not a folder.`,
  EISDIR: (path) => `${path} is a folder, where a file is expected.`,
  EEXIST: (path) => `${path} is there already.`,
  EACCES: (path) => `${path}: this user may not open or change it.`,
  EPERM: (path) => `${path}: this user may not open or change it.`,
  EROFS: (path) => `${path} is on a file system that can only be read.`,
  ENOSPC: (path) => `${path}: no space is left on its disk.`,
  EDQUOT: (path) => `${path}: this user's share of the disk is used up.`,
  ENAMETOOLONG: (path) => `${path}: this name is too long.`,
  ELOOP: (path) => `${path}: its symbolic links lead in a circle.`,
  EMFILE: (path) => `${path}: this process may open no more files (ulimit -n, LimitNOFILE).`,
};

/** An error as a sentence for who typed the command: those of the operating system name the file and what is wrong with it. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  // The second of two paths is the one that was named: a file that the service has made is brought there.
  const named = dest ?? path;
  const words = WORDS[code];
  return words && named ? words(named) : error.message;
}
