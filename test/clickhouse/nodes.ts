import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, withService } from '../support/helpers.ts';
import type { OwnClickHouse } from './case.ts';

/** A service whose rows stay in its store, and one that has forwarded the same rows. */
export interface Twins {
  readonly here: Service;
  readonly forwarded: Service;
  /** Their data folders. */
  readonly folders: { readonly here: string; readonly forwarded: string };
}

interface TwinOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** More for the one that forwards its rows. */
  readonly forwardedEnv?: Readonly<Record<string, string>>;
}

interface Line {
  readonly source: string;
  readonly line: string;
}

/** Starts two services with the same lines, and waits until both have all of them. */
export async function withTwins(
  { server, folder }: OwnClickHouse,
  lines: readonly Line[],
  action: (twins: Twins) => Promise<void>,
  { env = {}, forwardedEnv = {} }: TwinOptions = {},
): Promise<void> {
  const folders = { here: join(folder, 'here'), forwarded: join(folder, 'forwarded') };
  for (const data of Object.values(folders)) dropLines(data, lines);
  await withService(
    folders.here,
    (here) =>
      withService(
        folders.forwarded,
        async (forwarded) => {
          await hasAll(here, 'stored', lines.length);
          await hasAll(forwarded, 'forwarded', lines.length);
          await action({ here, forwarded, folders });
        },
        { env: { ...env, TAILPOND_CLICKHOUSE_URL: server.url, ...forwardedEnv } },
      ),
    { env },
  );
}

function dropLines(data: string, lines: readonly Line[]): void {
  for (const source of new Set(lines.map((each) => each.source))) {
    const own = lines.filter((each) => each.source === source);
    mkdirSync(join(data, 'logs', source), { recursive: true });
    appendFileSync(join(data, 'logs', source, 'a.ndjson'), own.map(({ line }) => line).join(''));
  }
}

async function hasAll({ get }: Service, count: 'stored' | 'forwarded', lines: number) {
  await eventually(async () => {
    const { body } = await get('/api/ledger');
    const entries = body.result as Record<string, number>[];
    expect(entries.reduce((sum, entry) => sum + (entry[count] ?? 0), 0)).to.equal(lines);
  }, 60_000);
}
