import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { allSources, type Source } from '../../ingest/index.ts';
import type { LedgerEntry } from '../../server/store/index.ts';
import { eventually, type Service, type SpawnOptions, withService } from '../support/helpers.ts';
import { LONG } from './case.ts';
import type { ExpectedLines } from './expected-lines.ts';

/** The level of a fatal error in the log. */
const FATAL = 60;

/** Appends text to a file below the logs folder, making it and its folders. */
export function drop(data: string, path: string, text: string | Uint8Array): void {
  const file = join(data, 'logs', path);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, text);
}

/** Appends so many good lines to the source's file `a.ndjson`. */
export function dropLines(
  data: string,
  expectedLines: ExpectedLines,
  count: number,
  source: Source = 'edge_logs',
) {
  let text = '';
  for (let i = 0; i < count; i++) text += expectedLines.line(source, 'x'.repeat(200));
  drop(data, `${source}/a.ndjson`, text);
}

/** Lines that are appended each time: what a slow machine still stores in time, or as much as it can. */
const AT_ONCE = LONG ? 50 : 15;

/** Appends lines to two sources every `pauseMs`, one of them bad, until stopped. */
export function startWriter(data: string, expectedLines: ExpectedLines, pauseMs = 10) {
  let stopped = false;
  const running = (async () => {
    for (let n = 0; !stopped; n++) {
      dropLines(data, expectedLines, AT_ONCE);
      dropLines(data, expectedLines, 1, 'auth_logs');
      expectedLines.bad(`no object ${n}`, 'auth_logs');
      drop(data, 'auth_logs/a.ndjson', `no object ${n}\n`);
      await delay(pauseMs);
    }
  })();
  return {
    stop() {
      stopped = true;
      return running;
    },
  };
}

export async function ledger(service: Service): Promise<LedgerEntry[]> {
  if (service.child.exitCode !== null) throw new Error(`it ended with ${service.child.exitCode}`);
  const { status, body } = await service.get('/api/ledger');
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.result as LedgerEntry[];
}

/**
 * Waits until the ledger counts what the expectedLines say now, of every source, and nothing of it was removed. Throws when the service ends
 * before.
 */
export async function allStored(service: Service, expectedLines: ExpectedLines): Promise<void> {
  const expected = allSources().map((source) => {
    const { rows, rejected } = expectedLines.expected(source);
    return { source, rows, rejected, lines: rows + rejected, stored: rows };
  });
  await eventually(async () => {
    if (hasEnded(service)) return;
    const entries = await ledger(service);
    for (const counts of expected)
      expect(entries.find(({ source }) => source === counts.source)).to.include(counts);
  }, 90_000);
  const { exitCode, signalCode } = service.child;
  if (hasEnded(service)) throw new Error(`the service has ended: ${exitCode ?? signalCode}`);
}

export function hasEnded({ child }: Service): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Runs `action` on a service that has met a full or broken disk. It may end, before or meanwhile, as the engine does where a COMMIT
 * cannot write: with 1, or by a SIGKILL of its own while queries run, which `process.exit` would wait for. It says why before.
 */
export async function whileItLives(service: Service, action: () => Promise<void>): Promise<void> {
  const { child, log } = service;
  try {
    if (!hasEnded(service)) return await action();
  } catch (error) {
    // The connection may tell of the end before the exit code does.
    await eventually(() => {
      if (!hasEnded(service)) throw error;
    }, 5000);
  }
  expect(child.exitCode ?? child.signalCode).to.be.oneOf([1, 'SIGKILL']);
  expect(log.map(({ level }) => level)).to.include(FATAL);
}

/** A last life finds every line, once, and ends clean. */
export async function endsWhole(
  data: string,
  expectedLines: ExpectedLines,
  options: SpawnOptions = {},
) {
  await withService(
    data,
    async (service) => {
      await allStored(service, expectedLines);
      expect(await service.end('SIGTERM')).to.equal(0);
    },
    options,
  );
  expect(await expectedLines.differences(data)).to.deep.equal([]);
}
