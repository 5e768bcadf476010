import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  eventually,
  secrets,
  spawnService,
  TOKEN,
  watched,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { exchange, get, tokenFile } from './http.ts';

describe('secrets', () => {
  faultCase('H08', 'no token is in any log of the suite, wherever clients put theirs', () =>
    withFolder(async (data) => {
      const own = tokenFile(data).add({ scopes: ['query'] });
      const expectedLines = newExpectedLines();
      mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
      appendFileSync(join(data, 'logs', 'edge_logs', 'app.ndjson'), expectedLines.line());
      for (const level of ['trace', 'info'])
        await withService(
          data,
          async (service) => {
            for (const token of [TOKEN, own]) {
              const logs = `/api/endpoints/query/logs.all?project=${token}&token=${token}`;
              const requests = [
                get(logs, `X-API-KEY: ${token}`),
                get(logs, `Authorization: Bearer ${token}`),
                get(logs, `Authorization: Basic ${token}`, `Cookie: token=${token}`),
                get(`${logs}&iso_timestamp_start=${token}`, `X-API-KEY: ${token}`),
                get(logs, `X-API-KEY: ${token}`, `SVC-ENDPOINT-REDACT-PII: ${token}`),
                get(logs, `X-API-KEY: ${token}x`),
                get(logs, `X-API-KEY: ${token}`, `X-API-KEY ${token}`),
                get(`/api/rejected?source=${token}`, `X-API-KEY: ${token}`),
                get(`/livez?${token}`, `User-Agent: ${token}`, `Referer: http://x/?${token}`),
              ];
              for (const request of requests)
                expect((await exchange(service.url, request)).statuses).to.have.length(1);
            }
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { env: { TAILPOND_LOG_LEVEL: level } },
        );
      // Starts that fail, and one that makes its token itself.
      await ended(data, { TAILPOND_PORT: 'none' });
      await ended(data, { TAILPOND_TOKEN: `${TOKEN} and more` });
      await withService(data, async (service) => expect(await service.end('SIGTERM')).to.equal(0), {
        env: { TAILPOND_TOKEN: '' },
      });
      await eventually(() => expect(watched.lines).to.be.above(20));
      expect(secrets.size).to.be.above(1);
      expect(watched.leaks).to.deep.equal([]);
    }),
  );
});

async function ended(data: string, env: Record<string, string>) {
  const { child } = spawnService(data, { env });
  await new Promise((closed) => child.once('close', closed));
  expect(child.exitCode).to.equal(78);
}
