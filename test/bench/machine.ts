import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/** What the figures are of. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly node: string;
  readonly tools: readonly string[];
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    // Without what the distribution adds.
    kernel: release().split('-')[0] ?? '',
    node: process.version,
    tools: ['grep', 'jq'].flatMap(version),
  };
}

function version(program: string): string[] {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n').slice(0, 1);
  } catch {
    // Not installed; what it would have measured is left out too.
    return [];
  }
}
