import { setImmediate as settled } from 'node:timers/promises';
import { expect } from 'chai';
import { createCache } from '../../../server/endpoints/cache.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
/** The lifetime of usage.api-counts. */
const WARMED = { caching: 900, warming: 300 };
const PLAIN = { caching: 900, warming: null };

const answer = (text: string) => ({ body: Buffer.from(text), headers: {} });

/** A cache, and a load that gives `1`, `2`, … as long as it is not told to fail or to wait. */
function setup(limits: { maxEntries?: number; maxBytes?: number } = {}) {
  const clock: FakeClock = fakeClock();
  const failed: unknown[] = [];
  const cache = createCache({
    maxEntries: limits.maxEntries ?? 100,
    maxBytes: limits.maxBytes ?? 1e6,
    clock,
    onRefreshFailed: (error) => failed.push(error),
  });
  const state = {
    loads: 0,
    fault: null as Error | null,
    gate: null as Promise<void> | null,
  };
  const load = async () => {
    const count = ++state.loads;
    await state.gate;
    if (state.fault) throw state.fault;
    return answer(String(count));
  };
  const ask = async (lifetime = WARMED as typeof WARMED | typeof PLAIN, key = 'a') => {
    const { body, age, hit } = await cache.get(key, lifetime, load);
    return { body: body.toString(), age, hit };
  };
  return { clock, cache, state, failed, ask };
}

/** A promise and its end. */
function gate() {
  let open = () => {};
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open };
}

async function thrown(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('nothing was thrown'),
    (error) => error,
  );
}

describe('cache', () => {
  it('gives the kept answer with its age until its time is up', async () => {
    const { clock, ask } = setup();
    expect(await ask(PLAIN)).to.deep.equal({ body: '1', age: 0, hit: false });
    expect(await ask(PLAIN)).to.deep.equal({ body: '1', age: 0, hit: true });
    await clock.advance(899_999);
    expect(await ask(PLAIN)).to.deep.equal({ body: '1', age: 899, hit: true });
    await clock.advance(1);
    expect(await ask(PLAIN)).to.deep.equal({ body: '2', age: 0, hit: false });
  });

  it('keeps answers of different keys apart', async () => {
    const { ask } = setup();
    expect((await ask(PLAIN, 'a')).body).to.equal('1');
    expect((await ask(PLAIN, 'b')).body).to.equal('2');
    expect((await ask(PLAIN, 'a')).body).to.equal('1');
  });

  it('loads once for all who ask at the same time', async () => {
    const { state, ask } = setup();
    const { wait, open } = gate();
    state.gate = wait;
    const answers = Promise.all(Array.from({ length: 20 }, () => ask()));
    await settled();
    expect(state.loads).to.equal(1);
    open();
    expect(new Set((await answers).map(({ body }) => body))).to.deep.equal(new Set(['1']));
    expect(state.loads).to.equal(1);
  });

  it('gives a failed load to all who waited for it, and does not keep it', async () => {
    const { state, ask } = setup();
    const { wait, open } = gate();
    state.gate = wait;
    state.fault = new Error('no');
    const both = Promise.all([thrown(ask()), thrown(ask())]);
    open();
    expect(await both).to.deep.equal([state.fault, state.fault]);
    expect(state.loads).to.equal(1);
    state.fault = null;
    expect(await ask()).to.deep.equal({ body: '2', age: 0, hit: false });
  });

  it('is as good as new after a load that throws before it gives a promise', async () => {
    const { cache } = setup();
    const error = new Error('at once');
    expect(
      await thrown(
        (async () =>
          cache.get('a', PLAIN, () => {
            throw error;
          }))(),
      ),
    ).to.equal(error);
    const { body } = await cache.get('a', PLAIN, async () => answer('later'));
    expect(body.toString()).to.equal('later');
  });

  it('forgets what was asked for longest ago, beyond so many entries', async () => {
    const { ask } = setup({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) await ask(PLAIN, key);
    expect((await ask(PLAIN, 'a')).hit).to.equal(true);
    expect((await ask(PLAIN, 'b')).hit).to.equal(false);
  });

  it('is bounded in bytes, and answers what it cannot keep', async () => {
    const { cache } = setup({ maxBytes: 1000 });
    const get = (key: string, size: number) =>
      cache.get(key, PLAIN, async () => answer('x'.repeat(size)));
    await get('a', 600);
    await get('b', 600);
    expect((await get('a', 600)).hit).to.equal(false);
    for (let round = 0; round < 2; round++) {
      const large = await get('large', 2000);
      expect(large.body.length).to.equal(2000);
      expect(large.hit).to.equal(false);
    }
    expect((await get('a', 600)).hit).to.equal(true);
  });

  it('counts keys among the bytes: they hold what callers send', async () => {
    const { cache } = setup({ maxBytes: 1000 });
    const get = (key: string) => cache.get(key, PLAIN, async () => answer('x'));
    await get(`a${'k'.repeat(700)}`);
    await get(`b${'k'.repeat(700)}`);
    expect((await get(`a${'k'.repeat(700)}`)).hit).to.equal(false);
  });

  it('forgets all when it is cleared', async () => {
    const { cache, ask } = setup();
    await ask();
    cache.clear();
    expect((await ask()).hit).to.equal(false);
  });
});

describe('cache: warming', () => {
  it('refreshes in the background, so that who asks is answered at once with a young answer', async () => {
    const { clock, ask, state } = setup();
    await ask();
    await clock.advance(5 * MINUTE - 1);
    expect(state.loads).to.equal(1);
    await clock.advance(1);
    expect(state.loads).to.equal(2);
    expect(await ask()).to.deep.equal({ body: '2', age: 0, hit: true });
    await clock.advance(4 * MINUTE);
    expect(await ask()).to.deep.equal({ body: '2', age: 240, hit: true });
  });

  it('goes on as long as it is asked for', async () => {
    const { clock, ask, state } = setup();
    await ask();
    for (let hours = 0; hours < 4 * 5; hours++) {
      await clock.advance(12 * MINUTE);
      expect((await ask()).hit).to.equal(true);
    }
    expect(state.loads).to.equal(1 + (20 * 12) / 5);
  });

  it('does not refresh without warming', async () => {
    const { clock, ask, state } = setup();
    await ask(PLAIN);
    await clock.advance(60 * MINUTE);
    expect(state.loads).to.equal(1);
    expect(clock.pending()).to.equal(0);
  });

  it('stops once nobody has asked for the lifetime of an answer', async () => {
    const { clock, ask, state } = setup();
    await ask();
    await clock.advance(24 * 60 * MINUTE);
    // At 5 and 10 minutes; at 15 nobody had asked for 15.
    expect(state.loads).to.equal(3);
    expect(clock.pending()).to.equal(0);
  });

  it('begins again when it had stopped and somebody asks', async () => {
    const { clock, ask, state } = setup();
    await ask();
    await clock.advance(24 * 60 * MINUTE);
    const before = state.loads;
    expect((await ask()).hit).to.equal(false);
    await clock.advance(5 * MINUTE);
    expect(state.loads).to.equal(before + 2);
    expect((await ask()).hit).to.equal(true);
  });

  it('keeps to one refresh at a time and one timer a key', async () => {
    const { clock, ask, state } = setup();
    await ask();
    for (let i = 0; i < 50; i++) await ask();
    expect(clock.pending()).to.equal(1);
    const { wait, open } = gate();
    state.gate = wait;
    await clock.advance(5 * MINUTE);
    expect(state.loads).to.equal(2);
    // While it is refreshed the old answer is given at once.
    expect(await ask()).to.deep.equal({ body: '1', age: 300, hit: true });
    open();
    await settled();
    expect(state.loads).to.equal(2);
    expect(clock.pending()).to.equal(1);
  });

  it('waits for the refresh that runs when the old answer ends meanwhile', async () => {
    const { clock, ask, state } = setup();
    await ask();
    const { wait, open } = gate();
    state.gate = wait;
    await clock.advance(15 * MINUTE);
    const asked = ask();
    await settled();
    expect(state.loads).to.equal(2);
    open();
    expect((await asked).body).to.equal('2');
  });

  it('keeps the old answer after a failed refresh until its time is up, and tells of each', async () => {
    const { clock, ask, state, failed } = setup();
    await ask();
    state.fault = new Error('the store is away');
    await clock.advance(5 * MINUTE);
    expect(failed).to.deep.equal([state.fault]);
    expect(await ask()).to.deep.equal({ body: '1', age: 300, hit: true });
    await clock.advance(10 * MINUTE - 1);
    expect(await ask()).to.deep.equal({ body: '1', age: 899, hit: true });
    await clock.advance(1);
    expect(await thrown(ask())).to.equal(state.fault);
  });

  it('refreshes again after a failed refresh', async () => {
    const { clock, ask, state } = setup();
    await ask();
    state.fault = new Error('the store is away');
    await clock.advance(5 * MINUTE);
    state.fault = null;
    await clock.advance(5 * MINUTE);
    expect(await ask()).to.deep.equal({ body: '3', age: 0, hit: true });
  });

  it('begins again after an outage that was longer than the lifetime', async () => {
    const { clock, ask, state } = setup();
    await ask();
    state.fault = new Error('the store is away');
    for (let i = 0; i < 5; i++) {
      await clock.advance(6 * MINUTE);
      await ask().catch(() => {});
    }
    state.fault = null;
    await ask();
    const before = state.loads;
    await clock.advance(5 * MINUTE);
    expect(state.loads).to.equal(before + 1);
  });

  it('does not refresh what was forgotten', async () => {
    const { clock, cache, ask, state } = setup();
    await ask();
    cache.clear();
    await clock.advance(60 * MINUTE);
    expect(state.loads).to.equal(1);
  });
});
