import { ConfigError } from '../config/config.ts';
import { idOf, type Scope } from './token-file.ts';

/** A token that the environment gives, by the name of its variable. */
export interface EnvironmentToken {
  readonly name: string;
  readonly value: string;
  readonly scopes: readonly Scope[];
}

/** Logflare's variables, today's before those of older files: what Supabase's .env has for its services. */
const INGEST = ['LOGFLARE_PUBLIC_ACCESS_TOKEN', 'LOGFLARE_API_KEY'];
const QUERY = ['LOGFLARE_PRIVATE_ACCESS_TOKEN', 'LOGFLARE_PRIVATE_API_KEY'];
/** Older files have one for both. */
const FOR_BOTH = 'LOGFLARE_API_KEY';

/** Whether a token is short, or one that Supabase's example of a .env has. */
export function isGuessable({ value }: EnvironmentToken): boolean {
  return value.length < 16 || value.startsWith('your-super-secret');
}

/**
 * The tokens that Supabase's .env has for Logflare, of any length. A token that `tailpond token create` made counts as its file has it,
 * and not at all once it is revoked. Throws ConfigError, which names a variable and never its value.
 */
export function logflareTokens(
  env: Readonly<Record<string, string | undefined>>,
): EnvironmentToken[] {
  const textOf = (name: string) => env[name]?.trim() ?? '';
  const given = (names: readonly string[]) => names.filter((name) => textOf(name) !== '');
  const [push] = given(INGEST);
  const [ask] = given(QUERY);
  const asksToo = push === FOR_BOTH && ask === undefined;
  const tokens = [
    ...(push
      ? [{ name: push, scopes: asksToo ? (['ingest', 'query'] as const) : (['ingest'] as const) }]
      : []),
    ...(ask ? [{ name: ask, scopes: ['query'] as const }] : []),
  ].map((token) => ({ ...token, value: textOf(token.name) }));
  const faults = tokens
    .filter(({ value }) => /\s/.test(value))
    .map(({ name }) => `${name}: expected a token without blanks, got one with some`);
  if (faults.length > 0) throw new ConfigError(faults);
  return tokens.filter(({ value }) => idOf(value) === null);
}
