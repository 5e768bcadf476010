import { mkdirSync, writeFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Response } from 'supertest';
import { tokenFile } from '../faults/http.ts';
import { fakeClock } from '../support/fake-clock.ts';
import {
  eventually,
  type Served,
  TOKEN,
  withApp,
  withFolder,
  withService,
} from '../support/helpers.ts';

const COUNTS = '/api/endpoints/query/usage.api-counts?interval=daily&project=p';

const serving = (action: (served: Served) => Promise<void>, settings = {}) =>
  withFolder((data) => withApp(data, action, settings));

/** Returns the phases of `Server-Timing` by name. */
function phasesOf({ headers }: Response): Record<string, number> {
  const phases = String(headers['server-timing']).split(', ');
  return Object.fromEntries(
    phases.map((phase) => {
      const [, name = '', ms] = /^(\w+);dur=(\d+\.\d)$/.exec(phase) ?? [];
      return [name, Number(ms)];
    }),
  );
}

describe('an answer', () => {
  it('says what its time went into, unless the cache has it', () =>
    serving(async ({ get }) => {
      const sql = encodeURIComponent('select count(*) from edge_logs');
      for (const [path, phases] of Object.entries({
        [COUNTS]: ['wait', 'plan', 'read', 'encode', 'total'],
        [`/api/endpoints/query/logs.all?project=p&sql=${sql}`]: [
          ...['wait', 'parse', 'plan', 'read', 'encode', 'total'],
        ],
        '/api/entries/edge_logs': ['wait', 'plan', 'read', 'encode', 'total'],
        '/api/histogram/edge_logs?from=2026-11-20T10:00:00Z&to=2026-11-20T11:00:00Z': [
          'wait',
          'plan',
          'read',
          'total',
        ],
        '/api/facets/edge_logs?field=status': ['wait', 'plan', 'read', 'total'],
        '/api/projects/edge_logs': ['wait', 'plan', 'read', 'total'],
      })) {
        const answer = await get(path);
        const spent = phasesOf(answer);
        expect(Object.keys(spent), path).to.deep.equal(phases);
        for (const name of phases) expect(spent[name], `${path} ${name}`).to.be.at.least(0);
      }
      const again = await get(COUNTS);
      expect(again.headers['cache-status']).to.match(/hit/);
      expect(again.headers).not.to.have.property('server-timing');
    }));
});

/** Returns everything of an answer except what changes each time. */
function whole({ status, headers, text }: Response) {
  const { date: _, 'x-request-id': id, ...rest } = headers;
  expect(id).to.match(/^[0-9a-f-]{36}$/);
  return { status, text, headers: rest };
}

describe('a request that the cache answers', () => {
  it('gets the same answer and headers, whatever else its head says', () => {
    const clock = fakeClock();
    return serving(
      async ({ get }) => {
        for (const accept of ['application/json', 'text/csv', 'application/x-ndjson']) {
          const ask = (more = {}) => get(COUNTS).set({ Accept: accept, ...more });
          const first = await ask();
          expect(first.headers['cache-status']).to.match(/fwd=miss/);
          // It is refreshed at 300.
          for (const age of [0, 149, 298]) {
            const other = await ask({ 'X-Other': String(age) });
            expect(other.headers).to.include({ age: String(age) });
            for (let times = 0; times < 3; times++)
              expect(whole(await ask())).to.deep.equal(whole(other));
            await clock.advance(149_000);
          }
          await clock.advance(900_000);
        }
      },
      { clock },
    );
  });

  it('gets an id of its own', () =>
    serving(async ({ get }) => {
      const ids = [];
      for (let times = 0; times < 5; times++) ids.push((await get(COUNTS)).headers['x-request-id']);
      expect(new Set(ids)).to.have.property('size', 5);
    }));

  it('gets 304 when it names the ETag, each time', () =>
    serving(async ({ get }) => {
      const { etag } = (await get(COUNTS)).headers;
      for (let times = 0; times < 3; times++) {
        expect((await get(COUNTS)).status).to.equal(200);
        const { status, text } = await get(COUNTS).set('If-None-Match', String(etag));
        expect({ status, text }).to.deep.equal({ status: 304, text: '' });
        expect((await get(COUNTS).set('If-None-Match', 'W/"other"')).status).to.equal(200);
      }
    }));

  it('is answered by its method', () =>
    serving(async ({ http, get }) => {
      for (let times = 0; times < 3; times++) {
        expect((await get(COUNTS)).status).to.equal(200);
        const head = await http.head(COUNTS).set('X-API-KEY', TOKEN);
        expect([head.status, head.text]).to.deep.equal([200, undefined]);
        expect((await http.put(COUNTS).set('X-API-KEY', TOKEN)).status).to.equal(405);
      }
    }));

  it('gets redacted or plain values, as its own head asks', () =>
    withFolder(async (data) => {
      const folder = join(data, 'queries');
      mkdirSync(folder);
      const directives = [
        'uuid: 0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01',
        'max_rows: 5',
        'caching: 900',
        'warming: off',
        'sandboxing: off',
        'redact_pii: off',
      ].map((directive) => `--! ${directive}\n`);
      const sql = `-- An address.\n${directives.join('')}select '192.0.2.7' as address\n`;
      writeFileSync(join(folder, 'address.sql'), sql);
      await withApp(
        data,
        async ({ get }) => {
          for (let times = 0; times < 3; times++)
            for (const [wish, seen] of [
              ['true', 'REDACTED'],
              ['false', '192.0.2.7'],
            ] as const) {
              const path = '/api/endpoints/query/address';
              const { body } = await get(path).set('SVC-ENDPOINT-REDACT-PII', wish);
              expect(body.result).to.deep.equal([{ address: seen }]);
            }
        },
        { endpoints: folder },
      );
    }));

  it('does not keep its response in memory', () =>
    serving(async ({ get }) => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const { end } = ServerResponse.prototype;
      const responses: WeakRef<object>[] = [];
      ServerResponse.prototype.end = function (
        this: ServerResponse,
        ...given: Parameters<typeof end>
      ) {
        responses.push(new WeakRef(this));
        return end.apply(this, given);
      } as typeof end;
      try {
        for (let n = 0; n < 50; n++) await get(COUNTS).set('X-Other', String(n));
      } finally {
        ServerResponse.prototype.end = end;
      }
      expect(responses).to.have.length(50);
      // The last connections are still closing.
      await eventually(() => {
        collect();
        expect(responses.filter((response) => response.deref()).length).to.be.below(5);
      });
    }));

  it('counts as a request, under its route', () =>
    serving(async ({ get }) => {
      for (let times = 0; times < 4; times++) await get(COUNTS);
      const counted =
        /^tailpond_http_request_duration_seconds_count\{.*route="\/api\/endpoints\/query\/:endpoint".*\} (\d+)$/m;
      expect(counted.exec((await get('/metrics')).text)?.[1]).to.equal('4');
      const hits = /^tailpond_cache_hits_total (\d+)$/m;
      expect(hits.exec((await get('/metrics')).text)?.[1]).to.equal('3');
    }));

  it('is refused once its token has expired, was revoked, or may do less', () =>
    withFolder(async (data) => {
      const file = tokenFile(data);
      const revoked = file.add({ scopes: ['query'] });
      await withService(data, async (service) => {
        const statusOf = async (token: string) => {
          const headers = { 'X-API-KEY': token };
          const response = await fetch(service.url + COUNTS, { headers });
          await response.text();
          return response.status;
        };
        const brief = file.add({ scopes: ['query'] });
        service.child.kill('SIGHUP');
        await eventually(async () => expect(await statusOf(brief)).to.equal(200));
        for (let times = 0; times < 3; times++)
          for (const token of [TOKEN, brief, revoked]) expect(await statusOf(token)).to.equal(200);
        file.remove(revoked);
        file.change(brief, { expires: new Date(Date.now() + 1000).toISOString() });
        service.child.kill('SIGHUP');
        for (const token of [revoked, brief])
          await eventually(async () => expect(await statusOf(token)).to.equal(401));
        expect(await statusOf(TOKEN)).to.equal(200);
      });
    }));

  it('counts for the limit of its token', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          const statuses = [];
          for (let times = 0; times < 5; times++) statuses.push((await service.get(COUNTS)).status);
          expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
        },
        { env: { TAILPOND_RATE_LIMIT: '3' } },
      ),
    ));
});
