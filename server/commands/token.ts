import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ConfigError } from '../config.ts';
import { readTokenFile, type Scope, type TokenEntry, writeTokenFile } from '../token-file.ts';
import { digestOf, makeToken } from '../tokens.ts';
import { settingsOf } from './settings.ts';

const RELOAD = 'Send the service a SIGHUP, or start it again, for this to take effect.';

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
export function createToken({ scope, project, expires, name, json }: CreateOptions): 0 {
  const path = tokenFile();
  const id = randomBytes(6).toString('hex');
  const token = makeToken(id);
  const entry: TokenEntry = {
    id,
    ...(name === undefined ? {} : { name }),
    hash: digestOf(token).toString('hex'),
    scopes: [...new Set(scope)],
    ...(expires === undefined ? {} : { expires: new Date(Date.now() + expires).toISOString() }),
    ...(project === undefined ? {} : { project }),
  };
  writeTokenFile(path, [...readTokenFile(path), entry]);
  console.log(json ? JSON.stringify({ id, token }) : token);
  console.error(`This is shown once. ${RELOAD}`);
  return 0;
}

/** Prints the tokens of the file, without the tokens themselves. */
export function listTokens({ json }: Output): 0 {
  const entries = readTokenFile(tokenFile());
  if (json) {
    console.log(JSON.stringify(entries.map(({ hash: _, ...entry }) => entry)));
    return 0;
  }
  for (const { id, name, scopes, project, expires } of entries) {
    const until = expires === undefined ? 'for ever' : `until ${expires}`;
    const reach = project === undefined ? 'every project' : `project ${project}`;
    console.log([id, scopes.join(','), reach, until, name ?? ''].join('\t').trimEnd());
  }
  return 0;
}

/** Takes a token out of the file. */
export function revokeToken(id: string, { json }: Output): 0 {
  const path = tokenFile();
  const entries = readTokenFile(path);
  const others = entries.filter((entry) => entry.id !== id);
  if (others.length === entries.length) {
    const ids = entries.map((entry) => entry.id).join(', ') || 'none';
    throw new ConfigError([`Expected the id of a token in ${path} (${ids}), got "${id}"`]);
  }
  writeTokenFile(path, others);
  if (json) console.log(JSON.stringify({ revoked: id }));
  console.error(RELOAD);
  return 0;
}

function tokenFile(): string {
  const { tokens, data } = settingsOf();
  return tokens ?? join(resolve(data), 'tokens.json');
}
