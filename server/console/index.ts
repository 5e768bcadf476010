import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { ROOT } from '../root.ts';

/** Nothing but our own files, and no inline script or style: what is in a log can not become a part of the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The console at `/`, as build.cjs made it in dist/console; without that, nothing is found here. The pages are open to
 * all, they ask for the token themselves.
 */
export function consolePages(): RequestHandler {
  return express.static(join(ROOT, 'dist', 'console'), {
    cacheControl: false,
    redirect: false,
    setHeaders(response) {
      response.setHeader('Content-Security-Policy', POLICY);
      // Asked for again each time, by the ETag: a new version is seen at once.
      response.setHeader('Cache-Control', 'no-cache');
    },
  });
}
