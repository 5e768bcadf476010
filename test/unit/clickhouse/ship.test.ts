import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ShipmentBroken,
  type ShipOptions,
  ship,
  type Warehouse,
} from '../../../server/clickhouse/ship.ts';
import { tokenOf } from '../../../server/clickhouse/shipment.ts';
import type { Shipment, ShipmentFile } from '../../../server/store/index.ts';

const ROWS = 5;
const CUT: Shipment = {
  node: 'd1c5b2a0-0000-4000-8000-000000000001',
  source: 'edge_logs',
  seq: 1,
  rows: ROWS,
  day: '2026-11-25',
  sha256: 'a0',
  endpoint: 'http://one.example.com',
};
/** So many lives of a process, and requests, are enough. */
const MOST_LIVES = 200;
const MOST_REQUESTS = 1000;

/** Ends a life of the process. */
class Killed extends Error {}

/** A store and a warehouse to which happens what `tape` says; when that is at its end nothing does. */
function world(tape: readonly number[]) {
  let next = 0;
  const draw = () => tape[next++] ?? 1;
  const chance = (of: number) => draw() % of === 0;
  /** Replicas commit tokens and rows at once, and one that is asked may have the rows later. */
  const isReplicated = chance(3);
  let stored: Shipment | null = CUT;
  let file: ShipmentFile | null = null;
  let versions = 0;
  let renewals = 0;
  let copies = 0;
  const tokens = new Set<string>();
  /** Tokens of INSERTs that are still running. */
  const running: string[] = [];
  let requests = 0;

  const land = (token: string) => {
    if (!tokens.has(token)) copies++;
    tokens.add(token);
  };
  const landAll = () => {
    for (const token of running.splice(0)) land(token);
  };
  const pass = () => {
    if (++requests > MOST_REQUESTS) throw new Killed();
    // None runs for ever.
    if (chance(3) || next > tape.length) {
      const token = running.shift();
      if (token !== undefined) land(token);
    }
  };
  const mayDie = () => {
    if (!chance(4)) return;
    // The file on the disk may be torn, and the engine another version by the next start.
    if (chance(2)) {
      file = null;
      // A replica that lags while the bytes change is beyond what the rules promise.
      if (!isReplicated) versions++;
    }
    throw new Killed();
  };

  const outbox: ShipOptions['outbox'] = {
    async file() {
      file ??= fileOf(`a${versions}`);
      return file;
    },
    async renew() {
      mayDie();
      file = fileOf(`r${++renewals}`);
      return file;
    },
    async mark(_shipment, { sha256 }) {
      mayDie();
      stored = { ...CUT, sha256 };
      mayDie();
    },
    async settle() {
      mayDie();
      stored = null;
      mayDie();
    },
  };
  const warehouse: Warehouse = {
    // Whoever asks waits for so long, and by then they have ended.
    get longestInsertMs() {
      landAll();
      return 0;
    },
    async insert(shipment) {
      pass();
      if (stored?.sha256 !== shipment.sha256) throw new Error('sent before that was committed');
      const token = tokenOf(shipment);
      const fate = draw() % 4;
      if (fate === 0) running.push(token);
      // Something else answers 200.
      else if (chance(4)) return;
      else if (fate === 2) throw new Error('the request was cut');
      else if (fate === 3 && !isReplicated) {
        // It is killed when it has written the token.
        tokens.add(token);
        throw new Error('the server was killed');
      } else land(token);
      mayDie();
      if (running.includes(token) || chance(3)) throw new Error('the reply was cut');
    },
    async count() {
      pass();
      // A token is known from a count of 0 to the end of the INSERT that follows it, and while an INSERT of it is running.
      // Replicas know a token for longer than one of them lags.
      const forgets = running.length === 0 && chance(4) && !(isReplicated && copies > 0);
      mayDie();
      if (chance(4)) throw new Error('no answer');
      if (isReplicated && chance(3)) return 0;
      if (forgets) tokens.clear();
      return copies * ROWS;
    },
    async look() {
      pass();
      mayDie();
      if (chance(4)) throw new Error('no answer');
      return { expired: 'none', forgets: !isReplicated };
    },
  };
  return {
    outbox,
    warehouse,
    stored: () => stored,
    copies() {
      landAll();
      return copies;
    },
  };
}

/** Ships over as many lives as it takes. */
async function shipped(tape: readonly number[]) {
  const one = world(tape);
  for (let life = 0; life < MOST_LIVES; life++) {
    const shipment = one.stored();
    if (!shipment) return one.copies();
    const signal = new AbortController().signal;
    await ship(shipment, { ...one, signal, isNew: life === 0, onDoubt }).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  }
  throw new Error('it is not shipped');
}

/** A kill is not an answer in doubt. Lets the test's time limit come between. */
const onDoubt = async (error: unknown) => {
  if (error instanceof Killed) throw error;
  await setImmediate();
};

function fileOf(sha256: string): ShipmentFile {
  const times = { oldest: '2026-11-25 10:00:00', newest: '2026-11-25 10:00:01' };
  return { path: 'a.parquet', sha256, columns: ['id'], ...times };
}

/** A table that may have a token without the rows, and keeps these for ever. */
const look: Warehouse['look'] = async () => ({ expired: 'none', forgets: true });

describe('a shipment', () => {
  it('is there once, whatever is cut, killed, forgotten or made anew on its way', async () => {
    // Mostly all is well, or a life would end before it begins.
    const events = fc.oneof(
      { weight: 2, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.nat(11) },
    );
    const tapes = fc.noBias(fc.array(events, { minLength: 20, maxLength: 60, size: 'max' }));
    await fc.assert(
      fc.asyncProperty(tapes, async (tape) => {
        expect(await shipped(tape)).to.equal(1);
      }),
      { numRuns: 5000 },
    );
  });

  it('is sent from a file that was made anew only when no INSERT of it can be running', async () => {
    const calls: string[] = [];
    const outbox: ShipOptions['outbox'] = {
      file: async () => fileOf('a1'),
      async renew() {
        throw new Error('nothing is renewed');
      },
      mark: async (_shipment, { sha256 }) => void calls.push(`mark ${sha256}`),
      settle: async () => void calls.push('settle'),
    };
    const warehouse: Warehouse = {
      get longestInsertMs() {
        calls.push('wait');
        return 0;
      },
      insert: async (shipment) => void calls.push(`insert ${shipment.sha256}`),
      async count() {
        calls.push('count');
        return calls.includes('insert a1') ? ROWS : 0;
      },
      look,
    };
    const signal = new AbortController().signal;
    await ship(CUT, { outbox, warehouse, signal, isNew: false, onDoubt });
    expect(calls).to.deep.equal([
      ...['count', 'wait', 'count', 'mark a1', 'insert a1', 'count', 'settle'],
    ]);
  });

  it('is sent with other bytes where the warehouse knows the token, and not the rows', async () => {
    const calls: string[] = [];
    const outbox: ShipOptions['outbox'] = {
      file: async () => fileOf('a0'),
      async renew() {
        calls.push('renew');
        return fileOf('r1');
      },
      mark: async (_shipment, { sha256 }) => void calls.push(`mark ${sha256}`),
      settle: async () => void calls.push('settle'),
    };
    const warehouse: Warehouse = {
      get longestInsertMs() {
        calls.push('wait');
        return 0;
      },
      // It confirms the first file, as it does where it knows the token.
      insert: async (shipment) => void calls.push(`insert ${shipment.sha256}`),
      async count() {
        calls.push('count');
        return calls.includes('insert r1') ? ROWS : 0;
      },
      look,
    };
    const signal = new AbortController().signal;
    await ship(CUT, { outbox, warehouse, signal, isNew: false, onDoubt });
    expect(calls).to.deep.equal([
      ...['count', 'insert a0', 'count', 'wait', 'count', 'renew', 'mark r1'],
      ...['insert r1', 'count', 'settle'],
    ]);
  });

  it('leaves the store though it is not there where the time to live of its table has removed it, and only then', async () => {
    const lives: [expired: 'none' | 'some' | 'all', count: number, end: string][] = [
      ['all', 0, 'settle'],
      ['all', 2, 'settle'],
      ['some', 2, 'settle'],
      ['none', 2, 'stop'],
      ['some', 0, 'wait'],
      ['none', 0, 'wait'],
    ];
    for (const [expired, there, end] of lives) {
      const calls: string[] = [];
      const stopping = new AbortController();
      const outbox: ShipOptions['outbox'] = {
        ...world([]).outbox,
        file: async () => fileOf('a0'),
        settle: async () => void calls.push('settle'),
      };
      const warehouse: Warehouse = {
        get longestInsertMs() {
          calls.push('wait');
          stopping.abort(new Error('wait'));
          return 0;
        },
        insert: async () => void calls.push('insert'),
        count: async () => there,
        look: async () => ({ expired, forgets: true }),
      };
      const { signal } = stopping;
      await ship(CUT, { outbox, warehouse, signal, isNew: true, onDoubt }).catch((error: unknown) =>
        calls.push(error instanceof ShipmentBroken ? 'stop' : ''),
      );
      expect(calls.filter(Boolean), `${expired}, ${there}`).to.deep.equal(['insert', end]);
    }
  });

  it('is not sent any more once a part of it is there', async () => {
    let sent = 0;
    const warehouse: Warehouse = {
      longestInsertMs: 0,
      async insert() {
        sent++;
        throw new Error('the reply was cut');
      },
      count: async () => ROWS - 1,
      look,
    };
    const { outbox } = world([]);
    const signal = new AbortController().signal;
    const failure = await ship(CUT, {
      outbox,
      warehouse,
      signal,
      isNew: true,
      onDoubt,
    }).catch((error) => error);
    expect(failure).to.be.instanceOf(ShipmentBroken);
    expect(failure.message).to.match(/^http:\/\/one\.example\.com has a part of shipment 1 of/);
    expect(sent).to.equal(1);
  });

  it('stays open where it is told to stop', async () => {
    const stopping = new AbortController();
    const warehouse: Warehouse = {
      longestInsertMs: 0,
      async insert() {
        throw new Error('the reply was cut');
      },
      async count() {
        stopping.abort(new Error('stop'));
        throw new Error('no answer');
      },
      look,
    };
    const { outbox, stored } = world([]);
    const failure = await ship(CUT, {
      outbox,
      warehouse,
      signal: stopping.signal,
      isNew: true,
      onDoubt,
    }).catch((error) => error);
    expect(failure.message).to.equal('stop');
    expect(stored()).to.equal(CUT);
  });
});
