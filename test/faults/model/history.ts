import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually, type SpawnOptions } from '../../support/helpers.ts';
import { fill, free } from '../ballast.ts';
import { newExpectedLines } from '../expected-lines.ts';
import { withTmpfs } from '../mounts.ts';
import { type Place, placesOf } from '../places.ts';
import { answer, everythingIsRead, NAMED, SOURCES, whatItHas } from './answers.ts';
import { LOGS, type ModelFile, ModelFiles } from './files.ts';
import { killWhileStarting, type RunningService, startService } from './life.ts';
import { ModelLines } from './lines.ts';
import type { History, Operation } from './operations.ts';

/** What histories have done so far. */
export interface Tally {
  histories: number;
  operations: number;
  starts: number;
  kills: number;
  lines: number;
  'full disks': number;
  /** How many lives of the service have met one, by what they were doing; one may count in several places. */
  readonly met: Partial<Record<Place | 'start' | 'elsewhere', number>>;
}

/** Beyond what a slow machine needs: a copy that is not known by its name waits for a second, a file beside a deleted one five. */
const SETTLE_MS = 30_000;

/** The store of a history in which its disk is full is on a disk of its own; the logs are not, and lose nothing by it. */
const DISK_MB = 48;
/** The engine itself runs into the end of the disk. */
const UNGUARDED: SpawnOptions = { env: { TAILPOND_MIN_FREE: 'off' } };

/** ExpectedLines may be compared by one history at a time: this process can have one store open. */
let comparing: Promise<unknown> = Promise.resolve();

/** Runs a history in the data folder; throws when a line is lost or doubled, or the service is not well. */
export async function run(history: History, data: string, tally: Tally): Promise<void> {
  if (!history.some((operation) => operation.do === 'full')) return tell(history, data, tally, {});
  await withTmpfs(join(data, 'store'), DISK_MB, () => tell(history, data, tally, UNGUARDED));
}

async function tell(history: History, data: string, tally: Tally, options: SpawnOptions) {
  const files = new ModelFiles(join(data, 'logs'));
  const lines = new ModelLines(() => files.all());
  let service: RunningService | null = null;
  let runs = 0;
  /** The run of the service that is up; 0: none. */
  const up = () => (service ? runs : 0);

  let full = false;
  /** The service that is up has lived while the disk was full, and has not been seen well since. */
  let shaken = false;

  const start = async () => {
    if (service) return;
    lines.serviceBegins(++runs);
    tally.starts++;
    // The first sweep has then opened whatever is not under a rotated name, which may have to wait.
    const there = files.all().filter(({ path, log }) => path === LOGS[log]?.path);
    try {
      service = await startService(data, options);
    } catch (error) {
      lines.serviceEnds();
      // A supervisor must try again: 78 would tell it not to.
      if (!full || !/the service ended with 1:/.test(String(error))) throw error;
      tally.met.start = (tally.met.start ?? 0) + 1;
      return;
    }
    shaken = full;
    for (const file of there) file.openIn = runs;
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (!service) return;
    const { log } = service;
    const how = await service.end(signal);
    service = null;
    lines.serviceEnds();
    if (signal === 'SIGKILL' && how === signal) tally.kills++;
    const places = placesOf(log);
    for (const place of places) tally.met[place] = (tally.met[place] ?? 0) + 1;
    const well = signal === 'SIGKILL' ? signal : 0;
    // A checkpoint without space is the end of the engine, and that of the process: with 1, or by SIGKILL in a stop.
    const ends = shaken && places.has('checkpoint') ? [well, 1, 'SIGKILL'] : [well];
    expect(how, `the end by ${signal}`).to.be.oneOf(ends);
  };
  /** By a signal, too: a service whose engine has failed may end itself so. */
  const hasEnded = () =>
    service !== null && (service.child.exitCode !== null || service.child.signalCode !== null);
  /** What a supervisor does. */
  const startAgainIfEnded = async () => {
    if (hasEnded()) await end('SIGKILL');
    await start();
  };
  const settle = async () => {
    if (!service) return;
    if (full) {
      // What it says it has, it must have; it may say nothing, and come to nothing.
      const said = await whatItHas(service.get, lines).catch(() => null);
      if (said) lines.take(said.has, runs);
      return;
    }
    await eventually(async () => {
      if (shaken) await startAgainIfEnded();
      const { get } = service as RunningService;
      const said = await whatItHas(get, lines);
      lines.take(said.has, runs);
      const due = lines
        .due()
        .filter(({ source, id }) => id === null || source === NAMED)
        .map(({ source, text }) => `${source}: ${text}`);
      if (due.length > 0) throw new Error(`not taken:${list(due)}`);
      for (const source of SOURCES) {
        const [least] = lines.rows(source);
        const rows = said.rows.get(source) ?? 0;
        if (rows < least) throw new Error(`${rows} rows of ${source} instead of ${least} or more`);
      }
      await answer(get, '/readyz');
    }, SETTLE_MS);
    shaken = false;
    const { get } = service as RunningService;
    const met = await everythingIsRead(get, files.all()).then(
      () => true,
      () => false,
    );
    if (met) for (const file of files.all()) file.met = true;
  };
  const lookedAtAll = async () => {
    const { get } = service as RunningService;
    await eventually(() => everythingIsRead(get, files.all()), SETTLE_MS);
    for (const file of files.all()) file.short = false;
  };
  const append = (file: ModelFile, text: string) => {
    files.append(file, file.rest + text);
    file.rest = '';
    lines.stands(file, up());
  };
  const remove = (file: ModelFile) => {
    lines.goes(file, up());
    files.delete(file);
  };
  const createFile = (log: number, text: string, header: boolean) => {
    const file = files.create(log, text);
    lines.stands(file, up());
    if (header) lines.begins(file, up());
  };
  const unmetCopies = (of: number) =>
    files.all().filter(({ log, copy, met }) => log === of && copy && !met);
  const batch = (count: number, bytes: number, bad = false) =>
    Array.from({ length: count }, (_, i) => lines.make(bytes, bad && i === 0)).join('');

  const perform = async (operation: Operation): Promise<void> => {
    tally.operations++;
    if (hasEnded()) await end('SIGKILL');
    switch (operation.do) {
      case 'append': {
        const { log, nth, bytes, bad } = operation;
        const file = files.at(log, nth) ?? (nth === 0 ? files.create(log) : undefined);
        // Behind room only what begins as a line does is told from the one that was torn before it.
        if (file && !file.copy) append(file, batch(operation.lines, bytes, bad && !file.torn));
        return;
      }
      case 'begin': {
        const file = files.at(operation.log, 0) ?? files.create(operation.log);
        const line = lines.make(60);
        const cut = operation.whole ? line.length - 1 : line.length >> 1;
        append(file, line.slice(0, cut));
        file.rest = line.slice(cut);
        return;
      }
      case 'finish': {
        const file = files.at(operation.log, operation.nth);
        if (file && file.rest !== '') append(file, '');
        return;
      }
      case 'rename': {
        const file = files.at(operation.log, 0);
        if (!file) return;
        lines.mayBeTwice(unmetCopies(file.log));
        files.rename(file);
        if (operation.create) files.create(operation.log);
        return;
      }
      case 'turns': {
        const { log, packed } = operation;
        for (let turn = 0; turn < operation.turns; turn++) {
          await perform({ do: 'append', log, nth: 0, lines: 2, bytes: 60, bad: false });
          await perform({ do: 'rename', log, create: true });
          if (packed) await perform({ do: 'gzip', log, nth: 2, between: [] });
        }
        return;
      }
      case 'copytruncate': {
        const file = files.at(operation.log, 0);
        if (!file) return;
        const copy = files.copy(file);
        for (const step of operation.between) await perform(step);
        copy.short = copy.text.length < file.text.length;
        files.truncate(file);
        return;
      }
      case 'gzip': {
        const file = files.at(operation.log, operation.nth);
        // A writer that is not done with the file would write to what gzip removes.
        if (!file || file.packed || file.rest !== '') return;
        // As gzip, which leaves both as they are.
        if (files.all().some(({ path }) => path === `${file.path}.gz`)) return;
        const { text } = file;
        lines.stands(files.pack(file), up());
        for (const step of operation.between) await perform(step);
        if (file.text === text) remove(file);
        return;
      }
      case 'rotate': {
        const { log, keep, header } = operation;
        const file = files.at(log, 0);
        if (file?.rest !== '') return;
        lines.mayBeTwice(unmetCopies(log));
        files.rename(file);
        for (const old of files.beyond(log, keep)) remove(old);
        createFile(log, header ? (LOGS[log]?.header ?? '') : '', header);
        lines.stands(files.pack(file), up());
        remove(file);
        return;
      }
      case 'twin': {
        const { log, number, header } = operation;
        const there = files.twin(log, number);
        const text = batch(operation.lines, 60);
        if (there) return append(there, text);
        if (text === '' && !header) return;
        const start = header ? (LOGS[log]?.header ?? '') : '';
        const twin = files.createTwin(log, number, start + text);
        lines.stands(twin, up());
        if (header) lines.begins(twin, up());
        return;
      }
      case 'reserve': {
        const file = files.at(operation.log, 0);
        // Behind a torn line another half has no newline that would end either.
        if (file?.rest !== '' || file.torn) return;
        if (operation.torn) await perform({ do: 'begin', log: operation.log, whole: false });
        // The line stays torn.
        file.rest = '';
        file.torn ||= operation.torn;
        files.reserve(file, operation.bytes, operation.torn);
        return;
      }
      case 'truncate': {
        const file = files.at(operation.log, 0);
        if (file) files.truncate(file, operation.hole);
        return;
      }
      case 'save':
        return files.save(operation.log);
      case 'put back': {
        const { log } = operation;
        const old = files.at(log, 0);
        if (old) remove(old);
        const file = files.putBack(log);
        if (!file) return;
        const { text } = file;
        // Behind the last proof of what was read nothing tells that it is an older copy ("Which file is it", docs/files.md): a
        // quarter of what was read since, and all of it where it is not an older copy.
        const isOlder = old?.met && old.text.startsWith(text) && old.text.length <= 2 * text.length;
        lines.mayBeTwice([isOlder ? { ...file, text: text.slice(text.length * 0.7) } : file]);
        lines.stands(file, up());
        return;
      }
      case 'delete': {
        const file = files.at(operation.log, operation.nth);
        if (file) remove(file);
        return;
      }
      case 'recreate': {
        const { log, header } = operation;
        const old = files.at(log, 0);
        if (old) remove(old);
        const text = batch(operation.lines, 60);
        createFile(log, header ? `${LOGS[log]?.header}${text}` : text, header);
        return;
      }
      case 'wait':
        await delay(operation.ms);
        return;
      case 'settle':
        return settle();
      case 'kill':
        return end('SIGKILL');
      case 'stop':
        return end('SIGTERM');
      case 'start':
        return start();
      case 'killed start':
        if (service) return;
        lines.serviceBegins(++runs);
        tally.kills++;
        await killWhileStarting(data, operation.ms, options);
        lines.serviceEnds();
        return;
      case 'full':
        if (operation.up) await start();
        tally['full disks']++;
        fill(join(data, 'store'), operation.left);
        full = true;
        shaken = true;
        for (const step of operation.between) await perform(step);
        full = false;
        free(join(data, 'store'));
    }
  };

  try {
    for (const operation of history) await perform(operation);
    await startAgainIfEnded();
    await settle();
    if (files.all().some(({ short }) => short)) await lookedAtAll();
    await end('SIGTERM');
    // Whatever was not looked at so far, such as a copy of what is known, is looked at now: it must not be doubled.
    await start();
    await lookedAtAll();
    await settle();
    await end('SIGTERM');
  } finally {
    await end('SIGKILL').catch(() => {});
  }
  const expectedLines = newExpectedLines();
  lines.enter(expectedLines);
  comparing = comparing.catch(() => {}).then(() => expectedLines.differences(data));
  const differences = (await comparing) as string[];
  if (differences.length > 0) throw new Error(`the store differs:${list(differences)}`);
  tally.histories++;
  tally.lines += lines.made;
}

/** The first of some texts, each in a line of its own. */
function list(texts: readonly string[]): string {
  return texts
    .slice(0, 5)
    .map((text) => `\n  ${text.slice(0, 120)}`)
    .join('');
}
