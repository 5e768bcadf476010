import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { withFolder, withIngest, withStore } from '../support/helpers.ts';

const { signal } = new AbortController();

describe('a backup of a store', () => {
  it('is refused where it would take the space that is to stay free, and leaves nothing', () =>
    withFolder(async (data) => {
      await withIngest(data, async ({ store, write, lines }) => {
        write('edge_logs/a.ndjson', '{"id":"a"}\n');
        await lines(1);
        expect(await store.backup(signal)).to.be.a('string');
      });
      await withStore(
        data,
        async (store) => {
          const failure = await store.backup(signal).catch((error: unknown) => error);
          expect(String(failure)).to.match(
            /There is no room for a backup.* beside TAILPOND_MIN_FREE/,
          );
          expect(readdirSync(store.staging)).to.deep.equal([]);
        },
        { minFree: Number.MAX_SAFE_INTEGER },
      );
    }));
});
