import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { eventually, type Service, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';

const PRELOAD = pathToFileURL(join(ROOT, 'test/faults/fail-call.mjs'));
/** Calls of a start, some lines, some queries and a stop; those beyond are never reached. */
const CALLS = 1000;
/** Every so-manieth is taken, so that steps of each kind are met: most are the start's, which tries all endpoints. */
const STRIDE = LONG ? 5 : 59;
/** Tests that share the calls, so that none takes long. */
const PARTS = ['a', 'b', 'c', 'd'];
const PATHS = [
  '/readyz',
  '/api/ledger',
  '/api/endpoints/query/logs.all?project=p&iso_timestamp_start=2020-01-01T00:00:00Z',
  '/api/rejected',
  '/api/endpoints/query/usage.api-counts?interval=daily&project=p',
  '/api/retention',
];

describe('HTTP: a call of DuckDB that fails', () => {
  for (const [part, letter] of PARTS.entries())
    faultCase(
      `H11${letter}`,
      'each call fails once: a 5xx problem or an exit, never a hang, and no line lost or doubled',
      () =>
        withFolder(async (data) => {
          const expectedLines = newExpectedLines('h11');
          mkdirSync(join(data, 'logs', 'edge_logs'), { recursive: true });
          const file = join(data, 'logs', 'edge_logs', 'app.ndjson');
          const met = { exited: 0, answered: 0, unseen: 0 };
          for (let call = 1 + part * STRIDE; call <= CALLS; call += PARTS.length * STRIDE) {
            appendFileSync(file, expectedLines.line() + badLine(call));
            expectedLines.bad(badLine(call).trim());
            met[
              await runWithFault(
                data,
                call,
                () => appendFileSync(file, expectedLines.line()),
                expectedLines,
              )
            ]++;
          }
          console.log(`      ${JSON.stringify(met)}`);
          expect(met.exited + met.answered, 'calls that failed').to.be.above(0);
          await withService(data, async (service) => {
            await eventually(() => stored(service, expectedLines));
            expect(await service.end('SIGTERM')).to.equal(0);
          });
          expect(await expectedLines.differences(data)).to.deep.equal([]);
        }),
      { timeoutMs: LONG ? 900_000 : 300_000 },
    );
});

/** The exit code of a stop; a name when it takes three times as long as a stop may (docs/install.md). */
function endOf(service: Service): Promise<number | string> {
  const late = delay(30_000, 'it hangs', { ref: false });
  return Promise.race([service.end('SIGTERM'), late]);
}

/** Every line has become what it must, as the ledger says. */
async function stored(service: Service, expectedLines: ExpectedLines) {
  const { body } = await service.get('/api/ledger');
  expect((body.result as object[])[0]).to.include(expectedLines.expected());
}

function badLine(call: number): string {
  return `no object, call ${call}\n`;
}

/** Runs the service with a call that fails, asks everything of it, and ends it; gives what became of the failure. */
async function runWithFault(
  data: string,
  call: number,
  writeMore: () => void,
  expectedLines: ExpectedLines,
): Promise<'exited' | 'answered' | 'unseen'> {
  let faulted = false;
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, FAULT_CALL: String(call) };
  let started = false;
  try {
    await withService(
      data,
      async (service) => {
        started = true;
        writeMore();
        for (const path of PATHS) await asked(service, call, path);
        // It goes on: ready again, and answering.
        await eventually(async () => {
          if (service.child.exitCode !== null) return;
          for (const path of PATHS)
            expect((await service.get(path)).status, `call ${call}: ${path}`).to.equal(200);
          await stored(service, expectedLines);
        });
        faulted = service.log.some((line) => JSON.stringify(line).includes('Injected Error'));
        const end = await endOf(service);
        // A call of the stop itself may fail, too (docs/install.md, "Exit codes").
        const failed = service.log.some(({ msg }) => String(msg).startsWith('the stop failed'));
        expect(end, `call ${call}`).to.be.oneOf(failed ? ['SIGKILL'] : [0, 1]);
      },
      { env },
    );
  } catch (error) {
    // A failure while it starts ends it with 1, for the supervisor to start it again.
    if (started || !/the service ended with 1:/.test(String(error))) throw error;
    return 'exited';
  }
  return faulted ? 'answered' : 'unseen';
}

/** An answer, in more time than any query has, that is right, or a problem that tells nothing of the failure. */
async function asked(service: Service, call: number, path: string) {
  const signal = AbortSignal.timeout(45_000);
  const response = await fetch(service.url + path, { headers: { 'X-API-KEY': TOKEN }, signal });
  const text = await response.text();
  expect(response.status, `call ${call}: ${path}: ${text}`).to.be.oneOf([200, 500, 503]);
  if (response.status !== 200) {
    expect(response.headers.get('content-type')).to.include('application/problem+json');
    expect(text, `call ${call}: ${path}`).not.to.include('Injected');
  }
}
