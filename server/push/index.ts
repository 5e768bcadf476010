import type { Request, RequestHandler, Response } from 'express';
import type { Ingest } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import { AppError } from '../errors.ts';
import { allowLongBody } from '../http/server.ts';
import { createMemory, passOver, readLines } from './body.ts';
import { sourceOf } from './source.ts';
import type { PushFiles } from './spool.ts';
import { stamped } from './stamp.ts';

export { openPushFiles, type PushFiles } from './spool.ts';
export { leftPushFiles, startRemoval } from './spool-cleanup.ts';

export interface PushDeps {
  readonly pushFiles: Pick<PushFiles, 'append'>;
  readonly ingest: Pick<Ingest, 'status'>;
}

/** Five bodies of the greatest size, or some thousand of the usual ones; those beyond are told to come again. */
const MEMORY_BYTES = 64e6;

/**
 * Takes log lines over HTTP, as one more shipper: they are written to a file of the drop folder, from where they take the
 * way of all lines, and the answer comes when they are safe there. Those that come with the token of one project are that project's,
 * whatever they say themselves.
 */
export function push({ pushFiles, ingest }: PushDeps): RequestHandler<{ source?: string }> {
  const memory = createMemory(MEMORY_BYTES);
  return async function takePush(request, response) {
    if (request.method !== 'POST') {
      response.set('Allow', 'POST');
      throw new AppError('METHOD_NOT_ALLOWED');
    }
    try {
      await take(request, response);
    } catch (error) {
      await passOver(request);
      throw error;
    }
    response.json({ message: 'Logged!' });
  };

  async function take(request: Request<{ source?: string }>, response: Response) {
    const { project } = accessOf(response);
    const source = sourceOf(request.url, request.params.source);
    const { noRoom } = ingest.status();
    if (noRoom) throw new AppError('STORAGE_UNAVAILABLE', { detail: noRoom });
    allowLongBody(request);
    const lines = await readLines(request, memory);
    try {
      const { blocks } = lines;
      if (blocks.length > 0)
        await pushFiles.append(source, project === null ? blocks : [stamped(blocks, project)]);
    } finally {
      lines.release();
    }
  }
}
