import { readFileSync } from 'node:fs';

/** Ticks of a process's account a second, as Linux has it on every machine of today. */
const TICKS = 100;

/** Processor time that a process has used, seconds. */
export function processorSeconds(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = rest.split(' ').slice(11, 13).map(Number);
  return (user + system) / TICKS;
}

/** Resident memory of a process in MB, from the kernel's account: now (`VmRSS`), or the most there ever was (`VmHWM`). */
export function memoryMb(field: 'VmHWM' | 'VmRSS', pid: number | 'self' = 'self'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
