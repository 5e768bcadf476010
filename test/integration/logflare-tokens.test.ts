import { expect } from 'chai';
import { makeToken } from '../../server/auth/tokens.ts';
import { type SpawnOptions, TOKEN, withFolder, withService } from '../support/helpers.ts';

type Ask = (
  path: string,
  token: string | null,
  body?: object[],
) => Promise<{ status: number; detail: string }>;

const QUERY = '/api/entries/edge_logs';
const PUSH = '/api/logs?source=edge_logs';
const LINES = [{ message: 'pushed' }];

/** Asks a service with this environment; a token goes into the header. */
const withTokens = (
  env: Record<string, string>,
  action: (ask: Ask, log: () => string) => Promise<void>,
) =>
  withFolder((data) => {
    const options: SpawnOptions = { env };
    return withService(
      data,
      (service) => {
        const ask: Ask = async (path, token, body) => {
          const answer = await fetch(service.url + path, {
            ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
            headers: {
              'Content-Type': 'application/json',
              ...(token === null ? {} : { 'X-API-KEY': token }),
            },
          });
          const text = await answer.text();
          const { detail = '' } = JSON.parse(text) as { detail?: string };
          return { status: answer.status, detail };
        };
        return action(ask, () => JSON.stringify(service.log));
      },
      options,
    );
  });

const statusOf = async (answer: ReturnType<Ask>) => (await answer).status;

describe("the tokens of Supabase's environment", () => {
  it('push and ask as they do for Logflare, short ones too', () =>
    withTokens(
      { LOGFLARE_PUBLIC_ACCESS_TOKEN: 'public', LOGFLARE_PRIVATE_ACCESS_TOKEN: 'private' },
      async (ask, log) => {
        expect(log()).to.include('LOGFLARE_PUBLIC_ACCESS_TOKEN is easily guessed');
        expect(await statusOf(ask(PUSH, 'public', LINES))).to.equal(200);
        expect(await statusOf(ask(PUSH, 'private', LINES))).to.equal(403);
        expect(await statusOf(ask(QUERY, 'private'))).to.equal(200);
        expect(await statusOf(ask(QUERY, 'public'))).to.equal(403);
        expect(await statusOf(ask('/api/ledger', 'private'))).to.equal(403);
        expect(await statusOf(ask(QUERY, 'privat'))).to.equal(401);
        expect(await statusOf(ask('/api/ledger', TOKEN))).to.equal(200);
      },
    ));

  it('have the names of older files', async () => {
    await withTokens({ LOGFLARE_API_KEY: 'one-for-both' }, async (ask) => {
      expect(await statusOf(ask(PUSH, 'one-for-both', LINES))).to.equal(200);
      expect(await statusOf(ask(QUERY, 'one-for-both'))).to.equal(200);
    });
    await withTokens(
      { LOGFLARE_API_KEY: 'key', LOGFLARE_PRIVATE_API_KEY: 'private' },
      async (ask) => {
        expect(await statusOf(ask(QUERY, 'key'))).to.equal(403);
        expect(await statusOf(ask(QUERY, 'private'))).to.equal(200);
      },
    );
  });

  it('are those of the token file where that made them, so that a revoked one stays revoked', () => {
    const revoked = makeToken('gone');
    return withTokens({ LOGFLARE_PRIVATE_ACCESS_TOKEN: revoked }, async (ask) => {
      expect(await statusOf(ask(QUERY, revoked))).to.equal(401);
    });
  });

  it('are taken from the URL by a setting alone, for pushes and queries, and are not logged', async () => {
    const env = { LOGFLARE_API_KEY: 'a-key-that-may-do-both' };
    const inUrl = (path: string, token: string) =>
      `${path}${path.includes('?') ? '&' : '?'}api_key=${token}`;
    await withTokens(env, async (ask) => {
      const { status, detail } = await ask(inUrl(QUERY, env.LOGFLARE_API_KEY), null);
      expect([status, detail]).to.eql([
        401,
        'Expected the token in the header X-API-KEY, got it in the URL as api_key, which TAILPOND_API_KEY_IN_URL=on would allow.',
      ]);
    });
    await withTokens({ ...env, TAILPOND_API_KEY_IN_URL: 'on' }, async (ask, log) => {
      expect(await statusOf(ask(inUrl(QUERY, env.LOGFLARE_API_KEY), null))).to.equal(200);
      expect(await statusOf(ask(inUrl(PUSH, env.LOGFLARE_API_KEY), null, LINES))).to.equal(200);
      expect(await statusOf(ask(inUrl(QUERY, 'wrong'), null))).to.equal(401);
      // Two tokens of one request must be the same.
      expect(await statusOf(ask(inUrl(QUERY, 'wrong'), env.LOGFLARE_API_KEY))).to.equal(401);
      expect(await statusOf(ask(inUrl('/api/ledger', TOKEN), null))).to.equal(401);
      expect(log()).to.include('/api/entries').and.not.to.include(env.LOGFLARE_API_KEY);
    });
  });
});
