import type { DataFile } from './dataset.ts';
import type { Answers } from './peer.ts';
import { median } from './statistics.ts';

/** A question is asked at least so often, and for so long. */
interface Warmup {
  readonly times: number;
  readonly ms: number;
}

/** What the script of a peer is told, as JSON. */
interface PeerJob {
  readonly folder: string;
  readonly files: readonly DataFile[];
  readonly times: number;
  /** How each question is asked before; once where that is not said. */
  readonly warm: readonly Warmup[];
  /** Of each project, the questions in the peer's SQL. */
  readonly worlds: readonly (readonly string[])[];
}

/** The job that this process was started with. A SIGTERM exits, so that what this process has started ends too. */
export function peerJob(): PeerJob {
  process.once('SIGTERM', () => process.exit(1));
  return JSON.parse(process.argv[2] ?? '') as PeerJob;
}

/** Asks each question a few times, and then `times` times, which are timed. `rowsOf` gives how many rows an answer has. */
export async function askAll<Question, Body>(
  {
    worlds,
    times,
    warm,
  }: Pick<PeerJob, 'times' | 'warm'> & { readonly worlds: readonly (readonly Question[])[] },
  ask: (question: Question) => Promise<Body>,
  rowsOf: (body: Body) => number,
): Promise<Answers> {
  const answers: Answers[number][] = [];
  for (const questions of worlds) {
    const own: { ms: number; rows: number }[] = [];
    for (const [i, question] of questions.entries()) {
      const until = performance.now() + (warm[i]?.ms ?? 0);
      const rows = rowsOf(await ask(question));
      for (let n = 1; n < (warm[i]?.times ?? 1) || performance.now() < until; n++)
        await ask(question);
      const ms: number[] = [];
      for (let n = 0; n < times; n++) {
        const begin = performance.now();
        await ask(question);
        ms.push(performance.now() - begin);
      }
      own.push({ ms: median(ms), rows });
    }
    answers.push(own);
  }
  return answers;
}
