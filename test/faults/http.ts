import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TokenEntry, writeTokenFile } from '../../server/auth/token-file.ts';
import { digestOf, makeToken } from '../../server/auth/tokens.ts';
import { secrets } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import type { ExpectedLines } from './expected-lines.ts';

/** The answers on a raw connection, from its opening to its end. */
export interface Exchange {
  readonly text: string;
  /** The status of each answer, in their order. */
  readonly statuses: number[];
  readonly ms: number;
}

/** Opens a connection; errors of it end it, and `close` tells. */
export function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => {});
}

/**
 * Sends bytes on a connection of its own and gives what came until the service closed it. Throws when it is still open
 * after `withinMs`.
 */
export async function exchange(
  url: string,
  bytes: string | Buffer,
  withinMs = 30_000,
): Promise<Exchange> {
  const began = performance.now();
  const socket = dial(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  const timer = setTimeout(() => socket.destroy(), withinMs);
  await new Promise((closed) => socket.once('close', closed));
  clearTimeout(timer);
  const ms = performance.now() - began;
  const text = Buffer.concat(chunks).toString('latin1');
  if (ms >= withinMs) throw new Error(`the connection is open after ${withinMs} ms; got: ${text}`);
  return { text, statuses: statusesIn(text), ms };
}

export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** The head of a GET with these header lines, after which the service closes the connection. */
export function get(path: string, ...headers: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n');
}

export interface TokenFile {
  /** Makes a token, which is in the file from then on. */
  add(fields: Omit<TokenEntry, 'id' | 'hash'>): string;
  /** Takes a token out of it. */
  remove(token: string): void;
  /** Gives a token's entry other fields. */
  change(token: string, fields: Partial<TokenEntry>): void;
}

/** The token file of a data folder. */
export function tokenFile(data: string): TokenFile {
  const path = join(data, 'tokens.json');
  const entries = new Map<string, TokenEntry>();
  const write = () => writeTokenFile(path, [...entries.values()]);
  return {
    add(fields) {
      const id = `t${entries.size}`;
      const token = makeToken(id);
      secrets.add(token);
      entries.set(token, { id, hash: digestOf(token).toString('hex'), ...fields });
      write();
      return token;
    },
    remove(token) {
      entries.delete(token);
      write();
    },
    change(token, fields) {
      const entry = entries.get(token);
      if (!entry) throw new Error('no such token');
      entries.set(token, { ...entry, ...fields });
      write();
    },
  };
}

/**
 * An endpoint's path with an expression that takes RE2 long over the lines of `heavyLines`: half of their letters may begin a
 * match, so its automaton has too many states to keep. Each `n` is another one, with an answer of its own.
 */
export function heavyPath(n: number): string {
  const project = encodeURIComponent(
    `[a-h].{80}(z|y{${(n % 30) + 2}}x{${Math.floor(n / 30) + 2}})`,
  );
  return `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`;
}

/** Lines of requests of today with a URL of so many random letters from a to p. */
export function heavyLines(expectedLines: ExpectedLines, lines: number, letters: number): string {
  const random = seeded(1);
  const text: string[] = [];
  for (let n = 0; n < lines; n++) {
    const path = Array.from({ length: letters }, () => LETTERS[Math.floor(random() * 16)]).join('');
    const entry = JSON.parse(expectedLines.line());
    entry.metadata = { request: { method: 'GET', path: '/rest/x', url: `https://p.test/${path}` } };
    text.push(`${JSON.stringify(entry)}\n`);
  }
  return text.join('');
}

const LETTERS = 'abcdefghijklmnop';
