import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { allSources, type Source } from '../../../ingest/index.ts';
import { digestOf } from '../../../server/auth/tokens.ts';
import type { LedgerEntry } from '../../../server/store/index.ts';
import {
  eventually,
  type Service,
  type SpawnOptions,
  TOKEN,
  withFolder,
  withService,
} from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';
import { tokenFile } from '../http.ts';
import { storeCommand } from '../store-command.ts';
import type { Dialect } from './attacks.ts';

/** How SQL is sent. */
export type Way = 'get' | 'json' | 'form';

export interface Question {
  readonly sql: string;
  readonly dialect?: Dialect;
  readonly way?: Way;
  readonly endpoint?: string;
  readonly token?: string;
  /** Beside `sql` and `dialect`; those of `caller` without it. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly code: string;
  /** The body without the request's id, which is another each time. */
  readonly text: string;
  readonly rows: readonly Record<string, unknown>[];
  /** Body and headers, to look for secrets in. */
  readonly all: string;
}

/** A service whose store holds what a caller may see and, beside it, what he may not. */
export interface Harness {
  readonly data: string;
  readonly service: Service;
  /** A token that is pinned to the project of the caller. */
  readonly pinned: string;
  ask(question: Question): Promise<Answer>;
  /** Which of the secrets an answer holds, in clear or encoded. */
  leaks(answer: Answer): string[];
  /** What must be the same before and after attacks. */
  state(): Promise<object>;
}

/** The project and the time that the caller asks for. Rows of the same project beside that time are hidden, too. */
export const CALLER = {
  project: 'mine',
  iso_timestamp_start: '2026-08-21T11:00:00Z',
  iso_timestamp_end: '2026-08-21T13:00:00Z',
};

const VISIBLE = 12;

/**
 * Runs `action` on two services that differ in nothing but what is hidden: its texts, and how much there is of it. Whatever
 * is answered differently tells of hidden things.
 */
export async function withTwins(
  action: (harnesses: readonly [Harness, Harness]) => Promise<void>,
  options: SpawnOptions = {},
): Promise<void> {
  const [first, second] = [arrival(), arrival()];
  const acting = Promise.all([first.harness, second.harness]).then(action);
  // Each twin reports it.
  acting.catch(() => {});
  const lives = [first, second].map(({ come, fail }, twin) =>
    withHarness(twin, options, (harness) => {
      come(harness);
      return acting;
    }).catch((error) => {
      fail(error);
      throw error;
    }),
  );
  // Both have ended before the error of one is thrown.
  await Promise.allSettled(lives);
  await Promise.all(lives);
}

function arrival() {
  let come: (harness: Harness) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const harness = new Promise<Harness>((resolve, reject) => {
    come = resolve;
    fail = reject;
  });
  return { harness, come, fail };
}

/** Opens harnesses for the cases of a suite; `state` of each must be the same at its end. Returns what gives them to a case. */
export function shared<Harnesses extends readonly Harness[]>(
  open: (action: (harnesses: Harnesses) => Promise<void>) => Promise<void>,
): () => Harnesses {
  return opened<Harnesses>((action) =>
    open(async (harnesses) => {
      const states = () => Promise.all(harnesses.map((harness) => harness.state()));
      const before = await states();
      await action(harnesses);
      expect(await states()).to.deep.equal(before);
    }),
  );
}

/** Runs `action` on one service of this kind, which must stay the same process, and end well. */
export function withHarness(
  twin: number,
  options: SpawnOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  return withFolder(async (data) => {
    const secrets = SECRETS.map((kind) => hidden(twin, kind)).concat(data, 'root:x:0:0', TOKEN);
    const pinned = tokenFile(data).add({ scopes: ['query'], project: CALLER.project });
    secrets.push(pinned, digestOf(pinned).toString('hex'));
    writeFileSync(join(data, 'notes.csv'), `x\n${hidden(twin, 'notes')}\n`);
    // So that a broken line is a rejected one in every source.
    const env = {
      TAILPOND_LINE_FORMAT: 'json',
      ...options.env,
      HIDDEN_OF_ENVIRONMENT: hidden(twin, 'environment'),
    };
    await withService(
      data,
      async (service) => {
        await fill(data, service, twin);
        const harness: Harness = {
          data,
          service,
          pinned,
          ask: (question) => ask(service.url, question),
          leaks: ({ all }) => secrets.filter((secret) => isIn(all, secret)),
          state: () => state(data, service),
        };
        await action(harness);
        if (service.child.exitCode !== null || service.child.signalCode !== null)
          throw new Error('the service has ended');
        // Lines wait for the memory that SQL of callers has taken, until it has given way.
        const waits = ({ err }: Record<string, unknown>) =>
          /Out of Memory|failed to (?:pin|allocate)|could not allocate/.test(
            JSON.stringify(err ?? ''),
          );
        const odd = service.log.filter(
          (line) => (Number(line.level) >= 50 && !waits(line)) || line.text,
        );
        if (odd.length > 0) throw new Error(`the service said ${JSON.stringify(odd.slice(0, 3))}`);
        const code = await service.end('SIGTERM');
        if (code !== 0) throw new Error(`the service ended with ${code}`);
      },
      { ...options, env },
    );
  });
}

const SECRETS = ['row', 'late', 'rejected', 'file', 'environment', 'notes'] as const;

function hidden(twin: number, kind: (typeof SECRETS)[number]): string {
  const core = createHash('sha256').update(`${twin} ${kind}`).digest('hex').slice(0, 16);
  return `hidden-${core}`;
}

async function fill(data: string, service: Service, twin: number) {
  const write = (source: Source, name: string, lines: readonly string[]) => {
    const folder = join(data, 'logs', source);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  };
  const count = 3 + 4 * twin;
  const wait = (rows: number, rejected: number) =>
    eventually(async () => {
      const { status, body } = await service.get('/api/ledger');
      if (status !== 200) throw new Error(JSON.stringify(body));
      for (const entry of body.result as LedgerEntry[]) {
        reached(entry.rows, rows);
        reached(entry.rejected, rejected);
      }
    });
  // The visible rows come first, so that they lie at the same place in both.
  for (const source of allSources()) write(source, 'a.ndjson', visible(source));
  await wait(VISIBLE, 0);
  for (const source of allSources())
    write(source, `${hidden(twin, 'file')}.ndjson`, [
      ...Array.from({ length: count }, (_, n) => row(source, n, hidden(twin, 'row'), 'theirs')),
      row(source, 0, hidden(twin, 'late'), CALLER.project, '2026-08-21T10:59:59.999999Z'),
      row(source, 1, hidden(twin, 'late'), CALLER.project, '2026-08-21T13:00:00.000001Z'),
      `{"broken": "${hidden(twin, 'rejected')}"`,
    ]);
  await wait(VISIBLE + count + 2, 1);
}

function reached(found: number, wanted: number) {
  if (found !== wanted) throw new Error(`${found} instead of ${wanted}`);
}

function visible(source: Source): string[] {
  return Array.from({ length: VISIBLE }, (_, n) =>
    JSON.stringify({
      id: `${source}-${String(n).padStart(2, '0')}`,
      timestamp: `2026-08-21T12:00:${String(n).padStart(2, '0')}Z`,
      project: CALLER.project,
      event_message: n % 3 === 1 ? `message ${n}: 日本 héllo\u0301 😀` : `message ${n}`,
      metadata: {
        level: ['info', 'error', 7, null][n % 4],
        request: { method: ['GET', 'POST'][n % 2], path: `/rest/v1/${n}`, headers: { a: `${n}` } },
        response: { status_code: [200, '404', 500][n % 3], origin_time: n * 1.5 },
        list: [1, 'two', { three: 3 }],
        'a"b.c': n,
      },
    }),
  );
}

function row(source: Source, n: number, text: string, project: string, timestamp?: string): string {
  return JSON.stringify({
    id: `${text}-${source}-${n}`,
    timestamp: timestamp ?? `2026-08-21T12:30:${String(n).padStart(2, '0')}Z`,
    project,
    event_message: `${text} of ${source}`,
    metadata: {
      request: { path: text, url: `https://${text}/`, method: text },
      level: text,
      project,
    },
  });
}

/** Sends SQL, and reads the answer whole. */
export async function ask(url: string, question: Question): Promise<Answer> {
  const { sql, dialect, way = 'get', endpoint = 'logs.all', token = TOKEN } = question;
  const fields = { ...(question.parameters ?? CALLER), sql, ...(dialect ? { dialect } : {}) };
  const target = `${url}/api/endpoints/query/${endpoint}`;
  const headers = { 'X-API-KEY': token, ...question.headers };
  const signal = question.signal ? { signal: question.signal } : {};
  const response =
    way === 'get'
      ? await fetch(`${target}?${new URLSearchParams(fields)}`, { headers, ...signal })
      : await fetch(target, {
          method: 'POST',
          headers: { 'Content-Type': TYPES[way], ...headers },
          body: way === 'json' ? JSON.stringify(fields) : String(new URLSearchParams(fields)),
          ...signal,
        });
  return read(response);
}

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const body = text === '' ? {} : JSON.parse(text);
  return {
    status: response.status,
    code: body.code ?? '',
    text: text.replace(/"instance":"[^"]*"/, ''),
    rows: body.result ?? [],
    all: `${[...response.headers].join('\n')}\n${text}`,
  };
}

/** Looks for a text in clear, in capitals, backwards, in hex and in base64. */
function isIn(answer: string, secret: string): boolean {
  const folded = answer.toLowerCase();
  const core = secret.replace('hidden-', '');
  const hex = Buffer.from(core).toString('hex');
  const forms = [core, [...core].reverse().join(''), hex].map((form) => form.toLowerCase());
  return (
    forms.some((form) => folded.includes(form)) ||
    base64(core).some((form) => answer.includes(form))
  );
}

/** What base64 makes of a text, wherever in the bytes it begins. */
function base64(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(' '.repeat(before) + text).toString('base64');
    return encoded.slice(4, -4);
  });
}

async function state(data: string, service: Service): Promise<object> {
  const get = async (path: string) => JSON.stringify(await service.get(path));
  const { code, text } = await storeCommand(data, ['check']);
  const logs = `/api/endpoints/query/logs.all?${new URLSearchParams(CALLER)}`;
  return {
    files: readdirSync(data, { recursive: true, withFileTypes: true })
      .map((entry) => relative(data, join(entry.parentPath, entry.name)))
      .filter((name) => !name.endsWith('.wal'))
      .sort(),
    code,
    text,
    ready: (await service.get('/readyz')).status,
    saved: await get(logs),
  };
}
