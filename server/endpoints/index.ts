import type { RequestHandler } from 'express';
import { redaction } from '../auth/redaction-header.ts';
import { redact } from '../formats/redact.ts';
import { encode } from '../formats/value.ts';
import { READ, type Route } from '../http/route.ts';
import type { Plain } from '../store/index.ts';
import { type EndpointDeps, endpoint } from './handler.ts';
import type { Endpoints } from './registry.ts';

/** Where saved queries are asked; the OpenAPI document has a path for each of them. */
export const QUERY = '/api/endpoints/query/:endpoint';

/** The saved queries: their answers, and what there is of them. */
export function endpointRoutes(deps: EndpointDeps): Route[] {
  return [
    {
      path: QUERY,
      aliases: ['/api/endpoints/query/name/:endpoint', '/endpoints/query/:endpoint'],
      // Endpoints with sandboxing take POST as well.
      methods: null,
      scope: 'query',
      summary: 'Asks a saved query',
      answer: 'Rows',
      handler: endpoint(deps),
    },
    {
      path: '/api/endpoints',
      methods: READ,
      scope: 'query',
      summary: 'The saved queries',
      answer: 'Endpoints',
      handler: list(deps.endpoints),
    },
  ];
}

function list(endpoints: Endpoints): RequestHandler {
  return function answerEndpoints(request, response) {
    const result = encode(endpoints.all.map(publicFields), redaction(request) ? redact : undefined);
    response.set('Cache-Control', 'private, no-cache').type('json').send(`{"result":${result}}`);
  };
}

function publicFields(query: Endpoints['all'][number]): Plain {
  return {
    id: query.id,
    name: query.name,
    description: query.description,
    max_rows: query.maxRows,
    caching: query.caching,
    cache_warming: query.warming,
    sandboxing: query.sandboxing,
    redact_pii: query.redactPii,
    parameters: query.parameters.map(({ name, type, required, preset, description }) => ({
      name,
      type: typeof type === 'string' ? type : 'string',
      ...(typeof type === 'string' ? {} : { allowed: [...type] }),
      required,
      ...(preset === null ? {} : { default: preset }),
      description,
    })),
  };
}
