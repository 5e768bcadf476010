import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { INGEST_WAITS, type Sink, startIngest } from '../../../ingest/index.ts';
import {
  eventually,
  silent,
  type TestStore,
  withFolder,
  withStore,
} from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';

describe('a file that is removed while the sink is slow', () => {
  it('is read when it was listed before', () =>
    trying(async ({ log, record, room, stored }) => {
      // Both files exist when the files are listed next.
      room.close();
      await room.reached();
      renameSync(log, `${log}.1`);
      writeFileSync(log, '{"id":"b"}\n');
      record.close();
      room.open();
      await record.reached();
      unlinkSync(log);
      record.open();
      await stored(2);
    }));

  it('is read when it was made and removed meanwhile, as are the files after it', () =>
    trying(async ({ log, room, stored, held }) => {
      room.close();
      await room.reached();
      for (const id of ['b', 'c', 'd']) {
        renameSync(log, `${log}.1`);
        writeFileSync(log, `{"id":"${id}"}\n`);
        await held(log);
      }
      unlinkSync(log);
      unlinkSync(`${log}.1`);
      room.open();
      await stored(4);
    }));

  it('is read after more files have come and gone than may be open at a time', () =>
    trying(async ({ log, room, stored, held }) => {
      const many = Array.from({ length: 600 }, (_, n) => `${log}-${n}.log`);
      for (const [n, path] of many.entries()) writeFileSync(path, `{"id":"${n}"}\n`);
      await stored(601);
      for (const path of many) unlinkSync(path);
      await eventually(() => expect(openBelow(dirname(log))).to.be.at.most(1));
      room.close();
      await room.reached();
      renameSync(log, `${log}.1`);
      writeFileSync(log, '{"id":"b"}\n');
      await held(log);
      unlinkSync(log);
      unlinkSync(`${log}.1`);
      room.open();
      await stored(602);
    }));

  it('is not read when it stands behind a symbolic link', () =>
    trying(async ({ log, room, store, stored, held, data }) => {
      const outside = join(data, 'outside');
      mkdirSync(outside);
      const folder = join(dirname(log), 'folder');
      mkdirSync(folder);
      writeFileSync(join(folder, 'known.log'), '{"id":"b"}\n');
      await stored(2);
      room.close();
      await room.reached();
      renameSync(folder, `${folder}2`);
      symlinkSync(outside, folder);
      writeFileSync(join(outside, 'secret.log'), '{"id":"secret"}\n');
      writeFileSync(join(`${folder}2`, 'secret.log'), '{"id":"c"}\n');
      writeFileSync(`${log}.2`, '{"id":"d"}\n');
      await held(`${log}.2`);
      room.open();
      await stored(4);
      const { rows } = await store.query('select id from edge_logs order by id', {}, LIMITS);
      expect(rows.flat()).to.deep.equal(['a', 'b', 'c', 'd']);
    }));
});

const LIMITS = { maxRows: 100 };

interface Tried {
  readonly data: string;
  /** A log whose first line is stored. */
  readonly log: string;
  readonly store: TestStore;
  /** The gates before each round of work and before states are recorded. */
  readonly room: Gate;
  readonly record: Gate;
  /** Waits until this many lines are stored. */
  stored(lines: number): Promise<void>;
  /** Waits until this process has a file open. */
  held(path: string): Promise<void>;
}

function trying(action: (tried: Tried) => Promise<void>) {
  return withFolder((data) =>
    withStore(data, async (store) => {
      const [record, room] = [gate(), gate()];
      const sink: Sink = {
        ...store.sink,
        async room() {
          await room.passed();
          return null;
        },
        async record(...change) {
          await record.passed();
          await store.sink.record(...change);
        },
      };
      const folder = join(data, 'logs', 'edge_logs');
      mkdirSync(folder, { recursive: true });
      const log = join(folder, 'app.log');
      writeFileSync(log, '{"id":"a"}\n');
      const ingest = await startIngest(
        {
          logs: join(data, 'logs'),
          staging: store.staging,
          maxLine: 1 << 20,
          readerOf: lineReaders,
          log: silent,
          waits: { ...INGEST_WAITS, deleted: 100 },
        },
        sink,
      );
      const stored = (lines: number) =>
        eventually(async () => void expect((await store.ledger())[0]?.lines).to.equal(lines));
      const held = (path: string) =>
        eventually(() => {
          const open = readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`);
          const { ino } = statSync(path);
          const isOpen = (fd: string) => statSync(fd, { throwIfNoEntry: false })?.ino === ino;
          expect(open.some(isOpen), path).to.equal(true);
        });
      try {
        await stored(1);
        await action({ data, log, store, room, record, stored, held });
      } finally {
        room.open();
        record.open();
        await ingest.close();
      }
    }),
  );
}

/** How many files below a folder this process has open, those among them that are deleted. */
function openBelow(folder: string): number {
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return open.filter((path) => path.startsWith(`${folder}/`)).length;
}

interface Gate {
  close(): void;
  open(): void;
  passed(): Promise<void>;
  /** Waits until a caller has reached the gate. */
  reached(): Promise<void>;
}

/** Makes a gate that lets callers pass, or holds them until it is opened. */
function gate(): Gate {
  let wait = Promise.resolve();
  let [open, reach] = [() => {}, () => {}];
  let reached = Promise.resolve();
  return {
    close() {
      wait = new Promise((done) => {
        open = done;
      });
      reached = new Promise((done) => {
        reach = done;
      });
    },
    open: () => {
      open();
      wait = Promise.resolve();
    },
    passed: () => {
      reach();
      return wait;
    },
    reached: () => reached,
  };
}
