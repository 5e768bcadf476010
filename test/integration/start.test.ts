import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, spawnService, withFolder, withService } from '../support/helpers.ts';

describe('a start', () => {
  it('ends with 78 when a setting does not name a folder, and none can be made', () =>
    withFolder(async (folder) => {
      const [file, data] = [join(folder, 'file'), join(folder, 'data')];
      writeFileSync(file, '');
      mkdirSync(data);
      for (const [name, value] of [
        ['TAILPOND_DATA', file],
        ['TAILPOND_DATA', join(file, 'data')],
        ['TAILPOND_DATA', '/proc/data'],
        ['TAILPOND_ENDPOINTS', file],
        ['TAILPOND_ENDPOINTS', join(folder, 'nope')],
      ] as const) {
        const { child, errors } = spawnService(data, { env: { [name]: value } });
        await new Promise((ended) => child.once('close', ended));
        expect(child.exitCode, `${name}=${value}`).to.equal(78);
        expect(errors.join('\n')).to.include(name).and.include(JSON.stringify(value));
      }
    }));

  it('lets only its user read what it stores, whatever the umask and the earlier modes', () =>
    withFolder(async (data) => {
      const store = join(data, 'store');
      const inside = ['sh', '-c', 'umask 000; exec "$@"', 'sh'];
      const open = () =>
        readdirSync(store, { withFileTypes: true })
          .filter((entry) => entry.name.startsWith('tailpond.duckdb'))
          .filter(({ name }) => (statSync(join(store, name)).mode & 0o077) > 0)
          .map(({ name }) => name);
      const life = (id: string) =>
        withService(
          data,
          async ({ get }) => {
            const line = { id, timestamp: new Date().toISOString(), event_message: id };
            writeFileSync(join(data, `logs/edge_logs/${id}.log`), `${JSON.stringify(line)}\n`);
            await eventually(async () => {
              const { body } = await get('/api/ledger');
              expect(JSON.stringify(body)).to.include('"pending_bytes":0');
              expect(readdirSync(store).join()).to.include('.wal');
            });
            expect(open()).to.deep.equal([]);
          },
          { inside },
        );
      await life('a');
      chmodSync(store, 0o755);
      for (const name of readdirSync(store)) chmodSync(join(store, name), 0o644);
      await life('b');
    }));
});
