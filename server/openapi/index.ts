import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { requires } from '../auth/middleware.ts';
import { ROOT } from '../config/package-root.ts';
import type { Endpoints } from '../endpoints/registry.ts';
import { AppError } from '../errors.ts';
import { PAGE_POLICY } from '../http/csp.ts';

/** `GET /openapi.json`, below `/api`: the document of all paths, made of what endpoints and schemas declare. */
export function openapi(endpoints: Endpoints): Router {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const router = Router();
  router.all('/openapi.json', requires('query'), async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('METHOD_NOT_ALLOWED');
    // Loaded when it is asked for: the schemas would cost every start a tenth of a second.
    const { documentOf } = await import('./document.ts');
    response.set('Cache-Control', 'private, no-cache').json(documentOf(endpoints.all, version));
  });
  return router;
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
