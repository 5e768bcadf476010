/** Remembers by the names of lines which members may be the facts of a row: lines of one program have few orders of names. */
import type { FieldTable, Role } from './fields.ts';
import type { Member } from './line.ts';

/** The members of a line by their names alone. */
export interface Shape {
  readonly names: readonly string[];
  /** Members that may be a fact, the preferred first. */
  readonly places: Readonly<Record<Role, readonly Place[]>>;
  /** Members whose objects are to be looked into. */
  readonly leading: readonly number[];
  /** Two members have one name. A token of one project puts `project` before what the line says. */
  readonly isDoubled: boolean;
}

/** A member that may be a fact of a row. */
interface Place {
  readonly at: number;
  readonly rank: number;
}

/** Another spelling of a name comes behind that of the table: `@timestamp` behind `timestamp`. */
export const OTHER_SPELLING = 0.5;
/** A reader of text sees fewer orders of names at a time. */
const MOST_SHAPES = 8;
/** A line of more members makes a shape of its own, which is not kept. */
const MOST_NAMES = 64;
/** In V8 a part of a text that has so many characters holds the whole text. */
const PART_CHARS = 13;

export class Shapes {
  readonly #table: FieldTable;
  readonly #known: Shape[] = [];
  #next = 0;

  constructor(table: FieldTable) {
    this.#table = table;
  }

  of(members: readonly Member[]): Shape {
    for (const shape of this.#known) if (hasNames(members, shape.names)) return shape;
    const shape = this.#make(members);
    if (members.length > MOST_NAMES) return shape;
    this.#known[this.#next] = shape;
    this.#next = (this.#next + 1) % MOST_SHAPES;
    return shape;
  }

  #make(members: readonly Member[]): Shape {
    const names = members.map(({ name }) => apart(name));
    const places = newRoles<Place>();
    const leading: number[] = [];
    for (const [at, name] of names.entries()) {
      const field = this.#table.find(name);
      if (field)
        places[field.role].push({
          at,
          rank: field.rank + (field.name === name ? 0 : OTHER_SPELLING),
        });
      if (this.#table.leads(name)) leading.push(at);
    }
    for (const role of Object.values(places)) role.sort((a, b) => a.rank - b.rank);
    const counted = names.filter((name) => name !== 'project');
    return { names, places, leading, isDoubled: new Set(counted).size < counted.length };
  }
}

/** Returns a name without the line that it is a part of, which may have megabytes. */
function apart(name: string): string {
  if (name.length < PART_CHARS) return name;
  return Buffer.from(name, 'utf16le').toString('utf16le');
}

/** Returns an empty list for each role. */
export function newRoles<T>(): Record<Role, T[]> {
  return {
    id: [],
    project: [],
    time: [],
    message: [],
    severity: [],
    status: [],
    trace: [],
    request: [],
  };
}

function hasNames(members: readonly Member[], names: readonly string[]): boolean {
  if (members.length !== names.length) return false;
  for (let at = 0; at < names.length; at++) if (members[at]?.name !== names[at]) return false;
  return true;
}
