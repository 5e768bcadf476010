import type { Request, RequestHandler, Response } from 'express';
import { type Ingest, isSource, type LineFormat, type Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import { AppError } from '../errors.ts';
import { optional, POST, type Route } from '../http/route.ts';
import { allowLongBody } from '../http/server.ts';
import { createMemory, discardBody, readLines } from './body.ts';
import { type Form, formed } from './forms.ts';
import { namedSource, projectOf, sourceIn, sourceOf } from './source.ts';
import type { PushFiles } from './spool.ts';
import { asObjects, stamped, withDefault } from './stamp.ts';

export { openPushFiles, type PushFiles } from './spool.ts';
export { recoverSpool, startSpoolCleanup as startRemoval } from './spool-cleanup.ts';
export { isPushPath } from './spool-file.ts';

export interface PushDeps {
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
  readonly pushFiles: Pick<PushFiles, 'append'>;
  readonly ingest: Pick<Ingest, 'status'>;
  /** The form of the lines of each source. */
  readonly formats: Readonly<Record<Source, LineFormat>>;
}

/** Five bodies of the greatest size, or some thousand of the usual ones; those beyond are told to come again. */
const MEMORY_BYTES = 64e6;

const PROJECT = optional('project', 'string', 'the project of lines that name none');

/** Where Logflare takes lines. */
export const PUSH_PREFIXES = ['/api/logs', '/api/events', '/logs'] as const;
const [PUSH, ...OTHER_PREFIXES] = PUSH_PREFIXES;

/** Where lines are pushed to: as Logflare has it, and with the source in the path. */
export function pushRoutes(deps: PushDeps): Route[] {
  const take = takesPushes(deps);
  const shared = { methods: POST, scope: 'ingest', body: 'Lines', answer: 'Logged' } as const;
  const named = [
    optional('source_name', 'string', "the source, by its name, Logflare's or its UUID"),
    optional('source', 'string', 'the same, by its other name'),
    PROJECT,
  ];
  const inForm = (form: Form, path: string, summary: string): Route => ({
    ...shared,
    path: PUSH + path,
    aliases: OTHER_PREFIXES.map((prefix) => prefix + path),
    summary,
    parameters: named,
    handler: take(form),
  });
  return [
    inForm('events', '', 'Takes lines, as Logflare does'),
    inForm('json', '/json', 'Takes objects, each the metadata of an entry'),
    inForm('vector', '/vector', 'Takes events of Vector, each the metadata of an entry'),
    inForm('cloudflare', '/cloudflare', 'Takes lines of Cloudflare Logpush'),
    {
      ...shared,
      path: `${PUSH}/:source`,
      summary: 'Takes lines of a source',
      parameters: [PROJECT],
      handler: take('events'),
    },
  ];
}

/**
 * Takes log lines over HTTP, as one more shipper: they are written to a file of the drop folder, from where they take the
 * way of all lines, and the answer comes when they are safe there. With the token of one project they are that project's,
 * whatever they say themselves.
 */
function takesPushes({ pushFiles, ingest, formats, maxLine }: PushDeps) {
  const memory = createMemory(MEMORY_BYTES);
  return (form: Form): RequestHandler<{ source?: string }> =>
    async function takePush(request, response) {
      try {
        await take(request, response, form);
      } catch (error) {
        await discardBody(request);
        throw error;
      }
      response.json({ message: 'Logged!' });
    };

  async function take(request: Request<{ source?: string }>, response: Response, form: Form) {
    const name = namedSource(request, request.params.source);
    // A source of an operator's may be called as the path of a form is.
    if (name === null && isSource(form)) return store(request, response, 'events', form);
    return store(request, response, form, name === null ? null : sourceOf(name));
  }

  async function store(
    request: Request<{ source?: string }>,
    response: Response,
    form: Form,
    named: Source | null,
  ) {
    const { project: pin } = accessOf(response);
    const project = projectOf(request.url, pin);
    const { noRoom } = ingest.status();
    if (noRoom) throw new AppError('STORAGE_UNAVAILABLE', { detail: noRoom });
    allowLongBody(request);
    const lines = await readLines(request, memory, {
      keepsObject: named === null,
      isLogpush: form === 'cloudflare',
    });
    try {
      const source = named ?? sourceOf(lines.object === null ? null : sourceIn(lines.object));
      if (lines.blocks.length === 0) return;
      // JSON at Logpush's path is an event, as everywhere.
      const read = form === 'cloudflare' && !lines.areLines ? 'events' : form;
      const events = formed(lines.blocks, read, maxLine);
      const blocks = formats[source] === 'cri' ? asObjects(events) : events;
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
