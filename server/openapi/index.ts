import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { ROOT } from '../config/package-root.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { PAGE_POLICY } from '../http/browser-headers.ts';
import { READ, type Route } from '../http/route.ts';

/** Gives routes with that of the document which describes them all, and the saved queries. */
export function withDocument(routes: readonly Route[], endpoints: Endpoints): Route[] {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const all: Route[] = [
    ...routes,
    {
      path: '/api/openapi.json',
      methods: READ,
      scope: 'query',
      summary: 'This document',
      answer: 'Document',
      async handler(_request, response) {
        // Loaded when it is asked for: the schemas would cost every start a tenth of a second.
        const { documentOf } = await import('./document.ts');
        const document = documentOf(all, endpoints.all, version);
        response.set('Cache-Control', 'private, no-cache').json(document);
      },
    },
  ];
  return all;
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>tailpond: API</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

/** The token is the one that the console keeps in the tab. */
const SCRIPT = `const KEY = 'tailpond-token';
const token = sessionStorage.getItem(KEY) ?? prompt('The access token:') ?? '';
sessionStorage.setItem(KEY, token);
SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor(request) {
    request.headers['X-API-KEY'] = token;
    return request;
  },
  onComplete() {
    document.body.dataset.ready = 'true';
  },
});
`;

/** The document to read, and to try, at `/docs`. */
export function apiPages(): Router {
  const files = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const send =
    (type: string, text: string): RequestHandler =>
    (_request, response) => {
      response.set('Cache-Control', 'no-cache').type(type).send(text);
    };
  const router = Router();
  router.use('/docs', (_request, response, next) => {
    response.set('Content-Security-Policy', PAGE_POLICY);
    next();
  });
  router.get('/docs', send('html', PAGE));
  router.get('/docs/page.js', send('js', SCRIPT));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    router.get(`/docs/${name}`, (_request, response) =>
      response.sendFile(join(files, name), { cacheControl: false }),
    );
  return router;
}
