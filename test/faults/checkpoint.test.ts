import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { withFolder } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { allStored, dropLines } from './lines.ts';
import { run } from './setup.ts';

/** A checkpoint is due some times although the service is never idle. */
const RUN_MS = LONG ? 70_000 : 8000;
const WAITS = { TAILPOND_TEST_WAITS: LONG ? '' : 'checkpointLatest=2s' };
const WRITE_EVERY_MS = 100;

describe('a checkpoint that is due while lines come in and queries run', () => {
  faultCase(
    'D02c',
    'keeps no batch from being stored',
    () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        await run(
          data,
          async (service) => {
            const end = performance.now() + RUN_MS;
            const writing = async () => {
              while (performance.now() < end) {
                dropLines(data, expectedLines, 20);
                await delay(WRITE_EVERY_MS);
              }
            };
            const asking = async () => {
              while (performance.now() < end)
                for (const path of ['/api/endpoints/query/logs.all?project=p', '/readyz']) {
                  const { status, body } = await service.get(path);
                  expect(status, JSON.stringify(body)).to.equal(200);
                }
            };
            await Promise.all([writing(), asking(), asking(), asking(), asking()]);
            await allStored(service, expectedLines);
            expect(service.log.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
          },
          { env: WAITS },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    { timeoutMs: RUN_MS + 60_000 },
  );
});
