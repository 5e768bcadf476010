import type { Logger } from 'pino';
import type { RejectedLine } from '../../ingest/index.ts';

/** Files and reasons that are kept apart; of more than these only the number of lines is said. */
const MOST = 1000;

export interface RejectionLog {
  /** Takes lines that were stored as rejected. */
  note(lines: readonly Pick<RejectedLine, 'file' | 'reason'>[]): void;
  close(): void;
}

/** Says in the log that lines were rejected: at once for the first ones of a file and reason, then how many more, once in `everyMs`. */
export function createRejectionLog(logger: Pick<Logger, 'warn'>, everyMs: number): RejectionLog {
  /** How many lines have not been told of; 0: those of the last minute were. */
  const untold = new Map<string, { file: string; reason: string; lines: number }>();
  let others = 0;

  const tell = (file: string | undefined, reason: string | undefined, lines: number) =>
    logger.warn({ file, reason, lines }, 'lines were rejected; they are kept as rejected lines');
  const timer = setInterval(() => {
    for (const [key, each] of untold) {
      if (each.lines === 0) untold.delete(key);
      else tell(each.file, each.reason, each.lines);
      each.lines = 0;
    }
    if (others > 0) tell(undefined, undefined, others);
    others = 0;
  }, everyMs).unref();

  return {
    note(lines) {
      const fresh = new Set<string>();
      for (const { file, reason } of lines) {
        const key = `${file}\n${reason}`;
        const known = untold.get(key);
        if (known) known.lines++;
        else if (untold.size >= MOST) others++;
        else {
          untold.set(key, { file, reason, lines: 1 });
          fresh.add(key);
        }
      }
      for (const key of fresh) {
        const each = untold.get(key);
        if (!each) continue;
        tell(each.file, each.reason, each.lines);
        each.lines = 0;
      }
    },
    close: () => clearInterval(timer),
  };
}
