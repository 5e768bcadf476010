import { expect } from 'chai';
import { eventually, withFolder, withStore } from '../support/helpers.ts';

const MB = 1024 * 1024;
/** Pieces that are more than 96 MB for the engine and 256 MB beside it. */
const MOST = 15;
const LONG = 'select sum(hash(a.i + b.i)) from range(10000000) a(i), range(1000000) b(i)';

describe('memory that the engine does not count', () => {
  it('ends the statement of a caller that has run longest, and no saved query', () =>
    withFolder((data) =>
      withStore(
        data,
        async (store) => {
          const left = new AbortController();
          const endOf = (query: Promise<unknown>) =>
            query.then(String, (error: { code?: string }) => error.code ?? String(error));
          const options = { maxRows: 1, signal: left.signal };
          const ended: string[] = [];
          const run = (name: string, pool: Pick<typeof store, 'query'>) =>
            endOf(pool.query(LONG, {}, options)).then((end) => ended.push(`${name}: ${end}`));
          const all = [run('saved', store), run('oldest', store.callerPool)];
          await eventually(() => expect(store.callerPool.stats().running).to.equal(1));
          all.push(run('second', store.callerPool));
          await eventually(() => expect(store.callerPool.stats().running).to.equal(2));
          // In the place of what aggregates keep outside of the engine's memory.
          const held: Buffer[] = [];
          await eventually(() => {
            if (ended.length === 0 && held.length < MOST) held.push(Buffer.alloc(40 * MB, 1));
            expect(ended[0]).to.equal('oldest: QUERY_TOO_LARGE');
          });
          // Not before the engine and what is beside it may have taken so much.
          expect(held.length * 40).to.be.above(200);
          held.length = 0;
          expect(ended.join()).not.to.include('saved');
          left.abort(new Error('left'));
          await Promise.all(all);
        },
        { memory: 96 * MB },
      ),
    ));
});
