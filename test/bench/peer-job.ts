import type { DataFile } from './dataset.ts';
import type { Answers } from './peer.ts';
import { median } from './statistics.ts';

/** A question is asked at least so often, and for so long. */
interface Warmup {
  readonly times: number;
  readonly ms: number;
}

export interface AskOptions {
  readonly times: number;
  /** How each question is asked before; once where that is not said. */
  readonly warm: readonly Warmup[];
}

/** What the script of a peer is told, as JSON. */
interface PeerJob extends AskOptions {
  readonly folder: string;
  readonly files: readonly DataFile[];
  /** Of each project, the questions in the peer's SQL. */
  readonly worlds: readonly (readonly string[])[];
}

/** What one of those that are compared is asked. */
export interface Questions<Body> {
  /** Of each project, what asks each question. */
  readonly worlds: readonly (readonly (() => Promise<Body>)[])[];
  /** How many rows an answer has. */
  rowsOf(body: Body): number;
}

/** So many times one is asked before the next one is. */
const BLOCK = 5;

/** The job that this process was started with. A SIGTERM exits, so that what this process has started ends too. */
export function peerJob(): PeerJob {
  process.once('SIGTERM', () => process.exit(1));
  return JSON.parse(process.argv[2] ?? '') as PeerJob;
}

/**
 * Asks each question a few times, and then `times` times, which are timed: of each of those that are asked a few in turn, so that a machine
 * that is slower for a while is so for all of them.
 */
export async function askInTurn<Body>(
  asked: readonly Questions<Body>[],
  { times, warm }: AskOptions,
): Promise<Answers[]> {
  const answers: Answers[number][][] = asked.map(() => []);
  for (const world of (asked[0]?.worlds ?? []).keys()) {
    const peers = asked.map(({ worlds, rowsOf }) => ({
      questions: worlds[world] ?? [],
      rowsOf,
      answers: [] as { ms: number; rows: number }[],
    }));
    for (const i of (peers[0]?.questions ?? []).keys()) {
      const asks = peers.map(({ questions }) => questions[i] as () => Promise<Body>);
      const rows: number[] = [];
      for (const [n, ask] of asks.entries()) {
        const until = performance.now() + (warm[i]?.ms ?? 0);
        rows.push(peers[n]?.rowsOf(await ask()) ?? 0);
        for (let n = 1; n < (warm[i]?.times ?? 1) || performance.now() < until; n++) await ask();
      }
      const ms: number[][] = asks.map(() => []);
      for (let time = 0; time < times; time += BLOCK)
        for (const [n, ask] of asks.entries())
          for (let nth = 0; nth < Math.min(BLOCK, times - time); nth++) {
            const begin = performance.now();
            await ask();
            ms[n]?.push(performance.now() - begin);
          }
      for (const [n, peer] of peers.entries())
        peer.answers.push({ ms: median(ms[n] ?? []), rows: rows[n] ?? 0 });
    }
    for (const [n, peer] of peers.entries()) answers[n]?.push(peer.answers);
  }
  return answers;
}
