import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExpectedLines } from './expected-lines.ts';

/** The schema version of the store that `unpackOlder` gives. */
export const OLDER = 3;

/**
 * Unpacks a store that an older version has made, and the log files beside it, below `data`: the store as `stopped`, and as `killed`, with
 * rows in its write-ahead log. One log is half read, one has a copy beside it, and one had gone and stands there packed, with a line
 * more. The expectedLines get what must be there once all is read.
 */
export function unpackOlder(data: string, expectedLines: ExpectedLines): void {
  const archive = fileURLToPath(new URL('fixtures/store-3.tar.gz', import.meta.url));
  execFileSync('tar', ['-C', data, '-xzf', archive, '--no-same-owner']);
  for (let n = 0; n < 1000; n++) expectedLines.row(`read-${n}`);
  for (let n = 0; n < 50; n++) expectedLines.row(`unread-${n}`);
  expectedLines.row('last');
  for (let n = 0; n < 20; n++) expectedLines.bad(`no object ${n}${'x'.repeat((n % 5) * 1500)}`);
  for (let n = 0; n < 100; n++) {
    expectedLines.row(`copied-${n}`, 'auth_logs');
    expectedLines.row(`gone-${n}`, 'postgres_logs');
  }
  expectedLines.row('packed', 'postgres_logs');
}

/** The database of a store that `unpackOlder` gave. */
export function olderDatabase(data: string): string {
  return join(data, 'stopped', 'tailpond.duckdb');
}
