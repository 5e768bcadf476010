import { readFileSync } from 'node:fs';

/** Resident memory of a process in MB, from the kernel's account: now (`VmRSS`), or the most there ever was (`VmHWM`). */
export function memoryMb(field: 'VmHWM' | 'VmRSS', pid: number | 'self' = 'self'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
