import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openConfigured } from '../clickhouse/index.ts';
import { settingsOf } from '../config/config.ts';
import { makeFolder } from '../config/make-folder.ts';
import { membersOf } from '../config/members.ts';
import { clickhouseSettings } from './clickhouse.ts';
import { startOwnService } from './service-client.ts';

export interface DrillOptions {
  readonly lines: number;
  readonly kills: number;
}

const SOURCE = 'edge_logs';
/** A life of the node: long enough for some shipments, and to be killed in the midst of one. */
const [SHORTEST_MS, LONGEST_MS] = [1000, 3000];
const LOOK_MS = 250;
const TELL_MS = 10_000;
/** A node that has nothing to do for so long has nothing left. */
const QUIET_MS = 30_000;
const COUNT_MS = 60_000;

/**
 * Has a node of its own forward lines while it is killed again and again, and counts what the servers have then. The folder of the node is
 * removed at the end; its rows stay in ClickHouse, under a project of their own.
 */
export async function drill({ lines, kills }: DrillOptions): Promise<0 | 1> {
  const config = clickhouseSettings();
  const data = mkdtempSync(join(tmpdir(), 'tailpond-drill-'));
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => left.abort());
  const project = `drill-${randomUUID()}`;
  try {
    console.log(
      `${lines} lines of project ${project} are written, the node is killed ${kills} times.`,
    );
    await forwardAmidKills({ data, project, lines, kills }, left.signal);
    const clickhouse = openConfigured(config, membersOf(settingsOf()));
    try {
      let [rows, ids] = [0, 0];
      for (const url of config.urls) {
        const there = await clickhouse.drilled(SOURCE, project, url, AbortSignal.timeout(COUNT_MS));
        console.log(`${url} has ${there.rows} rows.`);
        rows += there.rows;
        ids += there.ids;
      }
      console.log(`${lines - ids} lines are lost, ${rows - ids} are there more than once.`);
      console.log(`To remove them: alter table ${SOURCE} delete where project = '${project}'`);
      return ids === lines && rows === lines ? 0 : 1;
    } finally {
      await clickhouse.close();
    }
  } catch (error) {
    if (!left.signal.aborted) throw error;
    console.error('The drill was ended before it could count.');
    return 1;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

interface Run extends DrillOptions {
  readonly data: string;
  readonly project: string;
}

async function forwardAmidKills({ data, project, lines, kills }: Run, signal: AbortSignal) {
  const folder = join(data, 'logs', SOURCE);
  makeFolder(folder);
  const token = randomUUID();
  const settings = {
    TAILPOND_DATA: data,
    TAILPOND_TOKEN: token,
    TAILPOND_TOKEN_FILE: '',
    // The operator's service has these, and the drill must not.
    TAILPOND_ENDPOINTS: '',
    TAILPOND_RATE_LIMIT: 'off',
  };
  let written = 0;
  const write = (until: number) => {
    let text = '';
    for (; written < until; written++) text += `${JSON.stringify(lineOf(project, written))}\n`;
    appendFileSync(join(folder, 'drill.log'), text);
  };
  for (let life = 0; life <= kills; life++) {
    const { child, ended, ready } = startOwnService(join(data, 'store'), settings);
    try {
      const url = await ready();
      const isLast = life === kills;
      const endsAt = performance.now() + SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS);
      const goal = Math.round((lines * (life + 1)) / (kills + 1));
      const from = written;
      for (let now = performance.now(); now < endsAt; now = performance.now()) {
        const share = 1 - (endsAt - now) / LONGEST_MS;
        write(Math.min(goal, Math.max(written, Math.round(from + (goal - from) * share))));
        await delay(LOOK_MS / 5, undefined, { signal });
      }
      write(goal);
      if (isLast) await allForwarded(url, token, lines, signal);
    } finally {
      child.kill(life === kills && !signal.aborted ? 'SIGTERM' : 'SIGKILL');
      await ended;
    }
  }
}

/** Waits until all lines have left the node, however long that takes, or nothing is left to wait for, and says how far it is. */
async function allForwarded(url: string, token: string, lines: number, signal: AbortSignal) {
  let [state, changedAt] = ['', 0];
  for (let toldAt = performance.now(); ; await delay(LOOK_MS, undefined, { signal })) {
    const response = await fetch(`${url}/api/ledger`, { headers: { 'X-API-KEY': token }, signal });
    if (!response.ok) throw new Error(`The node answers ${response.status}.`);
    const { result } = (await response.json()) as { result: LedgerOfSource[] };
    const ledger = result.find(({ source }) => source === SOURCE);
    const { forwarded = 0, stored = 0, lines: read = 0, pending_bytes: pending = 0 } = ledger ?? {};
    if (forwarded >= lines) return;
    const now = [read, forwarded, stored, pending].join();
    if (now !== state) [state, changedAt] = [now, performance.now()];
    // Lines that were lost or rejected do not come: what is there is counted. What was just written is not seen at once.
    if (pending === 0 && stored === 0 && performance.now() - changedAt > QUIET_MS) return;
    const stopped = await whyStopped(url, signal);
    if (stopped) throw new Error(stopped);
    if (performance.now() - toldAt < TELL_MS) continue;
    toldAt = performance.now();
    console.log(`${forwarded} of ${lines} lines have left the node.`);
  }
}

interface LedgerOfSource {
  readonly source: string;
  readonly lines: number;
  readonly stored: number;
  readonly forwarded: number;
  readonly pending_bytes: number;
}

/** Why the node forwards nothing any more; null while it does. */
async function whyStopped(url: string, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(`${url}/readyz`, { signal });
  const { detail = '' } = (await response.json()) as { detail?: string };
  return /sent any more/.test(detail) ? detail : null;
}

function lineOf(project: string, n: number) {
  return {
    id: `${project}-${n}`,
    timestamp: new Date().toISOString(),
    project,
    event_message: `GET | 200 | /rest/v1/todos?id=eq.${n}`,
    metadata: {
      request: { method: 'GET', path: '/rest/v1/todos' },
      response: { status_code: 200 },
    },
  };
}
