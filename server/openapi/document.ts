import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { DIALECTS } from '../caller-sql/index.ts';
import { QUERY } from '../endpoints/index.ts';
import type { SavedQuery } from '../endpoints/query-file.ts';
import { FORMATS, MEDIA_TYPES } from '../formats/index.ts';
import { type AnswerName, optional, type Parameter, type Route } from '../http/route.ts';
import { SourceName } from './answers.ts';
import { ANSWERS, BODIES, Problem } from './schemas.ts';

/** What the document says of a route; no handler is needed for that. */
type Described = Omit<Route, 'handler'>;

/** The parameter that chooses among the formats. */
const FORMAT = optional('format', FORMATS, 'what the rows come as; before Accept', 'json');

/** The OpenAPI 3.1 document of the service with these routes and saved queries. */
export function documentOf(
  routes: readonly Route[],
  queries: readonly SavedQuery[],
  version: string,
): object {
  const described = routes.flatMap((route): Described[] =>
    route.path === QUERY ? queries.map((query) => describedQuery(route, query)) : [route],
  );
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of described.flatMap((each) =>
    [each.path, ...(each.aliases ?? [])].map((path) => ({ ...each, path })),
  )) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    // HEAD is what GET answers, without its body.
    const methods = (route.methods ?? []).filter((method) => method !== 'HEAD');
    paths[path] = Object.fromEntries(
      methods.map((method) => [
        method.toLowerCase(),
        operationOf(`${method.toLowerCase()} ${path}`, route),
      ]),
    );
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'tailpond',
      version,
      description:
        'A self-hosted log store: saved queries, the entries of sources, and the ledger.',
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

/** The route of a saved query, as its file declares it. */
function describedQuery(route: Route, query: SavedQuery): Described {
  const own: Parameter[] = query.sandboxing
    ? [
        optional('sql', 'string', "a caller's SQL over the views, instead of the query"),
        optional('dialect', DIALECTS, 'of that SQL', query.dialect),
      ]
    : [];
  return {
    ...route,
    path: route.path.replace(':endpoint', query.name),
    aliases: [],
    methods: query.sandboxing ? ['GET', 'POST'] : ['GET'],
    summary: query.description,
    parameters: [...query.parameters, ...own],
    format: true,
  };
}

function operationOf(
  operationId: string,
  { path, summary, scope, parameters = [], format, body, answer }: Described,
): ZodOpenApiOperationObject {
  const query = [...parameters, ...(format ? [FORMAT] : [])];
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return {
    operationId,
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
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: BODIES[body] } },
          },
        }
      : {}),
    responses: {
      '200': {
        description: summary,
        content:
          answer in ANSWERS
            ? {
                'application/json': { schema: ANSWERS[answer as AnswerName] },
                ...(format ? OTHER_FORMATS : {}),
              }
            : { [answer]: {} },
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
