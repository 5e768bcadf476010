import type { DataFile } from './dataset.ts';
import type { Answers } from './peer.ts';
import { median } from './statistics.ts';

/** A question is asked at least so often, and for so long. */
export interface Warmup {
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
  /** The questions for each project, in the peer's SQL. */
  readonly worlds: readonly (readonly string[])[];
}

/** What one of those that are compared is asked. */
export interface Questions<Body> {
  /** The functions that ask each question, for each project. */
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

/** Asks each question of all of them, one question after the other. */
export async function askInTurn<Body>(
  asked: readonly Questions<Body>[],
  { times, warm }: AskOptions,
): Promise<Answers[]> {
  const answers: Answers[number][][] = asked.map(() => []);
  for (const [world, { length }] of (asked[0]?.worlds ?? []).entries()) {
    const ofWorld: Timed[][] = asked.map(() => []);
    for (let i = 0; i < length; i++) {
      const asks = asked.map(({ worlds }) => worlds[world]?.[i] as () => Promise<Body>);
      const rows: number[] = [];
      for (const [n, ask] of asks.entries())
        rows.push(asked[n]?.rowsOf(await warmed(ask, warm[i])) ?? 0);
      for (const [n, ms] of (await timedInTurn(asks, times)).entries())
        ofWorld[n]?.push({ ms, rows: rows[n] ?? 0 });
    }
    for (const [n, each] of ofWorld.entries()) answers[n]?.push(each);
  }
  return answers;
}

/** The median of what each of `asks` takes, ms, once all of them are warm. */
export async function mediansInTurn(
  asks: readonly (() => Promise<unknown>)[],
  { times, warm }: { readonly times: number; readonly warm: Warmup },
): Promise<number[]> {
  for (const ask of asks) await warmed(ask, warm);
  return timedInTurn(asks, times);
}

type Timed = Answers[number][number];

/** The first answer to a question that is asked a few times. */
async function warmed<Body>(
  ask: () => Promise<Body>,
  { times, ms }: Warmup = { times: 1, ms: 0 },
): Promise<Body> {
  const until = performance.now() + ms;
  const first = await ask();
  for (let nth = 1; nth < times || performance.now() < until; nth++) await ask();
  return first;
}

/** The median of what each of `asks` takes, ms: each a few times in turn, so that a machine that is slower for a while is so for all of them. */
async function timedInTurn(
  asks: readonly (() => Promise<unknown>)[],
  times: number,
): Promise<number[]> {
  const ms: number[][] = asks.map(() => []);
  for (let done = 0; done < times; done += BLOCK)
    for (const [n, ask] of asks.entries())
      for (let nth = done; nth < Math.min(done + BLOCK, times); nth++) {
        const begin = performance.now();
        await ask();
        ms[n]?.push(performance.now() - begin);
      }
  return ms.map(median);
}
