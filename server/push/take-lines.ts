import type { Source } from '../../ingest/index.ts';
import type { PushedBody } from './door.ts';
import type { PushedLines } from './pushed-lines.ts';
import { AROUND_BYTES, type RewriteOptions, rewriteOf } from './rewrite.ts';
import { createSplitter } from './splitter.ts';
import { stamp } from './stamp.ts';
import { type Cut, wholeLines } from './whole-lines.ts';

const NEWLINE = 0x0a;

export interface TakeOptions {
  /** Whether the body is lines, whatever its first byte is. */
  readonly areLines: boolean;
  /** Members of a body that is one object which may name its source; none where the request names it. */
  readonly wanted: readonly string[];
  readonly maxLine: number;
  /** The project that every line belongs to; null: lines say it themselves. */
  readonly pin: string | null;
  /** Returns the source, and how its lines are rewritten. `texts`: those of the wanted members, if the body is one object. */
  readonly destination: (texts: ReadonlyMap<string, string> | null) => Destination;
}

export interface Destination {
  readonly source: Source;
  readonly rewriting: RewriteOptions;
}

/** Makes lines of a body as it comes in. Throws what `destination` throws, and `REQUEST_INVALID`. */
export async function takeLines(body: PushedBody, options: TakeOptions): Promise<void> {
  const { areLines, wanted, maxLine, pin } = options;
  const splitter = createSplitter(areLines, wanted);
  const whole = wholeLines(maxLine + AROUND_BYTES);
  let into: Writing | null = null;
  const begin = (texts: ReadonlyMap<string, string> | null): Writing => {
    const { source, rewriting } = options.destination(texts);
    const lines = body.linesOf(source);
    const plain = (bytes: Buffer) => lines.write(bytes);
    return { lines, rewriting, write: pin === null ? plain : stamp(pin, plain) };
  };
  const pass = async (cuts: Iterable<Cut>) => {
    for (const cut of cuts) {
      into ??= begin(splitter.texts);
      if (cut.kind === 'piece') into.write(cut.bytes);
      else await passLines(cut.bytes, into, body);
      await body.turn(into.lines);
    }
  };

  let held = 0;
  /** Accounts for what the splitter keeps and the line that has begun. */
  const hold = () => {
    const now = splitter.kept + whole.held;
    if (now > held) body.holding.add(now - held);
    else body.holding.remove(held - now);
    held = now;
  };
  for await (const chunk of body.chunks()) {
    for (const bytes of splitter.take(chunk)) await pass(whole.take(bytes));
    hold();
  }
  for (const bytes of splitter.end()) {
    await pass(whole.take(bytes));
    await body.turn();
  }
  await pass(whole.end());
  // A request that names no source is told so, though it brings nothing.
  if (into === null) options.destination(null);
}

interface Writing {
  readonly lines: PushedLines;
  readonly rewriting: RewriteOptions;
  readonly write: (bytes: Buffer) => void;
}

async function passLines(bytes: Buffer, into: Writing, body: PushedBody): Promise<void> {
  const rewrite = rewriteOf(bytes, into.rewriting);
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    body.count(1);
    if (rewrite) {
      into.write(rewrite(bytes.subarray(from, newline)));
      into.write(bytes.subarray(newline, newline + 1));
      await body.turn(into.lines);
    }
    from = newline + 1;
  }
  if (!rewrite) into.write(bytes);
}
