import type { Request, RequestHandler } from 'express';
import { isSource, type Source } from '../../ingest/index.ts';
import { accessOf } from '../auth/middleware.ts';
import { optional, POST, type Route } from '../http/route.ts';
import type { SourceFormats } from '../lines/index.ts';
import type { Door } from './door.ts';
import type { Form } from './rewrite.ts';
import { namedSource, PARAMETERS, projectOf, sourceIn, sourceOf } from './source.ts';
import { takeLines } from './take-lines.ts';

export { createDoor, type Door, type PushedBody } from './door.ts';
export type { PushedLines } from './pushed-lines.ts';
export { Sequence } from './sequence.ts';
export { openPushFiles, type PushFiles } from './spool.ts';
export { recoverSpool, startSpoolCleanup as startRemoval } from './spool-cleanup.ts';
export { isPushPath } from './spool-file.ts';

export interface PushDeps {
  readonly door: Door;
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
  /** The form of the lines of each source. */
  readonly formats: Readonly<Record<Source, SourceFormats>>;
}

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
function takesPushes({ door, formats, maxLine }: PushDeps) {
  return (form: Form): RequestHandler<{ source?: string }> =>
    async function takePush(request, response) {
      const { project: pin } = accessOf(response);
      await door.receive(request, pin, async (body) => {
        const name = namedSource(request, request.params.source);
        // An operator's source may have the name of a form.
        const isOwn = name === null && isSource(form);
        const named = isOwn ? form : name === null ? null : sourceOf(name);
        const areLines = isNdjson(request, isOwn ? 'events' : form);
        // JSON at Logpush's path is an event, as everywhere.
        const read = isOwn || (form === 'cloudflare' && !areLines) ? 'events' : form;
        const project = projectOf(request.url, pin);
        await takeLines(body, {
          areLines,
          hasText: named !== null && (formats[named]?.formats ?? []).length > 0,
          wanted: named === null ? PARAMETERS : [],
          maxLine,
          destination(texts) {
            const source = named ?? sourceOf(texts && sourceIn(texts));
            const rewriting = {
              form: read,
              formats: formats[source]?.formats ?? [],
              maxLine,
              project: pin === null ? project : null,
            };
            return { source, rewriting };
          },
        });
      });
      response.json({ message: 'Logged!' });
    };
}

/** Returns true for a body of lines, whatever its first byte is. Logpush calls its lines plain text. */
function isNdjson({ headers }: Request<{ source?: string }>, form: Form): boolean {
  const type = headers['content-type'] ?? '';
  if (/^application\/x-ndjson\b/i.test(type)) return true;
  return form === 'cloudflare' && !/^application\/json\b/i.test(type);
}
