import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import type { Parameter, SavedQuery } from '../endpoints/query-file.ts';
import { MEDIA_TYPES } from '../formats/index.ts';
import { FORMAT, ROUTES, type Route } from './routes.ts';
import { Problem, resultOf, SourceName } from './schemas.ts';

/** The OpenAPI 3.1 document of the service with these saved queries. */
export function documentOf(queries: readonly SavedQuery[], version: string): object {
  const routes = [...ROUTES, ...queries.flatMap(routesOf)];
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'tailpond',
      version,
      description: 'A self-hosted log store: saved queries, entries of sources, and the books.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  });
}

/** The routes of a saved query, as its file declares them. */
function routesOf(query: SavedQuery): Route[] {
  const own: Parameter[] = query.sandboxing
    ? [
        optional('sql', 'string', "SQL of the caller's own over the views, instead of the query"),
        optional('dialect', ['bigquery', 'duckdb'], 'of that SQL', 'bigquery'),
      ]
    : [];
  const route: Route = {
    method: 'get',
    path: `/api/endpoints/query/${query.name}`,
    summary: query.description,
    scope: 'query',
    parameters: [...query.parameters, ...own],
    format: true,
    answer: resultOf(z.looseObject({})),
  };
  return query.sandboxing ? [route, { ...route, method: 'post' }] : [route];
}

function optional(
  name: string,
  type: Parameter['type'],
  description: string,
  preset: string | null = null,
): Parameter {
  return { name, type, required: false, preset, description };
}

function operationOf({
  method,
  path,
  summary,
  scope,
  parameters = [],
  format,
  body,
  answer,
}: Route): ZodOpenApiOperationObject {
  const query = [...parameters, ...(format ? [FORMAT] : [])];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return {
    operationId: `${method} ${path}`,
    summary,
    ...(scope === null
      ? { security: [] }
      : { security: [{ key: [] }, { bearer: [] }], description: `Needs the scope \`${scope}\`.` }),
    requestParams: {
      path: z.object(
        Object.fromEntries(
          names.map((name) => [name, name === 'source' ? SourceName : z.string()]),
        ),
      ),
      query: z.object(Object.fromEntries(query.map((each) => [each.name, schemaOf(each)]))),
    },
    ...(body
      ? { requestBody: { required: true, content: { [body.type]: { schema: body.schema } } } }
      : {}),
    responses: {
      '200': {
        description: summary,
        content:
          typeof answer === 'string'
            ? { [answer]: {} }
            : {
                'application/json': { schema: answer },
                ...(format ? OTHER_FORMATS : {}),
              },
      },
      default: {
        description: 'What is wrong',
        content: { 'application/problem+json': { schema: Problem } },
      },
    },
  };
}

const OTHER_FORMATS = Object.fromEntries(
  Object.entries(MEDIA_TYPES)
    .filter(([name]) => name !== 'json')
    .map(([, type]) => [type.split(';')[0], {}]),
);

function schemaOf({ type, required, preset, description }: Parameter): z.ZodType {
  const schema = typeOf(type).meta({
    description,
    ...(preset === null ? {} : { default: type === 'integer' ? Number(preset) : preset }),
  });
  return required ? schema : schema.optional();
}

function typeOf(type: Parameter['type']): z.ZodType {
  if (typeof type !== 'string') return z.enum(type as [string, ...string[]]);
  if (type === 'integer') return z.number().int();
  if (type === 'number') return z.number();
  if (type === 'boolean') return z.boolean();
  return z.string().meta(type === 'timestamp' ? { examples: ['2026-11-20T14:00:00Z'] } : {});
}
