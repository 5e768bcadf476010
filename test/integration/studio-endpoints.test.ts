import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clickhouseIt } from '../clickhouse/case.ts';
import { eventually, type Service, withApp, withFolder, withService } from '../support/helpers.ts';
import { randomOf } from '../support/random.ts';
import { type Asked, lineOf, questions, serviceEntries } from '../support/studio-endpoints.ts';

const ENTRIES = 600;
const SEED = 17;

type Get = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>;

/** Asks all questions at a time when the answers are those of `at`: in the same minute, which the buckets are counted from. */
async function check(get: Get, asked: (now: number) => readonly Asked[]): Promise<void> {
  const answers = async () => {
    const minute = () => Math.floor(Date.now() / 60_000);
    const began = minute();
    const found: [Asked, unknown][] = [];
    for (const question of asked(Date.now())) {
      const { status, body } = await get(`/api/endpoints/query/${question.path}`);
      expect(status, `${question.path} ${JSON.stringify(body)}`).to.equal(200);
      found.push([question, body]);
    }
    return minute() === began ? found : null;
  };
  const found = (await answers()) ?? (await answers()) ?? [];
  expect(found).not.to.deep.equal([]);
  for (const [{ path, rows }, body] of found) {
    expect(body, path).to.have.keys('result');
    expect(rounded((body as { result: unknown }).result), path).to.deep.equal(rounded(rows));
  }
}

/** A mean is a sum of doubles in some order. */
function rounded(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each) =>
    typeof each === 'number' ? Number(each.toPrecision(10)) : each,
  );
  return JSON.parse(text);
}

describe('endpoints that Studio asks for beside logs', () => {
  it('answer what is worked out from the entries', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const began = Date.now();
        const entries = serviceEntries(randomOf(SEED), ENTRIES, began);
        for (const source of new Set(entries.map((entry) => entry.source))) {
          const own = entries.filter((entry) => entry.source === source);
          served.write(`${source}/a.ndjson`, own.map(lineOf).join(''));
          await served.lines(own.length, source);
        }
        await check(served.get, (now) => questions(entries, now));
      }),
    ));

  it('say which parameters they need', () =>
    withFolder((data) =>
      withApp(data, async ({ get }) => {
        const wrong = [
          ['functions.combined-stats?project=default&interval=1hr', /function_id/],
          ['functions.combined-stats?project=default&function_id=f&interval=1week', /15min, 1hr/],
          ['service-health?granularity=hour', /project/],
          ['service-health?project=default&granularity=second', /minute, hour, day/],
        ] as const;
        for (const [path, reason] of wrong) {
          const { status, body } = await get(`/api/endpoints/query/${path}`);
          expect([status, body.code], path).to.deep.equal([400, 'PARAMETER_INVALID']);
          expect(body.error.message, path).to.match(reason);
        }
      }),
    ));

  clickhouseIt('answer the same where rows are forwarded', async (server, folder) => {
    const data = join(folder, 'data');
    const entries = serviceEntries(randomOf(SEED), ENTRIES, Date.now());
    for (const [i, entry] of entries.entries()) {
      mkdirSync(join(data, 'logs', entry.source), { recursive: true });
      appendFileSync(join(data, 'logs', entry.source, 'a.ndjson'), lineOf(entry, i));
    }
    await withService(
      data,
      async (service: Service) => {
        await eventually(async () => {
          const { body } = await service.get('/api/ledger');
          const rows = (body as { result: { forwarded?: number }[] }).result;
          expect(rows.reduce((sum, row) => sum + (row.forwarded ?? 0), 0)).to.equal(ENTRIES);
        }, 60_000);
        await check(service.get, (now) => questions(entries, now));
      },
      { env: { TAILPOND_CLICKHOUSE_URL: server.url } },
    );
  });
});
