import type { SupabaseSource } from '../../ingest/index.ts';
import { type Random, randomOf } from '../support/random.ts';
import { auth, platformAuth } from './auth.ts';
import {
  database,
  functionEvent,
  platformDatabase,
  platformRelay,
  pooler,
  realtime,
  relay,
  rest,
  storage,
} from './backend.ts';
import { kong, platformEdge } from './edge.ts';
import { microseconds } from './form.ts';
import { hostile } from './hostile.ts';
import { type Json, type Shape, weighted } from './shape.ts';

/** An entry as it is shipped. */
export interface Event {
  readonly source: SupabaseSource;
  /** Microseconds since the epoch. */
  readonly moment: number;
  readonly line: Readonly<Record<string, Json>>;
}

/** The project whose entries are asked for; those of the others must never be seen. */
export const PROJECT = 'default';
/** A project whose entries hold strange values: what comes back of them is not known, but something must. */
export const STRANGE_PROJECT = 'strange';
const OTHERS = ['other', 'Default', 'default2', null];

/** The id that entries of several sources carry, each of another project beside one of ours. */
export const ONE_ID = '8f1c2f6e-7f3b-4a0e-9f66-0f5c6a1b2c3d';

const STRANGE_COUNT = 150;

const END = microseconds('2026-08-21T12:00:00Z');
const HOUR = 3_600_000_000;

/** Moments that requests name as their bounds, at each of which every source has an entry. */
export const BOUNDS = [
  '2026-08-20T12:00:00Z',
  '2026-08-21T06:00:00Z',
  '2026-08-21T09:30:00Z',
  '2026-08-21T11:15:00Z',
  '2026-08-21T12:00:00Z',
].map(microseconds);

type Maker = (random: Random) => Shape;

interface Mixture {
  readonly count: number;
  readonly shape: Maker;
  /** What self-hosted shippers make of it, where that differs; a third of the entries. */
  readonly other?: Maker;
}

const MIXTURE: Record<SupabaseSource, Mixture> = {
  edge_logs: { count: 1700, shape: platformEdge, other: kong },
  postgres_logs: { count: 700, shape: platformDatabase, other: database },
  function_edge_logs: { count: 500, shape: platformRelay, other: relay },
  function_logs: { count: 350, shape: functionEvent },
  auth_logs: { count: 800, shape: platformAuth, other: auth },
  realtime_logs: { count: 250, shape: realtime },
  storage_logs: { count: 250, shape: storage },
  postgrest_logs: { count: 150, shape: rest },
  pgbouncer_logs: { count: 120, shape: pooler },
};

/** Some thousand entries of all sources over two days, the same for the same seed; most lie in the last six hours. */
export function events(seed: number): Event[] {
  const random = randomOf(seed);
  return (Object.keys(MIXTURE) as SupabaseSource[]).flatMap((source) => eventsOf(source, random));
}

function eventsOf(source: SupabaseSource, random: Random): Event[] {
  const { count, shape, other = shape } = MIXTURE[source];
  const taken = new Set(BOUNDS);
  const all = Array.from({ length: count }, (_, i) => {
    const marked = i < BOUNDS.length;
    const made = marked ? shape(random) : marred((random.below(3) ? shape : other)(random), random);
    const moment = BOUNDS[i] ?? anotherMoment(taken, random);
    const project = marked || random.below(8) ? PROJECT : random.pick(OTHERS);
    return event(source, moment, random.uuid(), project, made, random);
  });
  for (const project of [PROJECT, 'other']) {
    all.push(
      event(source, anotherMoment(taken, random), ONE_ID, project, fullest(shape, random), random),
    );
  }
  for (let i = 0; i < STRANGE_COUNT; i++) {
    const strange = hostile((random.below(2) ? shape : other)(random), random);
    const moment = anotherMoment(taken, random);
    all.push(event(source, moment, random.uuid(), STRANGE_PROJECT, strange, random));
  }
  return all;
}

/** Returns the shape of several that says most. */
function fullest(shape: Maker, random: Random): Shape {
  const shapes = Array.from({ length: 20 }, () => shape(random));
  const size = ({ metadata }: Shape) => JSON.stringify(metadata ?? null).length;
  return shapes.toSorted((a, b) => size(b) - size(a))[0] as Shape;
}

/** No two entries of a source share a moment, so that an order by it is one order. */
function anotherMoment(taken: Set<number>, random: Random): number {
  for (;;) {
    const back = random.next() * (random.below(5) < 3 ? 6 * HOUR : 48 * HOUR);
    // Shippers cut the moment to seconds, to milliseconds, or not at all.
    const unit = random.pick([1_000_000, 1000, 1]);
    const moment = Math.floor((END - back) / unit) * unit;
    if (taken.has(moment)) continue;
    taken.add(moment);
    return moment;
  }
}

/** The shape, or now and then what is left of it when something went missing on its way. */
function marred(shape: Shape, random: Random): Shape {
  const { metadata, ...rest } = shape;
  if (metadata === undefined || random.below(12)) return shape;
  const records = Array.isArray(metadata) ? metadata : [metadata];
  const first = records[0] as Record<string, Json>;
  const names = Object.keys(first);
  const name = random.pick(names);
  const without = Object.fromEntries(Object.entries(first).filter(([key]) => key !== name));
  return weighted<Shape>(
    random,
    [2, rest],
    [1, { ...rest, metadata: null }],
    [1, { ...rest, metadata: [] }],
    [2, { ...rest, metadata: without }],
    [2, { ...rest, metadata: { ...first, [name]: null } }],
    [1, { ...rest, metadata: { ...first, [name]: [] } }],
    [2, { ...rest, metadata: [first, without] }],
    [1, { ...shape, message: `${shape.message} "it's" \\d+ 100% _ 日本\t😀` }],
  );
}

function event(
  source: SupabaseSource,
  moment: number,
  id: string,
  project: string | null,
  { message, metadata, line }: Shape,
  random: Random,
): Event {
  const inside = metadata === undefined ? undefined : ofProject(metadata, project);
  // Where metadata names the project, the line itself need not.
  const named = inside !== undefined && JSON.stringify(inside).includes('"project');
  return {
    source,
    moment,
    line: {
      timestamp: stamp(moment, random),
      id,
      ...(project !== null && !(named && random.below(2)) ? { project } : {}),
      ...line,
      event_message: message,
      ...(inside === undefined ? {} : { metadata: inside }),
    },
  };
}

/** Metadata whose own naming of the project is that of the entry. */
function ofProject(metadata: Json, project: string | null): Json {
  if (Array.isArray(metadata)) return metadata.map((record) => ofProject(record, project));
  if (typeof metadata !== 'object' || metadata === null) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      (name === 'project' || name === 'project_ref') && typeof value === 'string' ? project : value,
    ]),
  );
}

/** One of the forms in which shippers write a moment, all of them exact. */
function stamp(moment: number, random: Random): Json {
  const milliseconds = Math.floor(moment / 1000);
  const micros = `${moment % 1_000_000}`.padStart(6, '0');
  const seconds = (at: number) => new Date(at).toISOString().slice(0, 19);
  return weighted<Json>(
    random,
    [6, `${seconds(milliseconds)}.${micros}Z`],
    [1, `${seconds(milliseconds)}.${micros}999Z`],
    [1, `${seconds(milliseconds + 7_200_000)}.${micros}+02:00`],
    [1, moment],
  );
}
