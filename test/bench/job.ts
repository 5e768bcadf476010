import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../server/config/package-root.ts';
import { owned } from '../support/child.ts';
import type { DataFile } from './dataset.ts';

/** What an engine is told, in a process of its own, so that its memory is its alone. */
export type Job =
  | { readonly task: 'load'; readonly folder: string; readonly files: readonly DataFile[] }
  | {
      readonly task: 'ask';
      readonly folder: string;
      readonly projects: readonly string[];
      readonly patterns: readonly string[];
      /** As tailpond asks, or with what the engine does of itself. */
      readonly plain?: boolean;
    };

export type LoadJob = Extract<Job, { task: 'load' }>;
export type AskJob = Extract<Job, { task: 'ask' }>;

/** What loading took. */
export interface Loaded {
  readonly version: string;
  readonly ms: number;
  readonly peakMb: number;
  readonly diskBytes: number;
}

/** What asking took: ms of each question. `sample` tells whether two engines gave the same answers. */
export interface Asked {
  readonly listMs: readonly number[];
  readonly countsMs: readonly number[];
  readonly sample: string;
}

/** A whole load or a few hundred questions; far beyond what either takes. */
const JOB_MS = 30 * 60_000;

/** Runs a job in the engine's script. */
export function runJob<T extends Loaded | Asked>(script: string, job: Job): Promise<T> {
  return runScript(script, job);
}

/**
 * Runs a script in a process of its own, which prints its result as JSON. Throws, with what it wrote, when it fails or takes
 * too long.
 */
export async function runScript<T>(script: string, job: object): Promise<T> {
  const file = join(ROOT, 'test/bench', script);
  const child = owned(
    spawn(process.execPath, ['--import=tsx', file, JSON.stringify(job)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: JOB_MS,
    }),
  );
  const [out, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const result = out.trim().split('\n').at(-1) ?? '';
  if (code !== 0 || !result) throw new Error(`${script} ended with ${code ?? signal}: ${errors}`);
  return JSON.parse(result) as T;
}

/** The other side: does the job that this process was started with, and prints the result as JSON. */
export async function doJob(tasks: {
  load(job: LoadJob): Promise<Loaded>;
  ask(job: AskJob): Promise<Asked>;
}): Promise<void> {
  // An exit, not an end by the signal, so that what this process has started ends too.
  process.once('SIGTERM', () => process.exit(1));
  const job = JSON.parse(process.argv[2] ?? '') as Job;
  const result = job.task === 'load' ? await tasks.load(job) : await tasks.ask(job);
  console.log(JSON.stringify(result));
}

/** Asks every question in turn and times each; the first one is asked once before, so that all are warm. */
export async function timeAll<T>(
  values: readonly string[],
  ask: (value: string) => T | Promise<T>,
): Promise<{ ms: number[]; first: T | undefined }> {
  const [value] = values;
  const first = value === undefined ? undefined : await ask(value);
  const ms: number[] = [];
  for (const each of values) {
    const begin = performance.now();
    await ask(each);
    ms.push(performance.now() - begin);
  }
  return { ms, first };
}

/** What two engines must agree on: ids of the newest entries of a project, and counts of a whole day. */
export function sampleOf(ids: readonly unknown[], days: readonly (readonly unknown[])[]): string {
  return JSON.stringify([ids, days[1]?.map(Number)]);
}
