import express, { type RequestHandler } from 'express';
import { AppError } from '../errors.ts';
import type { PushFiles } from '../push/index.ts';
import type { Store } from '../store/index.ts';

export interface RetryDeps {
  readonly store: Pick<Store, 'rejectedLine' | 'removeRejected'>;
  readonly pushFiles: Pick<PushFiles, 'append'>;
}

/** The longest line there may be, each byte of it escaped as JSON may escape it. */
const MAX_BYTES = 100 * 1024 * 1024;

/**
 * Sends a rejected line in once more, with the bytes that it came with, or as it was edited: as a pushed line, which is safe on
 * the disk before the rejected one is removed. Killed in between it is there twice, as a line and as rejected; never not at all.
 */
export function retry({ store, pushFiles }: RetryDeps): [RequestHandler, RequestHandler] {
  /** If two requests send the same line in at a time, the second finds it gone. */
  const underway = new Set<string>();
  const sendAgain = async (id: string, line: string | null) => {
    const rejected = await store.rejectedLine(id);
    if (!rejected) throw new AppError('REJECTED_UNKNOWN');
    if (line === null && !rejected.whole)
      throw invalid(
        'id',
        'Expected a line that was kept whole: only the first 4 KiB of this one were.',
      );
    await pushFiles.append(rejected.source, [lineOf(line ?? rejected.line)]);
    await store.removeRejected(id);
  };
  return [
    express.json({ limit: MAX_BYTES }),
    async function retryRejected(request, response) {
      const { id, line } = readBody(request.body);
      // Before it is read: the other one may be done by then.
      if (underway.has(id)) throw new AppError('REJECTED_UNKNOWN');
      underway.add(id);
      try {
        await sendAgain(id, line);
      } finally {
        underway.delete(id);
      }
      response.set('Cache-Control', 'no-store').json({ result: { retried: 1 } });
    },
  ];
}

function readBody(body: unknown): { id: string; line: string | null } {
  const { id, line = null } = (body ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string')
    throw invalid('id', 'Expected "id", the id of a rejected line, as a text.');
  if (line === null) return { id, line };
  if (typeof line !== 'string' || /[\r\n]/.test(line) || line.trim() === '')
    throw invalid('line', 'Expected "line" to be a text that is not blank, without line breaks.');
  return { id, line };
}

function lineOf(line: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(line as string), Buffer.from('\n')]);
}

function invalid(parameter: string, detail: string): AppError {
  return new AppError('PARAMETER_INVALID', { faults: [{ parameter, detail }] });
}
