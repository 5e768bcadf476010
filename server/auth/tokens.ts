import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentToken } from './logflare-tokens.ts';
import { idOf, readTokenFile, SCOPES, type Scope } from './token-file.ts';

/** What the bearer of a token may do. */
export interface Access {
  /** The token's id, or the name of its variable; null for the one of the settings. */
  readonly id: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** The only project it may ask for; null: any. */
  readonly project: string | null;
}

export interface Tokens {
  /**
   * What a token allows; null when it is unknown, revoked or expired. As many digests are compared in any case, so the time
   * it takes does not tell which ids there are.
   */
  find(token: string): Access | null;
  /** Whether the token that `find` gave this for is known still, and has not expired. */
  holds(access: Access): boolean;
  /** How many tokens there are beside the one of the settings. */
  count(): number;
  /** Reads the file again, all or nothing. Throws ConfigError, and then the tokens stay as they are. */
  reload(): void;
}

interface Known {
  readonly digest: Buffer;
  readonly access: Access;
  /** Ms since the epoch. */
  readonly expiresMs: number;
}

/** A new token of this id. */
export function makeToken(id: string): string {
  return `tp_${id}_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256; of 32 random bytes nothing slower is needed. */
export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * The token of the settings, which may do everything, those of the file at `path`, and others that the environment gives. The bearer of
 * two that are the same may do what either may. Throws ConfigError.
 */
export function openTokens(
  token: string,
  path: string,
  others: readonly EnvironmentToken[] = [],
): Tokens {
  const main = digestOf(token);
  const everything: Access = { id: null, scopes: new Set(SCOPES), project: null };
  // Compared with where an id is unknown. Random, so nothing has this digest.
  const nobody = randomBytes(32);
  let known = readKnown(path, new Map());
  const given = [...new Set(others.map(({ value }) => value))].map((value) => {
    const same = others.filter((other) => other.value === value);
    const scopes = new Set(same.flatMap(({ scopes: own }) => own));
    const access: Access = { id: same[0]?.name ?? null, scopes, project: null };
    return { digest: digestOf(value), access };
  });

  return {
    find(text) {
      const digest = digestOf(text);
      const candidate = known.get(idOf(text) ?? '');
      const isMain = timingSafeEqual(digest, main);
      const isCandidate = timingSafeEqual(digest, candidate?.digest ?? nobody);
      const other = given.filter((each) => timingSafeEqual(digest, each.digest))[0];
      if (isMain) return everything;
      if (other) return other.access;
      return candidate && isCandidate && Date.now() < candidate.expiresMs ? candidate.access : null;
    },
    holds(access) {
      if (access === everything || given.some((each) => each.access === access)) return true;
      const candidate = known.get(access.id ?? '');
      return candidate?.access === access && Date.now() < candidate.expiresMs;
    },
    count: () => known.size + given.length,
    reload() {
      known = readKnown(path, known);
    },
  };
}

/** The tokens of the file; of one that is what it was `before` the access is the same, so that what it has open goes on. */
function readKnown(path: string, before: ReadonlyMap<string, Known>): ReadonlyMap<string, Known> {
  return new Map(
    readTokenFile(path).map(({ id, hash: hex, scopes, expires, project }) => {
      const digest = Buffer.from(hex, 'hex');
      const access = { id, scopes: new Set(scopes), project: project ?? null };
      const old = before.get(id);
      const isOld = old?.digest.equals(digest) && isDeepStrictEqual(old.access, access);
      const expiresMs = expires === undefined ? Infinity : Date.parse(expires);
      return [id, { digest, access: old && isOld ? old.access : access, expiresMs }];
    }),
  );
}
