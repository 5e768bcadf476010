import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';

/** The access token, and where an operator finds it. */
export interface Token {
  readonly value: string;
  readonly where: string;
}

/**
 * The token of the settings, of the file they name, or one that is made once and kept in `store/access-token`, readable
 * by its owner alone. Throws ConfigError when the file cannot be read or holds too little.
 */
export function readToken(
  settings: { token: string | null; tokenFile: string | null },
  store: string,
): Token {
  if (settings.token) return { value: settings.token, where: 'TAILPOND_TOKEN' };
  if (settings.tokenFile)
    return {
      value: fromFile(settings.tokenFile, 'TAILPOND_TOKEN_FILE'),
      where: settings.tokenFile,
    };
  const path = join(store, 'access-token');
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return { value: fromFile(path, 'the access token'), where: path };
}

function fromFile(path: string, name: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError([
      `${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
  if (!/^\S{16,}$/.test(text))
    throw new ConfigError([
      `${name}: expected ${path} to hold at least 16 characters without blanks`,
    ]);
  return text;
}
