import type { Staging } from '../../../../ingest/batch/staging.ts';
import { createStoring } from '../../../../ingest/batch/storing.ts';
import { Tracker } from '../../../../ingest/identity/tracker.ts';
import { createRounds } from '../../../../ingest/rounds.ts';
import type { Batch, FileState, IngestLog, LineReader, Sink } from '../../../../ingest/types.ts';
import { INGEST_WAITS } from '../../../../ingest/waits.ts';
import { SimulatedDisk, SOURCE, UNREAD_NAME } from './disk.ts';

/** A log, and what two programs make of it that rotate it. The names say nothing. */
export const [LOG, ROTATED, SECOND] = ['app.log', 'kept/20261120-x.json', 'c-17.log'] as const;
type Name = typeof LOG | typeof ROTATED | typeof SECOND | `${number}/${typeof LOG}`;

/** Lines are told by their text. */
const AS_THEY_ARE: LineReader = {
  normalIn: () => () => true,
  read: (line) =>
    line.startsWith('{') && line.endsWith('}')
      ? {
          kind: 'row',
          text: `${line}\n`,
          repaired: false,
          isUndated: false,
          isFuture: false,
          isDoubled: false,
          undatedForm: null,
        }
      : { kind: 'rejected', reason: 'it is not an object' },
};

/** One step of a history. */
export interface Step {
  readonly do:
    | 'append'
    | 'half'
    | 'rename'
    | 'gzip'
    | 'copy'
    | 'second copy'
    | 'truncate'
    | 'delete'
    | 'create'
    | 'replace'
    | 'move away'
    | 'restart';
  readonly name: Name;
}

/** Every log begins with it. No moment in it tells one log from another. */
const HEADER =
  '{"id":"header","event_message":"the same bytes in every file, as a CSV header has them"}';

/** A file system, what ingest made of it, and what it ought to have made of it. */
export class Simulation {
  readonly disk: SimulatedDisk;
  /** What ingest has logged at warn. */
  readonly warnings: string[] = [];
  private readonly log: IngestLog = {
    debug() {},
    info() {},
    warn: (_, message) => this.warnings.push(message),
    error() {},
  };
  private readonly staged = new Map<string, Buffer>();
  private readonly stored = new Map<string, number>();
  private readonly states = new Map<number, FileState>();
  private readonly made = new Map<string, number>();
  private life: Awaited<ReturnType<Simulation['begin']>> | null = null;
  /** The first lines behind the banners of all logs that were seen. */
  private readonly logs = new Set<string>();
  /** Lines that were moved away before anybody saw them. */
  private readonly unseen = new Set<string>();
  private sequence = 0;
  private isCopy = false;
  /** A rotated file has got the name of the log. */
  private isBack = false;
  /** Ends the listing that is running. */
  private endListing: (() => Promise<void>) | null = null;

  constructor(births: boolean) {
    this.disk = new SimulatedDisk(births);
  }

  /** Whether a step has something to do. */
  applies(step: Step): boolean {
    const { disk } = this;
    if (step.do === 'restart') return step.name === LOG;
    // What takes the place of a file is compared with what was seen there, not with what has come there since.
    if (step.do === 'replace' && (step.name === ROTATED || this.isBack)) return false;
    if (step.do === 'create') return !disk.has(step.name);
    if (step.do === 'copy') return step.name === LOG && disk.has(LOG) && !this.grows();
    // Each second copy has a name of its own.
    if (step.do === 'second copy') return step.name === LOG && disk.has(LOG) && !disk.has(SECOND);
    // A line that was torn by copying is taken to be the whole one of the original.
    const isOfCopy = this.isCopy && (step.name === ROTATED || this.isBack);
    if (step.do === 'append' && isOfCopy && this.isTorn(step.name)) return false;
    if (step.do === 'truncate') return disk.text(step.name) !== '';
    return disk.has(step.name);
  }

  /** A rotated file that a copy is written over has grown if it begins as before ("Which file is it", docs/files.md). */
  private grows(): boolean {
    // A log that went on under this name is rewritten with its own beginning, and read from its start.
    const text = this.disk.text(LOG);
    if (text !== '' && this.disk.text(ROTATED).startsWith(text)) return true;
    const read = linesOf(this.disk.text(ROTATED)).map((line) => `${line}\n`);
    return this.disk.has(ROTATED) && this.disk.text(LOG).startsWith(read.join(''));
  }

  /** Whether lines of a file are stored. The banner may be that of another one. */
  private isRead(text: string): boolean {
    const lines = linesOf(text);
    return lines.some((line) => (line !== HEADER || lines.length === 1) && this.stored.has(line));
  }

  private isTorn(name: Name): boolean {
    return !/(^|\n)$/.test(this.disk.text(name));
  }

  async take(step: Step): Promise<void> {
    const { disk } = this;
    const { name } = step;
    switch (step.do) {
      case 'append':
        this.part(name);
        disk.append(name, `${this.line()}\n`);
        return;
      case 'half':
        this.part(name);
        disk.append(name, this.line().slice(0, 40));
        return;
      case 'rename':
        this.isBack ||= name === ROTATED;
        disk.rename(name, name === LOG ? ROTATED : LOG);
        return;
      case 'gzip':
        // What was read of it may be the banner alone.
        if (linesOf(disk.text(name)).length > 1 || this.isTorn(name)) this.banner(name);
        // gzip -f makes a new file in the place of an old one.
        if (disk.has(`${name}.gz`)) disk.unlink(`${name}.gz`);
        disk.write(`${name}.gz`, Buffer.from(disk.text(name)));
        disk.unlink(name);
        return;
      case 'copy':
        this.banner(LOG);
        disk.write(ROTATED, Buffer.from(disk.text(LOG)));
        this.isCopy = true;
        return;
      case 'second copy':
        this.banner(LOG);
        disk.write(SECOND, Buffer.from(disk.text(LOG)));
        return;
      case 'truncate':
        disk.write(name, Buffer.alloc(0));
        return;
      case 'delete':
        disk.unlink(name);
        return;
      case 'create':
        disk.append(name, `${HEADER}\n`);
        this.make(HEADER);
        return;
      case 'replace':
        // As an editor saves a file: a new one takes its place.
        this.banner(name);
        this.part(name);
        disk.write(`${name}~`, Buffer.from(`${disk.text(name)}${this.line()}\n`));
        disk.rename(`${name}~`, name);
        return;
      case 'move away':
        // To a name that is not read. A log that was not seen before is not read then.
        if (!disk.isKnown(name)) for (const line of linesOf(disk.text(name))) this.unseen.add(line);
        disk.rename(name, `${name}${UNREAD_NAME}`);
        return;
      case 'restart':
        disk.forget((text) => this.isRead(text));
        // Nothing is remembered of a log that was moved away before its first line was stored.
        for (const away of disk.names().filter((each) => each.endsWith(UNREAD_NAME))) {
          const text = disk.text(away);
          if (!this.isRead(text)) for (const line of linesOf(text)) this.unseen.add(line);
        }
        await this.endListing?.();
        await this.life?.tracker.close();
        this.life = null;
    }
  }

  /** Lets ingest look, and decide which file is which, but take nothing. */
  async meet(): Promise<void> {
    await this.endListing?.();
    this.disk.pass(1100);
    this.life ??= await this.begin();
    this.disk.see();
    await this.life.tracker.sweep();
  }

  /** Lets ingest be told of the names that there are, and no more. */
  async hold(): Promise<void> {
    this.life ??= await this.begin();
    this.disk.see();
    await this.life.tracker.held.holdAt(this.disk.names().map((name) => `${SOURCE}/${name}`));
  }

  /**
   * Lets ingest begin to list the folders, unless it does so already, and be told of the names that there are meanwhile. The listing ends
   * with the next look.
   */
  async list(isLate: boolean): Promise<void> {
    this.life ??= await this.begin();
    if (!this.endListing) {
      this.disk.pass(1100);
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      this.disk.listing = { isLate, ended };
      const sweep = this.life.tracker.sweep();
      if (this.disk.listing) throw new Error('BUG: the sweep has not begun with a listing');
      this.endListing = () => {
        this.endListing = null;
        end();
        return sweep;
      };
    }
    await this.hold();
  }

  /** Lets ingest look, at the folder so many times, and take whatever there is. Gives what is wrong then. */
  async look(sweeps = 2): Promise<string | null> {
    await this.endListing?.();
    if (sweeps > 0) this.disk.pass(1100);
    this.life ??= await this.begin();
    const { tracker, rounds, storing } = this.life;
    if (sweeps > 0) this.disk.see();
    let rested = false;
    for (let turn = 0; ; turn++) {
      if (turn > 50) return 'it does not come to rest';
      if (turn < sweeps) await tracker.sweep();
      await rounds.look();
      if (tracker.hasUndecided) await tracker.decideAll();
      const done = await rounds.work();
      await storing.stored();
      await rounds.letGo(true);
      await storing.stored();
      if (done !== 'nothing' || turn === 0) continue;
      if (!tracker.hasUndecided || rested) break;
      // What may still be on its way back is decided on once it is not.
      rested = true;
      for (let second = 0; second < 5; second++) {
        this.disk.pass(1100);
        await tracker.sweep();
      }
    }
    return this.fault();
  }

  /** Every whole line that stands must be there, and none more often than it was made. */
  private fault(): string | null {
    const standing = new Set<string>();
    for (const name of this.disk.names())
      for (const line of linesOf(this.disk.text(name))) standing.add(line);
    for (const line of standing)
      if (line !== '' && !this.stored.has(line) && !this.unseen.has(line)) return `lost: ${line}`;
    for (const name of this.disk.names()) {
      const [first, second] = linesOf(this.disk.text(name));
      if (first === HEADER && second !== undefined && !this.unseen.has(second))
        this.logs.add(second);
    }
    if ((this.stored.get(HEADER) ?? 0) < this.logs.size) return 'lost: the banner of a log';
    for (const [line, times] of this.stored)
      if (times > (this.made.get(line) ?? 1)) return `${times} times: ${line}`;
    return null;
  }

  private make(line: string): void {
    this.made.set(line, (this.made.get(line) ?? (line === HEADER ? 0 : 1)) + 1);
  }

  /** A copy of a file with nothing but the banner may be a log that has just begun: the banner may be stored again. */
  private banner(name: Name): void {
    if (this.disk.text(name).startsWith(HEADER)) this.make(HEADER);
  }

  /** A file that goes on differently than another one is another log: what both have in common may be stored again. */
  private part(name: Name): void {
    if (!this.disk.isBranch(name)) return;
    for (const line of linesOf(this.disk.text(name))) this.make(line);
  }

  private line(): string {
    const n = this.sequence++;
    const moment = new Date(Date.UTC(2026, 10, 20, 10, 0, n)).toISOString();
    return `{"timestamp":"${moment}","id":"n${n}","event_message":"a line of its own"}`;
  }

  private async begin() {
    const storing = createStoring(this.staging, this.sink, (states) =>
      tracker.files.committed(states),
    );
    const tracker: Tracker = new Tracker(
      this.disk,
      { ...this.sink, record: storing.record },
      this.log,
      INGEST_WAITS,
    );
    await tracker.files.reload();
    const options = {
      disk: this.disk,
      tracker,
      storing,
      sink: this.sink,
      maxLine: 4096,
      readerOf: () => AS_THEY_ARE,
      log: this.log,
      waits: INGEST_WAITS,
    };
    return { tracker, storing, rounds: await createRounds(options) };
  }

  /** Batches are staged in memory. */
  private readonly staging: Staging = {
    begin: (path) => {
      let bytes = Buffer.alloc(0);
      return {
        path,
        get size() {
          return bytes.length;
        },
        write(more) {
          bytes = Buffer.concat([bytes, more]);
          return null;
        },
        writeText(text) {
          return this.write(Buffer.from(text));
        },
        cut(size) {
          bytes = bytes.subarray(0, size);
        },
        close: async () => {
          this.staged.set(path, bytes);
        },
      };
    },
    remove: async (path) => {
      this.staged.delete(path);
    },
    removeAll: async () => this.staged.clear(),
  };

  private readonly sink: Sink = {
    parallelism: 1,
    capacity: { vectorRows: 2048, vectorBytes: 1e8, partBytes: 1e8, longBytes: 1e8 },
    newestBytes: async () => 0,
    files: async () => [...this.states.values()],
    append: async (batches) => {
      for (const batch of batches) this.store(batch);
    },
    record: async (states, forgotten) => {
      for (const id of forgotten) this.states.delete(id);
      for (const state of states) this.states.set(state.id, state);
    },
    room: async () => null,
    idle: async () => {},
  };

  private store({ staging, rejected, files }: Batch): void {
    const texts = (this.staged.get(staging) ?? '').toString().split('\n');
    for (const { line } of rejected) texts.push(Buffer.from(line).toString());
    for (const text of texts)
      if (text.trim() !== '') this.stored.set(text, (this.stored.get(text) ?? 0) + 1);
    for (const state of files) this.states.set(state.id, state);
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
