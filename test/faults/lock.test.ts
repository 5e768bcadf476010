import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import {
  eventually,
  type Service,
  spawnService,
  TOKEN,
  withFolder,
  withService,
} from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { type ExpectedLines, newExpectedLines } from './expected-lines.ts';
import { allStored, endsWhole } from './lines.ts';
import { storeCommand } from './store-command.ts';

const ROUNDS = LONG ? 6 : 2;

/** Without a control socket, as on a file system that has none: a folder is in its place. */
describe('a store that a command and a service want at once', () => {
  const stored = opened<Stored>(withStoredLines);
  /** Runs `action` on a copy of a store of some lines, and of its backup. */
  const withCopy = (
    action: (data: string, backup: string, expectedLines: ExpectedLines) => Promise<void>,
  ): Promise<void> =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines('more');
      for (const id of stored().ids) expectedLines.row(id);
      cpSync(stored().data, data, { recursive: true });
      await action(data, join(data, 'backup.duckdb'), expectedLines);
    });

  faultCase('D25a', 'a restore is refused beside a service without a socket', () =>
    withCopy(async (data, backup, expectedLines) => {
      await withService(data, async (service) => {
        await push(service, expectedLines, 60);
        const { code, text } = await storeCommand(data, ['restore', backup]);
        expect(text).to.match(/Another process has the store in .* open: the service/);
        expect(code).to.equal(1);
        await push(service, expectedLines, 60);
        await allStored(service, expectedLines);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      await endsWhole(data, expectedLines);
    }),
  );

  faultCase('D25b', 'a service is refused while a restore is at work, and starts after it', () =>
    withCopy(async (data, backup, expectedLines) => {
      const restore = await stoppedWhileItHas(data, ['restore', backup]);
      const { child, errors } = spawnService(data);
      const [code] = await once(child, 'close');
      expect(errors.join('\n')).to.match(/has the store in .* open: tailpond restore. Wait until/);
      expect(code).to.equal(1);
      expect(await restore.goOn()).to.equal(0);
      await endsWhole(data, expectedLines);
    }),
  );

  faultCase('D25c', 'a start waits for the end of a backup', () =>
    withCopy(async (data, _, expectedLines) => {
      const other = join(data, 'other.duckdb');
      const backup = await stoppedWhileItHas(data, ['backup', other]);
      const { child, log } = spawnService(data);
      try {
        await eventually(() =>
          expect(log.map(({ msg }) => msg).join()).to.match(/a command .* has the store open/),
        );
        expect(child.exitCode).to.equal(null);
        expect(await backup.goOn()).to.equal(0);
        await eventually(() =>
          expect(log.map(({ msg }) => msg).join()).to.match(/listening on http/),
        );
      } finally {
        child.kill('SIGTERM');
      }
      expect(await once(child, 'exit')).to.deep.equal([0, null]);
      await endsWhole(data, expectedLines);
    }),
  );

  faultCase('D25d', 'what is pushed beside a restore that comes at the same time is kept', () =>
    withCopy(async (data, backup) => {
      let acknowledged = 0;
      // Which of the two comes first is chance; rounds that the restore wins alone would show nothing.
      for (let round = 0; round < ROUNDS || acknowledged === 0; round++) {
        const lines = newExpectedLines(`round-${round}`);
        const restored = storeCommand(data, ['restore', backup]);
        let ids: string[] | null = null;
        await withService(data, async (service) => {
          ids = await push(service, lines, 60);
          // Where both come to their end the restore was the first.
          await restored;
          expect(await service.end('SIGTERM')).to.equal(0);
        }).catch((error) => expect(String(error)).to.match(/the service ended with 1/));
        const { code, text } = await restored;
        if (code !== 0) expect(text).to.match(/Another process has the store/);
        if (ids === null) continue;
        acknowledged++;
        await withService(data, async (service) => {
          await eventually(async () =>
            expect(await newestIds(service)).to.include.members(ids as unknown as string[]),
          );
          expect(await service.end('SIGTERM')).to.equal(0);
        });
      }
    }),
  );
});

interface Stored {
  readonly data: string;
  readonly ids: readonly string[];
}

/** Makes a store of a hundred lines, and a backup of it beside it. */
function withStoredLines(action: (stored: Stored) => Promise<void>): Promise<void> {
  return withFolder(async (data) => {
    mkdirSync(join(data, 'store', 'control.sock'), { recursive: true });
    const expectedLines = newExpectedLines();
    let ids: readonly string[] = [];
    await withService(data, async (service) => {
      ids = await push(service, expectedLines, 100);
      await allStored(service, expectedLines);
      expect(await service.end('SIGTERM')).to.equal(0);
    });
    expect((await storeCommand(data, ['backup', join(data, 'backup.duckdb')])).code).to.equal(0);
    await action({ data, ids });
  });
}

/** Pushes so many lines, and gives their ids once they are acknowledged. */
async function push(
  { url }: Service,
  expectedLines: ExpectedLines,
  count: number,
): Promise<string[]> {
  const lines = Array.from({ length: count }, () => expectedLines.line().trimEnd());
  const { status } = await fetch(`${url}/api/logs/edge_logs`, {
    method: 'POST',
    headers: { 'X-API-KEY': TOKEN, 'Content-Type': 'application/json' },
    body: `[${lines.join(',')}]`,
  });
  expect(status).to.equal(200);
  return lines.map((line) => JSON.parse(line).id);
}

/** The ids of the newest hundred rows. */
async function newestIds(service: Service): Promise<string[]> {
  const { body } = await service.get('/api/endpoints/query/logs.all?project=p');
  return (body.result as { id: string }[]).map(({ id }) => id);
}

/** Starts a command on the store, which stops once it has the store. */
async function stoppedWhileItHas(data: string, words: readonly string[]) {
  const preload = pathToFileURL(join(import.meta.dirname, 'stop-with-lock.mjs'));
  const { child } = spawnService(data, {
    args: ['store', ...words],
    env: { NODE_OPTIONS: `--import=${preload}` },
  });
  const ended = once(child, 'exit');
  await eventually(() => {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    expect(stat.slice(stat.lastIndexOf(')') + 2)[0], 'the state of the command').to.equal('T');
  });
  return {
    /** Lets it go on, and gives its exit code. */
    async goOn() {
      child.kill('SIGCONT');
      const [code] = await ended;
      return code as number | null;
    },
  };
}
