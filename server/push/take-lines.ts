import type { Source } from '../../ingest/index.ts';
import { JSON_BYTES } from '../records/json-bytes.ts';
import type { PushedBody } from './door.ts';
import type { PushedLines } from './pushed-lines.ts';
import { AROUND_BYTES, type RewriteOptions, rewriteOf } from './rewrite.ts';
import { Sequence } from './sequence.ts';
import { PARAMETERS } from './source.ts';
import { Taken } from './taken.ts';
import { type Cut, wholeLines } from './whole-lines.ts';

const { LINE_FEED } = JSON_BYTES;

export interface TakeOptions {
  /** True for a body of lines, whatever its first byte is. */
  readonly areLines: boolean;
  /** Members of a body that is one object which may name its source; none where the request names it. */
  readonly wanted: readonly string[];
  /** True where the source takes lines of text. */
  readonly hasText: boolean;
  readonly maxLine: number;
  /** Returns the source, and how its lines are rewritten. `texts`: those of the wanted members, if the body is one object. */
  readonly destination: (texts: ReadonlyMap<string, string> | null) => Destination;
}

export interface Destination {
  readonly source: Source;
  readonly rewriting: RewriteOptions;
}

/**
 * Makes lines of a body as it comes in. Throws what `destination` throws, and `REQUEST_INVALID` where none of its lines can become a row,
 * unless the request calls them lines.
 */
export async function takeLines(body: PushedBody, options: TakeOptions): Promise<void> {
  const { areLines, hasText, wanted, maxLine } = options;
  const sequence = new Sequence({ areLines, hasText, wanted, besideBatch: PARAMETERS });
  const whole = wholeLines(maxLine + AROUND_BYTES);
  let into: Writing | null = null;
  const begin = (texts: ReadonlyMap<string, string> | null): Writing => {
    const { source, rewriting } = options.destination(texts);
    return { lines: body.linesOf(source), rewriting, taken: new Taken(source, areLines) };
  };
  const pass = async (cuts: Iterable<Cut>) => {
    for (const cut of cuts) {
      into ??= begin(sequence.texts);
      if (cut.kind === 'piece') {
        into.taken.isRow = true;
        into.lines.write(cut.bytes);
      } else await passLines(cut.bytes, into, body);
      await body.turn(into.lines);
    }
  };

  let held = 0;
  /** Accounts for what the sequence keeps and the line that has begun. */
  const hold = () => {
    const now = sequence.kept + whole.held;
    if (now > held) body.holding.add(now - held);
    else body.holding.remove(held - now);
    held = now;
  };
  for await (const chunk of body.chunks()) {
    for (const bytes of sequence.take(chunk)) await pass(whole.take(bytes));
    hold();
  }
  for (const bytes of sequence.end()) {
    await pass(whole.take(bytes));
    await body.turn();
  }
  await pass(whole.end());
  // A request that names no source gets its error, though it brings nothing.
  if (into === null) options.destination(null);
  else (into as Writing).taken.check(hasText);
}

interface Writing {
  readonly lines: PushedLines;
  readonly rewriting: RewriteOptions;
  readonly taken: Taken;
}

async function passLines(
  bytes: Buffer,
  { lines, rewriting, taken }: Writing,
  body: PushedBody,
): Promise<void> {
  const rewrite = rewriteOf(bytes, rewriting);
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(LINE_FEED, from);
    body.count(1);
    if (rewrite) {
      const line = rewrite(bytes.subarray(from, newline));
      if (!taken.isRow) taken.look(line);
      lines.write(line);
      lines.write(bytes.subarray(newline, newline + 1));
      await body.turn(lines);
    } else if (!taken.isRow) taken.look(bytes.subarray(from, newline));
    from = newline + 1;
  }
  if (!rewrite) lines.write(bytes);
}
