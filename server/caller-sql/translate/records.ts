import {
  dashed,
  hasColumn,
  type MemberColumns,
  pathKey,
  type Shape,
} from '../../records/shapes.ts';
import { pathOf, type Step, withoutNull } from '../json-paths.ts';
import { lateIn, type Sql } from '../sql-fragment.ts';
import type { ColumnOf, Expression } from '../typed-expression.ts';
import { type Extra, type Field, mayHaveDashes, type ReadRecord } from './record-reading.ts';
import { type RecordRows, recordRows } from './record-rows.ts';

/**
 * The records within one JSON column of a relation, as far as a query unnests them: `unnest(metadata) as m`,
 * `unnest(m.request) as request`.
 */
export interface Records extends Pick<RecordRows, 'rows' | 'names'> {
  /**
   * Adds an unnested record: the members that lead to it from its parent, and whether a row without it is kept. Null when it
   * cannot be had this way, as the query has it already.
   */
  add(parent: RecordNode | null, steps: readonly string[], left: boolean): RecordNode | null;
  /**
   * Returns the column's own record, for names that lead into it without UNNEST. Null where the query unnests it, and for other steps than
   * names.
   */
  first(steps: readonly Step[]): RecordNode | null;
  /**
   * Returns `condition` with the texts and numbers of values read as columns beside these. A condition on such a column cannot fail, unlike
   * one that takes a value apart. So the engine drops rows by it before it takes the other values out of the JSON. It takes out a value as
   * often as this stands there: a value that stands there twice, and is not among `members`, is read as elsewhere.
   */
  apart(condition: Sql, members: MemberColumns | null): Sql;
  /** Has everything that is written of the query read so from now on. Not for rows that are grouped by values. */
  standApart(): void;
  /** Returns the members of the column that are read; null where all of it is. */
  shape(): Shape<null> | null;
  /** Whether those of them that `isRead` tells are read from columns of members. */
  areColumns(members: MemberColumns, isRead: (name: string) => boolean): boolean;
}

export interface RecordNode {
  readonly records: Records;
  /** A member of the record, or all of it without steps. */
  member(steps: readonly Step[]): Expression;
  /** Whether records of this kind are known to have such a member. */
  knows(steps: readonly Step[]): boolean;
  /** Whether the query names a member of it. */
  readonly isNamed: () => boolean;
}

/** Beyond so many records dotted names are taken out of the JSON one by one: a name of 31 took the planner 4 s and 300 MB, one of 12 0.1 s. */
const MAX_NODES = 12;

interface Node extends RecordNode, ReadRecord {
  readonly parent: Node | null;
  readonly fields: Map<string, Field>;
}

/**
 * The records of a column of the relation `table`; what is read of them is in columns that begin with `row`. `known`: the members that they are
 * known to have, by `pathKey`.
 */
export function recordsOf(
  table: string,
  row: string,
  memberOf: ColumnOf,
  known: ReadonlySet<string>,
): Records {
  const nodes: Node[] = [];
  const extras: Extra[] = [];
  const written = recordRows({ row, records: nodes, extras });
  /** The field that each late piece of a text or a number reads. */
  const fieldOfPiece = new WeakMap<object, Field>();
  /** Above 0 while what is spelled has them as columns. */
  let apart = 0;

  const records: Records = {
    add(parent, steps, left) {
      const last = steps.at(-1) ?? null;
      const outer = last === null ? null : recordOf(parent as Node | null, steps.slice(0, -1));
      return outer || last === null ? added(outer, last, { left, isFirst: false }) : null;
    },
    first: (steps) => (namesOf(steps, true) ? firstOf(null, null) : null),
    names: written.names,
    rows: written.rows,
    apart(condition, members) {
      const read = lateIn(condition).flatMap((piece) => fieldOfPiece.get(piece) ?? []);
      for (const field of new Set(read)) {
        if (members && hasColumn(members, field.path)) continue;
        field.isWhole ||= read.indexOf(field) !== read.lastIndexOf(field);
        field.asJson ||= field.isWhole;
      }
      const turn = (by: number) => ({
        spell() {
          apart += by;
          return '';
        },
      });
      return [turn(1), condition, turn(-1)];
    },
    standApart() {
      apart++;
    },
    shape() {
      const root: Shape<null> = new Map();
      const whole: (readonly string[])[] = [
        ...allFields().map(({ path }) => path),
        ...extras.map(({ record, steps: [first] }) =>
          typeof first === 'string' ? [...record.path, first] : record.path,
        ),
      ];
      // A record may stand under a key with dashes as well.
      if (whole.some((path) => path.length === 0) || nodes.some(mayHaveDashes)) return null;
      for (const { path } of nodes) shapeAt(root, path);
      for (const path of whole) {
        const [record, name] = [shapeAt(root, path.slice(0, -1)), path.at(-1) ?? ''];
        record?.set(name, null);
        const twin = record && dashed(name, record.keys());
        if (twin) record.set(twin, null);
      }
      return root;
    },
    areColumns(members, isRead) {
      const isColumn = ({ path }: Field) => hasColumn(members, path);
      const read = [
        ...allFields().map((field) => ({ name: field.name, column: isColumn(field) })),
        ...extras.map(({ name }) => ({ name, column: false })),
      ];
      return (
        written.haveColumns(members) &&
        read.every(({ name, column }) => column || !isRead(`${row}_${name}`))
      );
    },
  };
  return records;

  function allFields(): Field[] {
    return nodes.flatMap(({ fields }) => [...fields.values()]);
  }

  /** The record that names lead to from another one, or from the column; null where it cannot be had. */
  function recordOf(from: Node | null, names: readonly string[]): Node | null {
    if (nodes.length + names.length > MAX_NODES) return null;
    return names.reduce<Node | null>(
      (outer, name) => outer && firstOf(outer, name),
      from ?? firstOf(null, null),
    );
  }

  /** A record of which the first counts, whether it is the only one or not: each row has one, or none, and is kept. */
  function firstOf(parent: Node | null, name: string | null): Node | null {
    const known = nodes.find(
      (node) => node.isFirst && node.parent === parent && (node.path.at(-1) ?? null) === name,
    );
    return known ?? added(parent, name, { left: true, isFirst: true });
  }

  function added(
    parent: Node | null,
    name: string | null,
    rows: Pick<Node, 'left' | 'isFirst'>,
  ): Node | null {
    const path = [...(parent?.path ?? []), ...(name === null ? [] : [name])];
    // A structure has each member once, as a record or as a value.
    if ([...nodes, ...allFields()].some((taken) => clash(taken.path, path))) return null;
    // Throws for a name that no path can hold.
    pathOf(path);
    const fields = new Map<string, Field>();
    const node: Node = {
      records,
      parent,
      path,
      ...rows,
      fields,
      name: `n${nodes.length}`,
      place: `s.n${nodes.length}`,
      isNamed: () => fields.size > 0 || nodes.some((child) => child.parent === node),
      member(steps) {
        const names = namesOf(steps, parent === null && rows.isFirst);
        const last = names?.at(-1);
        const record = names && recordOf(node, names.slice(0, -1));
        const isField = record && last !== undefined && !isTaken(record, last);
        return isField ? fieldOf(record, last) : extra(node, steps);
      },
      knows(steps) {
        const names = namesOf(steps, parent === null && rows.isFirst);
        return names !== null && known.has(pathKey([...path, ...names]));
      },
    };
    nodes.push(node);
    return node;
  }

  function fieldOf(node: Node, first: string): Expression {
    // Throws for a name that no path can hold.
    pathOf([first]);
    const field = node.fields.get(first) ?? {
      name: `f${allFields().length}`,
      path: [...node.path, first],
      asText: false,
      asJson: false,
      asNumber: false,
      isWhole: false,
    };
    node.fields.set(first, field);
    const place = `${table}.${row}_${field.name}`;
    const isColumn = () => apart > 0 && !field.isWhole;
    const text = () => {
      if (!field.asJson) return place;
      return isColumn() ? `${place}_text` : `json_extract_string(${place}, '$')`;
    };
    const piece = (spell: () => string) => {
      const made = { spell };
      fieldOfPiece.set(made, field);
      return made;
    };
    return {
      kind: 'json',
      get sql() {
        field.asJson = true;
        return place;
      },
      get text() {
        field.asText = true;
        return piece(text);
      },
      get number() {
        field.asNumber = true;
        return piece(() => (isColumn() ? `${place}_number` : `try_cast(${text()} as double)`));
      },
      member: (steps) => node.member([first, ...steps]),
      memberOf,
      path: field.path,
    };
  }

  /** Members that differ in letter case alone are one to the engine; the structure can hold neither them nor a record twice. */
  function isTaken(node: Node, name: string): boolean {
    const twin = [...node.fields.keys()].some(
      (other) => other !== name && other.toLowerCase() === name.toLowerCase(),
    );
    return twin || nodes.some(({ path }) => startsWith(path, [...node.path, name]));
  }

  function extra(node: Node, steps: readonly Step[]): Expression {
    const known = extras.find((other) => other.record === node && sameSteps(other.steps, steps));
    const found = known ?? { record: node, steps, name: `w${extras.length}` };
    if (!known) extras.push(found);
    const place = `${table}.${row}_${found.name}`;
    return {
      kind: 'json',
      sql: withoutNull(place),
      text: `json_extract_string(${place}, '$')`,
      member: (more) => node.member([...steps, ...more]),
      memberOf,
    };
  }
}

/**
 * The names that lead to a value, where nothing else does: `[0]` before a name says what holds anyway. Null for other steps. `fromColumn`: the
 * steps begin at the column's value, and not at an element.
 */
function namesOf(steps: readonly Step[], fromColumn: boolean): string[] | null {
  const said = steps.filter((step, i) => {
    const isNested = i === 0 ? fromColumn : typeof steps[i - 1] === 'string';
    return !(step === 0 && isNested && typeof steps[i + 1] === 'string');
  });
  const names = said.filter((step) => typeof step === 'string');
  return names.length > 0 && names.length === said.length ? names : null;
}

/** The record in a shape that a path leads to, made where it is missing; null where it stands in what is read whole. */
function shapeAt(shape: Shape<null>, [name, ...rest]: readonly string[]): Shape<null> | null {
  if (name === undefined) return shape;
  const below = shape.get(name) ?? (shape.has(name) ? null : new Map<string, Shape<null> | null>());
  if (below === null) return null;
  shape.set(name, below);
  return shapeAt(below, rest);
}

function clash(left: readonly string[], right: readonly string[]): boolean {
  return (
    left.length === right.length &&
    left.every((name, i) => name.toLowerCase() === right[i]?.toLowerCase())
  );
}

function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return path.length >= beginning.length && clash(path.slice(0, beginning.length), beginning);
}

function sameSteps(left: readonly Step[], right: readonly Step[]): boolean {
  return left.length === right.length && left.every((step, i) => step === right[i]);
}
