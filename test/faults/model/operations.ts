import fc from 'fast-check';

/**
 * One step of a history. `log` counts the logs of files.ts, `nth` the files of a log: 0 is the one that is written, 1 the
 * newest rotated one. A step for which there is nothing at the moment does nothing, so that every part of a history
 * is a history: that lets fast-check leave steps out until only those at fault remain.
 */
export type Operation =
  /** Whole lines of about `bytes` each; `bad`: the first of them is not JSON. */
  | { do: 'append'; log: number; nth: number; lines: number; bytes: number; bad: boolean }
  /** A part of a line; `whole`: all but its newline. */
  | { do: 'begin'; log: number; whole: boolean }
  /** The rest of a line that was begun, wherever its file is by now. */
  | { do: 'finish'; log: number; nth: number }
  /** Rotation by renaming; `create`: the new file is there at once, and is empty. */
  | { do: 'rename'; log: number; create: boolean }
  | { do: 'copytruncate'; log: number; between: readonly Operation[] }
  /** Compresses a rotated file; `between`: while the file and its `.gz` are both there. */
  | { do: 'gzip'; log: number; nth: number; between: readonly Operation[] }
  /** Rotations by renaming, one right after the other, with lines in each file; `packed`: as with `delaycompress`. */
  | { do: 'turns'; log: number; turns: number; packed: boolean }
  /** Rotation as logrotate does it with `compress`, without `delaycompress`: shift, drop the oldest, rename, create, pack, all at once. */
  | { do: 'rotate'; log: number; keep: number; header: boolean }
  /** Lines of another log whose name looks as a rotation of this one's. */
  | { do: 'twin'; log: number; number: number; header: boolean; lines: number }
  /** Room that the writer reserves; `torn`: after half a line. */
  | { do: 'reserve'; log: number; bytes: number; torn: boolean }
  | { do: 'truncate'; log: number; hole: boolean }
  /** Saves the log as it is, … */
  | { do: 'save'; log: number }
  /** … and puts it back in the place of what it has become. */
  | { do: 'put back'; log: number }
  | { do: 'delete'; log: number; nth: number }
  /** Deletes the file and makes it again at once, mostly with the same inode; `header`: with the line it always begins with. */
  | { do: 'recreate'; log: number; header: boolean; lines: number }
  | { do: 'wait'; ms: number }
  /** Waits until the service has taken everything. */
  | { do: 'settle' }
  | { do: 'kill' }
  /** SIGTERM, which must end with 0. */
  | { do: 'stop' }
  | { do: 'start' }
  /** A start that is killed after so many ms, whatever it has come to. */
  | { do: 'killed start'; ms: number }
  /** The disk of the store has so many bytes left; `up`: of a service that runs; `between`: until there is space again. */
  | { do: 'full'; left: number; up: boolean; between: readonly Operation[] };

export type History = readonly Operation[];

/** Histories of 8 to 25 steps; `mounts`: the store can have a disk of its own, which can be full. */
export function histories(logs: number, mounts: boolean): fc.Arbitrary<History> {
  const log = fc.nat({ max: logs - 1 });
  const nth = fc.nat({ max: 2 });
  const step = <Name extends Operation['do']>(
    name: Name,
    fields: { [Key in Exclude<keyof Of<Name>, 'do'>]: fc.Arbitrary<Of<Name>[Key]> },
  ) => fc.record({ do: fc.constant(name), ...fields } as never) as fc.Arbitrary<Operation>;

  const append = step('append', {
    log,
    nth: fc.oneof(
      { arbitrary: fc.constant(0), weight: 5 },
      { arbitrary: fc.constant(1), weight: 1 },
    ),
    lines: fc.integer({ min: 1, max: 5 }),
    bytes: fc.constantFrom(0, 60, 300, 1100),
    bad: fc.boolean(),
  });
  // Shorter than a look at hot files, than a sweep, and longer than both with the rest that a rotated name needs.
  const wait = step('wait', { ms: fc.constantFrom(1, 10, 40, 300, 1300) });
  const settle = step('settle', {});
  const [kill, stop, start] = [step('kill', {}), step('stop', {}), step('start', {})];
  const between = fc.array(fc.oneof(append, append, wait, settle, kill, start), { maxLength: 3 });

  const steps: fc.WeightedArbitrary<Operation>[] = [
    { weight: 8, arbitrary: append },
    { weight: 2, arbitrary: step('begin', { log, whole: fc.boolean() }) },
    { weight: 2, arbitrary: step('finish', { log, nth }) },
    { weight: 3, arbitrary: step('rename', { log, create: fc.boolean() }) },
    { weight: 3, arbitrary: step('copytruncate', { log, between }) },
    { weight: 2, arbitrary: step('gzip', { log, nth: fc.integer({ min: 1, max: 2 }), between }) },
    {
      weight: 2,
      arbitrary: step('turns', {
        log,
        turns: fc.integer({ min: 2, max: 4 }),
        packed: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: step('rotate', {
        log,
        keep: fc.integer({ min: 1, max: 2 }),
        header: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: step('twin', {
        log,
        number: fc.integer({ min: 1, max: 2 }),
        header: fc.boolean(),
        lines: fc.integer({ min: 0, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: step('reserve', {
        log,
        bytes: fc.constantFrom(100, 4096, 70_000, 3_000_000),
        torn: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: step('truncate', { log, hole: fc.boolean() }) },
    { weight: 1, arbitrary: step('save', { log }) },
    { weight: 1, arbitrary: step('put back', { log }) },
    { weight: 1, arbitrary: step('delete', { log, nth }) },
    {
      weight: 2,
      arbitrary: step('recreate', {
        log,
        header: fc.boolean(),
        lines: fc.nat({ max: 2 }),
      }),
    },
    { weight: 2, arbitrary: wait },
    { weight: 4, arbitrary: settle },
    { weight: 4, arbitrary: kill },
    { weight: 1, arbitrary: stop },
    { weight: 9, arbitrary: start },
    { weight: 1, arbitrary: step('killed start', { ms: fc.constantFrom(100, 400, 700) }) },
  ];
  // Too little for a staging file, for the log of a commit, and for the checkpoint of a stop or of an idle service.
  const left = fc.constantFrom(0, 4096, 12_288, 65_536);
  const soon = step('wait', { ms: fc.constant(300) });
  const idle = step('wait', { ms: fc.constant(2600) });
  const full = step('full', {
    left,
    up: fc.boolean(),
    between: fc.array(
      fc.oneof(
        ...steps,
        { weight: 12, arbitrary: append },
        { weight: 12, arbitrary: soon },
        { weight: 3, arbitrary: idle },
        { weight: 3, arbitrary: stop },
      ),
      { minLength: 3, maxLength: 7, size: 'max' },
    ),
  });
  return fc.array(fc.oneof(...steps, ...(mounts ? [{ weight: 4, arbitrary: full }] : [])), {
    minLength: 8,
    maxLength: 25,
    size: 'max',
  });
}

type Of<Name extends Operation['do']> = Extract<Operation, { do: Name }>;

/** The history as text that regressions.ts can take as it is. */
export function program(history: History): string {
  return `[\n${history.map((operation) => `  ${literal(operation)},`).join('\n')}\n]`;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([key, field]) => `${key}: ${literal(field)}`)
    .join(', ')} }`;
}
