import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readTokenFile, SCOPES, type Scope } from './token-file.ts';

/** What the bearer of a token may do. */
export interface Access {
  /** The token's id; null for the one of the settings. */
  readonly id: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** The only project it may ask for; null: any. */
  readonly project: string | null;
}

export interface Tokens {
  /**
   * What a token allows; null when it is unknown, revoked or expired. Two digests are compared in any case, so the time
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

/** `tp_<id>_<32 bytes>`; an id has no underscore, the bytes may. */
const FORM = /^tp_([A-Za-z0-9]{1,32})_/;

/** A new token of this id. */
export function makeToken(id: string): string {
  return `tp_${id}_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256; of 32 random bytes nothing slower is needed. */
export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The token of the settings, which may do everything, and those of the file at `path`. Throws ConfigError. */
export function openTokens(token: string, path: string): Tokens {
  const main = digestOf(token);
  const everything: Access = { id: null, scopes: new Set(SCOPES), project: null };
  // Compared with where an id is unknown. Random, so nothing has this digest.
  const nobody = randomBytes(32);
  let known = readKnown(path, new Map());

  return {
    find(given) {
      const digest = digestOf(given);
      const candidate = known.get(FORM.exec(given)?.[1] ?? '');
      const isMain = timingSafeEqual(digest, main);
      const isCandidate = timingSafeEqual(digest, candidate?.digest ?? nobody);
      if (isMain) return everything;
      return candidate && isCandidate && Date.now() < candidate.expiresMs ? candidate.access : null;
    },
    holds(access) {
      if (access === everything) return true;
      const candidate = known.get(access.id ?? '');
      return candidate?.access === access && Date.now() < candidate.expiresMs;
    },
    count: () => known.size,
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
