import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { withFolder, withService } from '../helpers.ts';
import { newBooks } from './books.ts';
import { faultCase, notHere } from './case.ts';
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
        const books = newBooks();
        await withService(
          data,
          async (service) => {
            dropLines(data, books, 10);
            await allStored(service, books);
            dropLines(data, books, 5);
            for (let i = 0; i < 5; i++) drop(data, 'edge_logs/deep/b.ndjson', books.line());
            await allStored(service, books);
            const warnings = service.log.filter(({ msg }) => /impaired/.test(String(msg)));
            expect(warnings).to.have.length(1);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { inside },
        );
        expect(await books.differences(data)).to.deep.equal([]);
      }),
    );
  }
});

/** Runs a command in a user namespace, which has inotify limits of its own; they are nobody else's. */
function limited(limit: string, value: number): string[] {
  const script = `echo ${value} > /proc/sys/user/${limit} && exec "$@"`;
  return ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
}
