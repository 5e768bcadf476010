import type { IncomingMessage } from 'node:http';
import type { Ingest, Source } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import { allowLongBody } from '../http/server.ts';
import { chunksOf, discardBody, tooLarge, wholeOf } from './body.ts';
import { createMemory, type Holding } from './memory.ts';
import { PushedLines } from './pushed-lines.ts';
import type { PushFiles } from './spool.ts';
import { createTurns, type Turns } from './turns.ts';

export interface DoorOptions {
  readonly pushFiles: PushFiles;
  readonly ingest: Pick<Ingest, 'status'>;
  /** The most lines that a body may hold. */
  readonly maxLines: number;
}

/**
 * The one way in for bodies with lines, whatever their protocol. It bounds the bytes of a body, its elements, the lines it becomes, the time
 * of a turn on the event loop, and the memory of all bodies together. It gives every line the project that the token is for.
 */
export interface Door {
  /**
   * Reads the body of a request by `take`. `pin`: the one project that the token is for; null: it is for any. All lines that it wrote are on the disk when this resolves, or none are kept when it throws.
   * Throws `BODY_TOO_LARGE`, `ENCODING_UNKNOWN`, `PUSH_OVERLOADED`, `REQUEST_INVALID`, `STORAGE_UNAVAILABLE`, and what `take` throws.
   */
  receive<T>(
    request: IncomingMessage,
    pin: string | null,
    take: (body: PushedBody) => Promise<T>,
  ): Promise<T>;
}

export function createDoor({ pushFiles, ingest, maxLines }: DoorOptions): Door {
  const memory = createMemory();
  const turns = createTurns();
  return {
    async receive(request, pin, take) {
      const { noRoom } = ingest.status();
      const holding = memory.open();
      const body = new PushedBody(request, { pushFiles, holding, turns, maxLines, pin });
      try {
        if (noRoom) throw new AppError('STORAGE_UNAVAILABLE', { detail: noRoom });
        allowLongBody(request);
        const result = await take(body);
        await body.commit();
        return result;
      } catch (error) {
        holding.release();
        await discardBody(request);
        throw error;
      } finally {
        holding.release();
        await body.discard();
      }
    },
  };
}

interface BodyOptions {
  readonly pushFiles: PushFiles;
  readonly holding: Holding;
  readonly turns: Turns;
  readonly maxLines: number;
  readonly pin: string | null;
}

/** A body that is being read, and the lines that are made of it. */
export class PushedBody {
  private readonly request: IncomingMessage;
  private readonly options: BodyOptions;
  private readonly lines = new Map<Source, PushedLines>();
  private elements = 0;

  constructor(request: IncomingMessage, options: BodyOptions) {
    this.request = request;
    this.options = options;
  }

  get holding(): Holding {
    return this.options.holding;
  }

  /** Yields the unpacked bytes, each chunk in a turn. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunksOf(this.request, this.holding)) {
      await this.turn();
      yield chunk;
    }
  }

  /** Returns all unpacked bytes. */
  whole(): Promise<Buffer> {
    return wholeOf(this.request, this.chunks(), this.holding);
  }

  /** Returns where lines for a source are written to. */
  linesOf(source: Source): PushedLines {
    const { pushFiles, holding, pin } = this.options;
    const lines = this.lines.get(source) ?? new PushedLines(source, pushFiles, holding, pin);
    this.lines.set(source, lines);
    return lines;
  }

  /** Counts elements. Throws `BODY_TOO_LARGE` beyond the limit. */
  count(elements: number): void {
    this.elements += elements;
    if (this.elements > this.options.maxLines)
      throw tooLarge(`${this.options.maxLines} lines or elements (TAILPOND_MAX_PUSH_LINES)`);
  }

  /** Gives way to others when the turn is over, and writes lines that are due. To be called often. */
  async turn(lines?: PushedLines): Promise<void> {
    if (lines?.isFull) await lines.spill();
    if (this.options.turns.isOver()) await this.options.turns.next();
  }

  async commit(): Promise<void> {
    for (const lines of this.lines.values()) await lines.commit();
  }

  async discard(): Promise<void> {
    for (const lines of this.lines.values()) await lines.discard();
  }
}
