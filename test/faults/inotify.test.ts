import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { withFolder, withService } from '../support/helpers.ts';
import { faultCase, notHere } from './case.ts';
import { newExpectedLines } from './expected-lines.ts';
import { allStored, drop, dropLines } from './lines.ts';

describe('a full inotify table', () => {
  for (const [id, limit] of [
    ['T27a', 'max_inotify_instances'],
    ['T27b', 'max_inotify_watches'],
  ] as const) {
    const title = `loses nothing, and is told once: ${limit} is 0`;
    const inside = limited(limit, 0);
    const [command = '', ...args] = [...inside, 'true'];
    if (spawnSync(command, args).status !== 0) {
      notHere(id, title, 'a user namespace with limits of its own needs root');
      continue;
    }
    faultCase(id, title, () =>
      withFolder(async (data) => {
        const expectedLines = newExpectedLines();
        await withService(
          data,
          async (service) => {
            dropLines(data, expectedLines, 10);
            await allStored(service, expectedLines);
            dropLines(data, expectedLines, 5);
            for (let i = 0; i < 5; i++) drop(data, 'edge_logs/deep/b.ndjson', expectedLines.line());
            await allStored(service, expectedLines);
            const warnings = service.log.filter(({ msg }) =>
              /file watching failed/.test(String(msg)),
            );
            expect(warnings).to.have.length(1);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { inside },
        );
        expect(await expectedLines.differences(data)).to.deep.equal([]);
      }),
    );
  }
});

/** A service that a storm keeps from working does not answer for longer. */
const LATE_MS = 10_000;

describe('a storm of renames in a drop folder', () => {
  faultCase('T42', 'goes on while requests are answered and lines are stored', () =>
    withFolder(async (data) => {
      const expectedLines = newExpectedLines();
      await withService(data, async (service) => {
        dropLines(data, expectedLines, 10);
        drop(data, 'edge_logs/renamed-0.log', expectedLines.line() + expectedLines.line());
        await allStored(service, expectedLines);
        const storm = spawn(process.execPath, ['-e', STORM, join(data, 'logs', 'edge_logs')]);
        const ended = once(storm, 'close');
        try {
          await once(storm.stdout, 'data');
          const livez = `${service.url}/livez`;
          for (let round = 0; round < 20; round++)
            expect((await fetch(livez, { signal: AbortSignal.timeout(LATE_MS) })).status).to.equal(
              200,
            );
          dropLines(data, expectedLines, 5);
          await allStored(service, expectedLines);
        } finally {
          storm.kill();
          await ended;
        }
        drop(data, 'edge_logs/deep/b.ndjson', expectedLines.line());
        await allStored(service, expectedLines);
        expect(await service.end('SIGTERM')).to.equal(0);
      });
      expect(await expectedLines.differences(data)).to.deep.equal([]);
    }),
  );
});

/** Renames a log file, and other files around it, as fast as one process can. */
const STORM = `
  const { renameSync, writeFileSync } = require('node:fs');
  process.chdir(process.argv[1]);
  for (let i = 1; i < 20; i++) writeFileSync('renamed-' + i + '.log', '');
  for (let moved = 0; ; moved++) {
    const at = moved % 20;
    const [from, to] = moved % 40 < 20 ? ['', 'x'] : ['x', ''];
    renameSync('renamed-' + at + from + '.log', 'renamed-' + at + to + '.log');
    if (moved === 10_000) console.log('blowing');
  }
`;

/** Runs a command in a user namespace, which has inotify limits of its own; they are nobody else's. */
function limited(limit: string, value: number): string[] {
  const script = `echo ${value} > /proc/sys/user/${limit} && exec "$@"`;
  return ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
}
