import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  eventually,
  type Service,
  TOKEN,
  withFolder,
  withIngest,
  withService,
} from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { fill, free } from './ballast.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, drop, endsWhole, whileItLives } from './lines.ts';
import { mountCase, withTmpfs } from './mounts.ts';

/** A run has 30,720 of them. */
const ROWS = LONG ? 130_000 : 70_000;
const KILLS = LONG ? 40 : 2;
const FILLS = LONG ? 20 : 2;
/** Looks for rows to settle come soon after each other. */
const SOON = { TAILPOND_TEST_WAITS: 'settle=500ms' };
const DISK_MB = 300;

/** Drops lines of 50 projects, whose ids, messages and metadata tell which belong together. */
function lineDropper(data: string, expectedLines: ExpectedLines, random: () => number) {
  let number = 0;
  return (count: number) => {
    let text = '';
    for (let i = 0; i < count; i++) {
      const n = number++;
      expectedLines.row(`line-${n}`);
      const at = new Date(Date.UTC(2026, 10, 1) + Math.floor(random() * 1e9)).toISOString();
      const request = { path: `/${n}`, method: n % 3 === 0 ? 'GET' : 'POST' };
      const metadata = n % 5 === 0 ? [{ request: [request] }] : { request };
      text += `${JSON.stringify({ id: `line-${n}`, timestamp: at, project: `p${n % 50}`, event_message: `message ${n} ${'x'.repeat(200)}`, metadata })}\n`;
    }
    drop(data, 'edge_logs/a.ndjson', text);
  };
}

describe('settling', () => {
  faultCase(
    'D26',
    `${KILLS} kills amid it, while lines come in: each line is there once, and none has a part of another`,
    () =>
      withFolder(async (data) => {
        const random = seeded(26);
        const expectedLines = newExpectedLines();
        const dropLines = lineDropper(data, expectedLines, random);
        dropLines(ROWS);
        const settledRows: number[] = [];
        for (let kill = 0; kill < KILLS; kill++) {
          await withService(
            data,
            async (service) => {
              dropLines(500);
              await allStored(service, expectedLines);
              dropLines(500);
              await amidSettling(service, kill, random);
              await service.end('SIGKILL');
            },
            { env: SOON },
          );
          settledRows.push(await whole(data));
        }
        const amid = settledRows.filter((rows) => rows > 0 && rows < ROWS);
        expect(amid, 'kills while rows were settled').to.not.be.empty;
        await endsWhole(data, expectedLines);
        await whole(data);
      }),
    { timeoutMs: 600_000 },
  );

  mountCase(
    'D27',
    `a disk that fills up ${FILLS} times amid it: each line is there once, and none has a part of another`,
    'tmpfs',
    () =>
      withFolder((data) =>
        withTmpfs(join(data, 'store'), DISK_MB, async () => {
          const random = seeded(27);
          const expectedLines = newExpectedLines();
          const dropLines = lineDropper(data, expectedLines, random);
          dropLines(ROWS);
          const settledRows: number[] = [];
          for (let time = 0; time < FILLS; time++) {
            await withService(
              data,
              async (service) => {
                dropLines(500);
                await allStored(service, expectedLines);
                await amidSettling(service, time, random);
                // Less than a run needs in the write-ahead log.
                fill(join(data, 'store'), Math.floor(1e6 * random()));
                await delay(2000);
                await whileItLives(service, async () => {
                  free(join(data, 'store'));
                  dropLines(500);
                  await allStored(service, expectedLines);
                  await service.end('SIGTERM');
                });
              },
              { env: { ...SOON, TAILPOND_MIN_FREE: 'off' } },
            );
            free(join(data, 'store'));
            settledRows.push(await whole(data));
          }
          const amid = settledRows.filter((rows) => rows > 0 && rows < ROWS);
          expect(amid, 'full disks while rows were settled').to.not.be.empty;
          await endsWhole(data, expectedLines);
          await whole(data);
        }),
      ),
    { timeoutMs: 600_000 },
  );
});

/** The first time until rows have been settled, of which there are more; later for some seconds, in which some of what is left is. */
async function amidSettling(service: Service, time: number, random: () => number): Promise<void> {
  if (time > 0) return delay(500 + random() * 1500);
  await eventually(async () => {
    const text = await (
      await fetch(`${service.url}/metrics`, { headers: { 'X-API-KEY': TOKEN } })
    ).text();
    const [, rows] = /^tailpond_settled_rows_total\{source="edge_logs"\} (\d+)$/m.exec(text) ?? [];
    expect(Number(rows)).to.be.above(0);
  });
}

/** Each row must be of one line. Gives how many rows are settled. */
async function whole(data: string): Promise<number> {
  return withIngest(data, async ({ store }) => {
    const { rows } = await store.query(
      `select
          count(*) filter (
            event_message not like 'message ' || substr(id, 6) || ' x%'
            or project <> 'p' || (substr(id, 6)::bigint % 50)
            or path <> '/' || substr(id, 6)
            or coalesce(metadata ->> '$.request.path', metadata ->> '$[0].request[0].path') <> path
            or (member_state > 0 and "metadata.request.path" is distinct from to_json(path))
          ) as mixed,
          count(*) filter (member_state > 0) as settled
        from edge_logs`,
      {},
      { maxRows: 1 },
    );
    expect((await store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
    const [mixed, count] = rows[0] ?? [];
    expect(Number(mixed)).to.equal(0);
    return Number(count);
  });
}
