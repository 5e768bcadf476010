import type { ChildProcess } from 'node:child_process';

/** The same process, which now ends when this one does, also after an error or Ctrl-C. */
export function owned<C extends ChildProcess>(child: C, signal: NodeJS.Signals = 'SIGTERM'): C {
  const end = () => child.kill(signal);
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}
