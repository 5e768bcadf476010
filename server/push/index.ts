import type { Request, RequestHandler, Response } from 'express';
import type { Ingest, LineFormat, Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import { AppError } from '../errors.ts';
import { optional, POST, type Route } from '../http/route.ts';
import { allowLongBody } from '../http/server.ts';
import { createMemory, discardBody, readLines } from './body.ts';
import { projectOf, sourceOf } from './source.ts';
import type { PushFiles } from './spool.ts';
import { asObjects, stamped, withDefault } from './stamp.ts';

export { openPushFiles, type PushFiles } from './spool.ts';
export { recoverSpool, startSpoolCleanup as startRemoval } from './spool-cleanup.ts';
export { isPushPath } from './spool-file.ts';

export interface PushDeps {
  readonly pushFiles: Pick<PushFiles, 'append'>;
  readonly ingest: Pick<Ingest, 'status'>;
  /** The form of the lines of each source. */
  readonly formats: Readonly<Record<Source, LineFormat>>;
}

/** Five bodies of the greatest size, or some thousand of the usual ones; those beyond are told to come again. */
const MEMORY_BYTES = 64e6;

const PROJECT = optional('project', 'string', 'the project of lines that name none');

/** Where lines are pushed to: `/api/logs` as Logflare has it, and with the source in the path. */
export function pushRoutes(deps: PushDeps): Route[] {
  const shared = {
    methods: POST,
    scope: 'ingest',
    body: 'Lines',
    answer: 'Logged',
    handler: takePushes(deps),
  } as const;
  return [
    {
      ...shared,
      path: '/api/logs',
      summary: 'Takes lines, as Logflare does',
      parameters: [
        optional('source_name', 'string', "the source, by its name or by Logflare's"),
        optional('source', 'string', 'the same, by its other name'),
        PROJECT,
      ],
    },
    {
      ...shared,
      path: '/api/logs/:source',
      summary: 'Takes lines of a source',
      parameters: [PROJECT],
    },
  ];
}

/**
 * Takes log lines over HTTP, as one more shipper: they are written to a file of the drop folder, from where they take the
 * way of all lines, and the answer comes when they are safe there. With the token of one project they are that project's,
 * whatever they say themselves.
 */
function takePushes({ pushFiles, ingest, formats }: PushDeps): RequestHandler<{ source?: string }> {
  const memory = createMemory(MEMORY_BYTES);
  return async function takePush(request, response) {
    try {
      await take(request, response);
    } catch (error) {
      await discardBody(request);
      throw error;
    }
    response.json({ message: 'Logged!' });
  };

  async function take(request: Request<{ source?: string }>, response: Response) {
    const { project: pin } = accessOf(response);
    const source = sourceOf(request.url, request.params.source);
    const project = projectOf(request.url, pin);
    const { noRoom } = ingest.status();
    if (noRoom) throw new AppError('STORAGE_UNAVAILABLE', { detail: noRoom });
    allowLongBody(request);
    const lines = await readLines(request, memory);
    try {
      if (lines.blocks.length === 0) return;
      const blocks = formats[source] === 'cri' ? asObjects(lines.blocks) : lines.blocks;
      await pushFiles.append(source, ofProject(blocks, pin, project));
    } finally {
      lines.release();
    }
  }
}

function ofProject(
  blocks: readonly Buffer[],
  pin: string | null,
  project: string | null,
): readonly Buffer[] {
  if (pin !== null) return [stamped(blocks, pin)];
  return project === null ? blocks : [withDefault(blocks, project)];
}
