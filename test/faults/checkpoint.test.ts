import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { withApp, withFolder } from '../helpers.ts';
import { faultCase } from './case.ts';

/** More than a minute: then a checkpoint is due although the service was never idle. */
const RUN_MS = 70_000;
const WRITE_EVERY_MS = 100;

describe('a checkpoint that is due while lines come in and queries run', () => {
  faultCase(
    'D02c',
    'keeps no batch from being stored',
    () =>
      withFolder((data) =>
        withApp(data, async ({ write, lines, get, ingest }) => {
          const end = performance.now() + RUN_MS;
          const troubles = new Set<string>();
          let count = 0;
          const writing = async () => {
            while (performance.now() < end) {
              const at = new Date().toISOString();
              let text = '';
              for (let i = 0; i < 20; i++)
                text += `{"id":"${count++}","timestamp":"${at}","project":"p","event_message":"m","metadata":{"n":${i}}}\n`;
              write('edge_logs/a.ndjson', text);
              await delay(WRITE_EVERY_MS);
            }
          };
          const asking = async () => {
            while (performance.now() < end) {
              const { status } = await get('/api/endpoints/query/logs.all?project=p');
              expect(status).to.equal(200);
              const { trouble } = ingest.status();
              if (trouble) troubles.add(trouble);
            }
          };
          await Promise.all([writing(), asking(), asking(), asking(), asking()]);
          const { rows, stored } = await lines(count);
          expect({ rows, stored }).to.deep.equal({ rows: count, stored: count });
          expect([...troubles]).to.deep.equal([]);
        }),
      ),
    { timeoutMs: RUN_MS + 60_000, longOnly: 'a checkpoint is due after a minute without rest' },
  );
});
