import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import {
  readTokenFile,
  type Scope,
  type TokenEntry,
  tokenFileOf,
  writeTokenFile,
} from '../auth/token-file.ts';
import { digestOf, makeToken } from '../auth/tokens.ts';
import { ConfigError, settingsOf } from '../config/config.ts';
import { askService } from '../control-socket.ts';
import { counted, table } from './table.ts';
import { print } from './terminal.ts';

interface Output {
  readonly json?: boolean;
}

export interface CreateOptions extends Output {
  readonly scope: readonly Scope[];
  readonly project?: string;
  /** Ms. */
  readonly expires?: number;
  readonly name?: string;
}

/** Makes a token; it alone goes to stdout, so that a script can keep it. Throws ConfigError, as the others do. */
export async function createToken({
  scope,
  project,
  expires,
  name,
  json,
}: CreateOptions): Promise<0> {
  const path = tokenFileOf(settingsOf());
  const id = randomBytes(6).toString('hex');
  const token = makeToken(id);
  const entry: TokenEntry = {
    id,
    ...(name === undefined ? {} : { name }),
    hash: digestOf(token).toString('hex'),
    scopes: [...new Set(scope)],
    created: new Date().toISOString(),
    ...(expires === undefined ? {} : { expires: new Date(Date.now() + expires).toISOString() }),
    ...(project === undefined ? {} : { project }),
  };
  writeTokenFile(path, [...readTokenFile(path), entry]);
  console.log(json ? JSON.stringify({ id, token }) : token);
  console.error(`This is shown once. ${await tellService(path)}`);
  return 0;
}

/** Prints the tokens of the file, without the tokens themselves. */
export function listTokens({ json }: Output): 0 {
  const entries = readTokenFile(tokenFileOf(settingsOf()));
  if (json) {
    print(JSON.stringify(entries.map(({ hash: _, ...entry }) => entry)));
    return 0;
  }
  const rows = entries.map(({ id, name, scopes, project, created, expires }) => ({
    id,
    name,
    scopes: scopes.join(','),
    project: project ?? 'every project',
    created,
    expires: expires ?? 'never',
  }));
  if (rows.length > 0) console.log(table(rows));
  console.error(counted(rows.length, 'token'));
  return 0;
}

/** Takes a token out of the file. */
export async function revokeToken(id: string, { json }: Output): Promise<0> {
  const path = tokenFileOf(settingsOf());
  const entries = readTokenFile(path);
  const others = entries.filter((entry) => entry.id !== id);
  if (others.length === entries.length) {
    const ids = entries.map((entry) => entry.id).join(', ') || 'none';
    throw new ConfigError([`Expected the id of a token in ${path} (${ids}), got "${id}"`]);
  }
  writeTokenFile(path, others);
  if (json) console.log(JSON.stringify({ revoked: id }));
  console.error(await tellService(path));
  return 0;
}

/** Has the service that runs on the data folder read its tokens again; gives what became of it, as a sentence. */
async function tellService(path: string): Promise<string> {
  try {
    const store = join(resolve(settingsOf().data), 'store');
    const answer = (await askService(store, 'tokens')) as { path: string } | null;
    if (answer === null)
      return 'No service was reached: one that runs takes it after a SIGHUP, or a start.';
    return answer.path === path
      ? 'The service that runs has taken it.'
      : `The service that runs has its tokens in another file, ${answer.path}.`;
  } catch (error) {
    return `The service that runs has not taken it: ${error instanceof Error ? error.message : error}`;
  }
}
