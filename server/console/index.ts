import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { ROOT } from '../config/package-root.ts';
import { PAGE_POLICY } from '../http/browser-headers.ts';

/**
 * The console at `/`, as build.cjs made it in dist/console; without that, nothing is found here. The pages are open to
 * all, they ask for the token themselves.
 */
export function consolePages(): RequestHandler {
  return express.static(join(ROOT, 'dist', 'console'), {
    cacheControl: false,
    redirect: false,
    setHeaders(response) {
      response.setHeader('Content-Security-Policy', PAGE_POLICY);
      // Asked for again each time, by the ETag: a new version is seen at once.
      response.setHeader('Cache-Control', 'no-cache');
    },
  });
}
