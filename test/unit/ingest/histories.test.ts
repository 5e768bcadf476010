import { expect } from 'chai';
import { LONG } from '../../faults/case.ts';
import { SLOW } from '../../support/slow.ts';
import { LOG, ROTATED, Simulation } from './simulation/history.ts';
import { tell, tellAll } from './simulation/tell.ts';

/** One of so many histories of a kind that has some ten thousands is told in a run that is not the long one. */
const SAMPLE = LONG ? 1 : 60;

describe('every history of a log and its rotation, with inodes that are used again at once', () => {
  for (const births of [true, false])
    it(`of up to three steps, seen, unseen, met, held or while a listing runs, where inodes have ${births ? 'a' : 'no'} birth: every line once`, async () => {
      for (const length of [1, 2, 3])
        await tellAll(length, 6, births, { of: length === 3 ? SAMPLE : 1 });
    }).timeout(300_000);

  it('of a copy whose original is rewritten before it was read: every line once', async () => {
    const steps = (['create', 'copy', 'truncate', 'append', 'append'] as const).map((what) => ({
      do: what,
      name: LOG,
    }));
    expect(await tell(steps, ['unseen', 'met', 'unseen', 'unseen'], true)).to.equal(null);
  });

  it('of a log that is copied, and replaced while a listing runs: every line once', async () => {
    const steps = [
      { do: 'create', name: LOG },
      { do: 'copy', name: LOG },
      { do: 'append', name: ROTATED },
      { do: 'replace', name: LOG },
    ] as const;
    for (const births of [true, false])
      for (const first of ['seen', 'unseen', 'met', 'held'] as const) {
        const after = [first, 'listing', 'unseen'] as const;
        expect(await tell(steps, after, births)).to.equal(null);
      }
  });

  it('of a log that is rewritten after it was met, read, copied and truncated: every line once', async () => {
    const linesOf = (log: string, count: number) =>
      Array.from(
        { length: count },
        (_, n) =>
          `{"timestamp":"2026-11-20T10:00:00Z","id":"${log} ${n}","text":"${'x'.repeat(80)}"}\n`,
      ).join('');
    const simulation = new Simulation(true);
    const { disk } = simulation;
    disk.append(LOG, linesOf('old', 20));
    await simulation.meet();
    disk.write(LOG, Buffer.from(linesOf('new', 5)));
    expect(await simulation.look(0)).to.equal(null);
    disk.append(LOG, linesOf('more', 15));
    disk.write(ROTATED, Buffer.from(disk.text(LOG)));
    disk.write(LOG, Buffer.alloc(0));
    expect(await simulation.look()).to.equal(null);
  });

  for (const [how, more] of [
    ['is as long', 0],
    ['is longer', 1000],
    ['is shorter', -1000],
  ] as const)
    it(`of a long log that is truncated and written anew before any of its reads, and ${how} then: every line once`, async () => {
      const linesOf = (log: string, count: number) =>
        Array.from(
          { length: count },
          (_, n) => `{"id":"${log} ${n}","text":"${'x'.repeat(900)}"}\n`,
        );
      for (let [turn, reads] = [0, 1]; reads > turn; turn++) {
        const simulation = new Simulation(true);
        const { disk } = simulation;
        disk.append(LOG, linesOf('old', 3000).join(''));
        reads = 0;
        disk.beforeRead = () => {
          if (reads++ === turn) disk.write(LOG, Buffer.from(linesOf('new', 3000 + more).join('')));
        };
        expect(await simulation.look(), `before read ${turn}`).to.equal(null);
      }
    });

  it('of a long log, some of whose lines are no rows, a read of which fails: every line once', async () => {
    for (let [turn, reads] = [0, 1]; reads > turn; turn++) {
      const simulation = new Simulation(true);
      const { disk } = simulation;
      const lines = Array.from({ length: 3000 }, (_, n) =>
        n % 100 === 7 ? `no row ${n}\n` : `{"id":"${n}","text":"${'x'.repeat(900)}"}\n`,
      );
      disk.append(LOG, lines.join(''));
      // These share its batch.
      for (const name of ['before.log', 'behind.log']) disk.append(name, `{"id":"${name}"}\n`);
      reads = 0;
      disk.beforeRead = () => {
        if (reads++ === turn) throw new Error('this read was made to fail');
      };
      expect(await simulation.look(), `read ${turn}`).to.equal(null);
    }
  });

  it('of many logs of one name, each in a folder, that are packed before any was read: every line once', async () => {
    const simulation = new Simulation(true);
    const names = Array.from({ length: 40 }, (_, n) => `${n}/${LOG}` as const);
    for (const name of names) await simulation.take({ do: 'append', name });
    await simulation.hold();
    for (const name of names) await simulation.take({ do: 'gzip', name });
    expect(await simulation.look()).to.equal(null);
  });

  it('of one log that is packed many times before any was read: every line once', async () => {
    const simulation = new Simulation(true);
    for (let n = 0; n < 40; n++) {
      await simulation.take({ do: 'append', name: LOG });
      await simulation.hold();
      await simulation.take({ do: 'rename', name: LOG });
      await simulation.take({ do: 'gzip', name: ROTATED });
      simulation.disk.rename(`${ROTATED}.gz`, `${LOG}.${100 - n}.gz`);
    }
    expect(await simulation.look()).to.equal(null);
  });

  it('of a log that is copied and truncated between two looks at the folder: it is not said to be read anew', async () => {
    const simulation = new Simulation(true);
    const take = (what: 'create' | 'append' | 'copy' | 'truncate') =>
      simulation.take({ do: what, name: LOG });
    await take('create');
    await take('append');
    expect(await simulation.look()).to.equal(null);
    for (const what of ['copy', 'truncate', 'append'] as const) await take(what);
    // It is open, so that it is seen at once, and its copy later.
    await simulation.look(0);
    expect(await simulation.look()).to.equal(null);
    await take('truncate');
    await take('append');
    expect(await simulation.look()).to.equal(null);
    expect(simulation.warnings).to.have.length(1);
  });

  it('of a log whose copy goes on with half a line, and is deleted: every line once', async () => {
    const steps = [
      { do: 'create', name: LOG },
      { do: 'replace', name: LOG },
      { do: 'copy', name: LOG },
      { do: 'half', name: ROTATED },
      { do: 'rename', name: LOG },
      { do: 'create', name: LOG },
    ] as const;
    expect(await tell(steps, [], true)).to.equal(null);
  });

  it('of half a line that is copied, goes on, and is packed: every line once', async () => {
    const steps = [
      { do: 'half', name: LOG },
      { do: 'copy', name: LOG },
      { do: 'half', name: LOG },
      { do: 'gzip', name: ROTATED },
    ] as const;
    const first = { do: 'create', name: LOG } as const;
    const emptied = { do: 'truncate', name: LOG } as const;
    expect(await tell([first, emptied, ...steps], [], true)).to.equal(null);
  });

  it('of a log that is put back while nobody looks, since storing takes long: every line once', async () => {
    const simulation = new Simulation(true);
    const { disk } = simulation;
    const take = (what: 'create' | 'append' | 'restart' | 'delete') =>
      simulation.take({ do: what, name: LOG });
    for (const what of ['create', 'append', 'append', 'append'] as const) await take(what);
    expect(await simulation.look()).to.equal(null);
    const whole = disk.text(LOG);
    const half = whole.lastIndexOf('\n', whole.length / 2) + 1;
    await take('restart');
    await take('delete');
    disk.append(LOG, whole.slice(0, half));
    await simulation.meet();
    disk.pass(10_000);
    disk.append(LOG, whole.slice(half, -10));
    await simulation.look(0);
    disk.append(LOG, whole.slice(-10));
    expect(await simulation.look()).to.equal(null);
  });

  for (const births of [true, false])
    it(`of four steps, seen, unseen, met or held, where inodes have ${births ? 'a' : 'no'} birth: every line once ${SLOW}`, async () => {
      expect(await tellAll(4, 4, births, { of: SAMPLE })).to.be.above(30_000 / SAMPLE);
    }).timeout(2_400_000);
});
