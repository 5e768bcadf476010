/**
 * The Content-Security-Policy of our pages: nothing but our own files, and no inline script or style. What is in a log cannot
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
