import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Service, withFolder, withService } from '../helpers.ts';
import { faultCase, notHere } from './case.ts';

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
      withFolder((data) =>
        withService(
          data,
          async (service) => {
            drop(data, 'a.ndjson', 0, 10);
            await stored(service, 10);
            drop(data, 'a.ndjson', 10, 5);
            drop(data, 'deep/b.ndjson', 15, 5);
            await stored(service, 20);
            const warnings = service.log.filter(({ msg }) => /impaired/.test(String(msg)));
            expect(warnings).to.have.length(1);
            expect(await service.end('SIGTERM')).to.equal(0);
          },
          { inside },
        ),
      ),
    );
  }
});

/** Runs a command in a user namespace, which has inotify limits of its own; they are nobody else's. */
function limited(limit: string, value: number): string[] {
  const script = `echo ${value} > /proc/sys/user/${limit} && exec "$@"`;
  return ['unshare', '--user', '--map-root-user', 'sh', '-c', script, 'sh'];
}

function drop(data: string, name: string, from: number, count: number): void {
  const path = join(data, 'logs/edge_logs', name);
  mkdirSync(join(path, '..'), { recursive: true });
  const lines = Array.from({ length: count }, (_, i) => `{"id":"${from + i}"}\n`);
  appendFileSync(path, lines.join(''));
}

/** Every line is there, once. */
async function stored(service: Service, count: number): Promise<void> {
  await eventually(async () => {
    const { body } = await service.get('/api/ledger');
    const [edge] = body.result as { rows: number; stored: number }[];
    expect(edge).to.include({ rows: count, stored: count });
  });
}
