/**
 * The Content-Security-Policy of our pages: nothing but our own files, and no inline script or style. Text of a log cannot
 * become a part of a page.
 */
export const PAGE_POLICY = [
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
 * What every answer says to browsers: it is not a document, not to be framed, sniffed or embedded, and no link leads out of it with its
 * address. Without HSTS, as the service speaks plain HTTP and TLS is the proxy's. Pages have a policy of their own.
 * Name, value, name, value, …
 */
export const SECURITY_HEADERS = Object.entries({
  'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'SAMEORIGIN',
}).flat();
