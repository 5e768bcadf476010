import {
  areObjects,
  areSingleOrObjects,
  areSingles,
  dashed,
  isArray,
  listAt,
  type MemberColumns,
  NONE,
  objectAt,
  pathKey,
  pathTo,
  readShapes,
  recordAt,
  type Shape,
  structureOf,
  valueAt,
} from '../../records/shapes.ts';
import { pathOf, pathsFromElement, pathsOf, type Step } from '../json-paths.ts';
import { identifier, join, lateIn, literal, type Sql, sql } from '../sql-fragment.ts';
import type { ColumnOf, Expression } from '../typed-expression.ts';

/**
 * The records within one JSON column of a relation, as far as a query unnests them: `unnest(metadata) as m`,
 * `unnest(m.request) as request`. All fields of them that the query names are taken out by one pass over the column,
 * `from_json` with the structure that is asked for; one UNNEST gives the rows (docs/decisions/0010). There are two structures:
 * of records that are objects, and of records that are the only elements of arrays. Other values go a slower way, element by
 * element. Where members of the column have columns of their own, the rows that these were filled for are read by them
 * (docs/decisions/0019).
 */
export interface Records {
  /**
   * Adds an unnested record: the members that lead to it from its parent, and whether a row without it is kept. Null when it
   * cannot be had this way, as the query has it already.
   */
  add(parent: RecordNode | null, steps: readonly string[], left: boolean): RecordNode | null;
  /** The rows of `source` with the records of its column: the columns `kept`, and `names`. */
  rows(source: Source): Sql;
  /** The columns that hold what the query names of the records, in the order of `rows`. */
  names(): string[];
  /**
   * `condition` with the texts and numbers of values read as columns beside these. A condition on such a column cannot fail, unlike one that
   * takes a value apart, so the engine drops rows by it before it takes the other values out of the JSON. It would take out a value for each
   * time that it stands in there: those that stand there twice, and are not among `members`, are read as they are elsewhere.
   */
  apart(condition: Sql, members: MemberColumns | null): Sql;
  /** Everything that is written of the query is read so from now on. Not for rows that are grouped by values. */
  standApart(): void;
  /** What is read of the column: the members that lead to it. Null where that is all of it. */
  shape(): Shape<null> | null;
  /** Whether those of them that `isRead` tells are read from columns of members. */
  areColumns(members: MemberColumns, isRead: (name: string) => boolean): boolean;
}

export interface Source {
  readonly from: Sql;
  /** The JSON column, and those that are handed on, in quotes where they need them. */
  readonly column: string;
  readonly kept: readonly string[];
  /** The columns of the column's members, which `from` then has beside the others. */
  readonly members: MemberColumns | null;
  readonly reach: Reach;
}

/**
 * Which rows a statement can read: those whose members have columns that are filled, and others only where a query is not told by these;
 * those whose records are there once each; or all. The fewer they are, the sooner it is planned. It fails with BEYOND_REACH once it meets
 * another row.
 */
export type Reach = 'columns' | 'singles' | 'all';

/** What the error of a statement says that met a row which it cannot read. */
export const BEYOND_REACH = 'a row is beyond what this statement reads';
const FAILS = `error('${BEYOND_REACH}')`;

export interface RecordNode {
  readonly records: Records;
  /** A member of the record, or all of it without steps. */
  member(steps: readonly Step[]): Expression;
  /** Whether the query names a member of it. */
  readonly isNamed: () => boolean;
}

interface Field {
  readonly name: string;
  readonly path: readonly string[];
  asText: boolean;
  asJson: boolean;
  asNumber: boolean;
  /** Whether it is read as JSON in conditions, too. */
  isWhole: boolean;
}

/** A value of a record: NULL for JSON's null. */
interface Value {
  readonly json: Sql;
  readonly text: Sql;
}

/** A column of a field, in each of the forms that are asked for: the first as JSON, or else as a text. */
interface Form {
  readonly name: string;
  readonly type: 'JSON' | 'VARCHAR' | 'DOUBLE';
  readonly of: (value: Value) => Sql;
}

interface Extra {
  readonly node: Node;
  readonly steps: readonly Step[];
  readonly name: string;
}

interface Node extends RecordNode {
  readonly parent: Node | null;
  readonly steps: readonly string[];
  /** From the column's value. */
  readonly path: readonly string[];
  readonly left: boolean;
  readonly name: string;
  /** Where its element stands in the slower way. */
  readonly place: string;
  readonly fields: Map<string, Field>;
}

/** The records of a column of the relation `table`; what is read of them is in columns that begin with `row`. */
export function recordsOf(table: string, row: string, memberOf: ColumnOf): Records {
  const nodes: Node[] = [];
  const extras: Extra[] = [];
  /** Of the texts and numbers of these. */
  const fieldOfPiece = new WeakMap<object, Field>();
  /** Above 0 while what is spelled has them as columns. */
  let apart = 0;

  const records: Records = {
    add(parent, steps, left) {
      const path = [...((parent as Node | null)?.path ?? []), ...steps];
      // A structure has each member once, as a record or as a value.
      const fields = allFields();
      if ([...nodes, ...fields].some((taken) => clash(taken.path, path))) return null;
      // Throws for a name that no path can hold.
      if (steps.length > 0) pathOf(steps);
      const node = makeNode(parent as Node | null, steps, path, left);
      nodes.push(node);
      return node;
    },
    names: () => [
      ...allForms().map(({ name }) => `${row}_${name}`),
      ...extras.map(({ name }) => `${row}_${name}`),
    ],
    apart(condition, members) {
      const read = lateIn(condition).flatMap((piece) => fieldOfPiece.get(piece) ?? []);
      for (const field of new Set(read)) {
        if (members?.columns.has(pathKey(field.path))) continue;
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
        ...extras.map(({ node, steps: [first] }) =>
          typeof first === 'string' ? [...node.path, first] : node.path,
        ),
      ];
      if (whole.some((path) => path.length === 0)) return null;
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
      const isColumn = ({ path }: Field) => members.columns.has(pathKey(path));
      const read = [
        ...allFields().map((field) => ({ name: field.name, column: isColumn(field) })),
        ...extras.map(({ name }) => ({ name, column: false })),
      ];
      return (
        haveColumns(members) &&
        read.every(({ name, column }) => column || !isRead(`${row}_${name}`))
      );
    },
    rows(source) {
      const { members, reach } = source;
      const others = reach === 'all' || isCounted() || !isChain() ? byElements : bySingles;
      if (!members || !haveColumns(members)) return others(source, null);
      const { state, filledFrom } = members;
      const unfilled = `v.${identifier(state)} < ${filledFrom}`;
      const rest = reach === 'columns' ? none(source, unfilled) : others(source, unfilled);
      return sql`(${byColumns(source, members)} union all select * from ${rest})`;
    },
  };
  return records;

  function allFields(): Field[] {
    return nodes.flatMap(({ fields }) => [...fields.values()]);
  }

  function allForms(): Form[] {
    return allFields().flatMap(formsOf);
  }

  function formsOf(field: Field): Form[] {
    const { name, asText, asJson, asNumber } = field;
    const text: Omit<Form, 'name'> = { type: 'VARCHAR', of: (value) => value.text };
    const forms: Form[] = [
      asJson ? { name, type: 'JSON', of: ({ json }) => json } : { name, ...text },
    ];
    if (asText && asJson) forms.push({ name: `${name}_text`, ...text });
    if (asNumber)
      forms.push({
        name: `${name}_number`,
        type: 'DOUBLE',
        of: (value) => sql`try_cast(${value.text} as double)`,
      });
    return forms;
  }

  /** The rows that the columns were filled for: those have one record where the query unnests one, or none. */
  function byColumns({ from, column, kept }: Source, members: MemberColumns): Sql {
    const { state, filledFrom, bits, columns } = members;
    const value = `v.${column}`;
    const ofShape = (read: (arrays: boolean) => Sql) => byShape(value, read(true), read(false));
    const notNull: Sql[] = [];
    const fields = inForms(({ name, path, asJson }) => {
      const own = columns.get(pathKey(path));
      if (own !== undefined) return asValue(`v.${identifier(own)}`);
      const extract = (as: string, each: readonly string[]) =>
        ofShape((arrays) => sql`${as}(${value}, ${pathTo(each, arrays)})`);
      const given = `${row}_${name}`;
      const json = byKeys(path, (each) => {
        const found = each === path ? `v.${given}` : extract('json_extract', each);
        return sql`nullif(${found}, 'null'::json)`;
      });
      if (asJson) notNull.push(sql`${json} as ${given}`);
      return {
        json: extract('json_extract', path),
        text: byKeys(path, (each) => extract('json_extract_string', each)),
      };
    });
    const others = extras.map(({ node, steps }) =>
      ofShape((arrays) =>
        extracted(value, arrays ? placed(node) : node.path, pathsFromElement(steps)),
      ),
    );
    const names = records.names();
    const list = [
      ...kept.map((name) => `v.${name}`),
      ...[...fields, ...others].map((each, i) => sql`${each} as ${names[i] ?? ''}`),
    ];
    const needed = nodes
      .filter(({ left }) => !left)
      .map(({ path }) => bits.get(pathKey(path)) ?? 0);
    const mask = needed.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    const place = `v.${identifier(state)}`;
    const present = mask === 0n ? '' : ` and ${place} & ${mask} = ${mask}`;
    const filled = `${place} >= ${filledFrom}${present}`;
    const rows = sql`select ${join(list, ', ')} from ${from} as v where ${filled}`;
    // The engine writes nullif(a, b) as a condition with `a` twice, and would take a value out of the JSON each time.
    return notNull.length === 0
      ? rows
      : sql`select v.* replace (${join(notNull, ', ')}) from (${rows}) as v`;
  }

  /** The fields in their forms. */
  function inForms(read: (field: Field) => Value): Sql[] {
    return allFields().flatMap((field) => {
      const value = read(field);
      return formsOf(field).map(({ of }) => of(value));
    });
  }

  /** Whether the query is told by the columns, and reads less of the JSON than all that it names. */
  function haveColumns({ bits, columns }: MemberColumns): boolean {
    if (!isChain() || !nodes.every(({ path }) => bits.has(pathKey(path)))) return false;
    const own = allFields().filter(({ path }) => columns.has(pathKey(path))).length;
    return own > 0 || allFields().length + extras.length <= 1;
  }

  /**
   * No rows; fails with BEYOND_REACH where there is one for which `condition` holds. Each value that a query may compare fails by itself:
   * the engine drops rows by what is cheapest to compare, and would else drop this one for a NULL.
   */
  function none({ from, kept }: Source, condition: string): Sql {
    const fails = `case when ${condition} then ${FAILS} end`;
    const types = [...allForms().map(({ type }) => type), ...extras.map(() => 'JSON')];
    const list = [
      ...kept.map((name) => `v.${name}`),
      ...records.names().map((name, i) => `(${fails})::${types[i]} as ${name}`),
    ];
    return sql`(select ${list.join(', ')} from ${from} as v where ${condition} and ${fails})`;
  }

  /**
   * The rows where `condition` holds, each with the one record that it has. Fails with BEYOND_REACH where it has more, whatever is
   * compared first.
   */
  function bySingles({ from, column, kept }: Source, condition: string | null): Sql {
    const [value, read] = [`v.${column}`, `v.${row}_s`];
    const where = condition === null ? '' : ` where ${condition}`;
    const list = kept.map((name) => `v.${name}`).join(', ');
    const paths = nodes.map(({ path }) => path);
    const orFail = (then: Sql) =>
      sql`case when ${areSingleOrObjects(value, paths)} then ${then} else ${FAILS} end`;
    const made = sql`(select ${list}, ${orFail(readShapes(value, tree(), () => 'JSON'))} as ${row}_s from ${from} as v${where})`;
    const fields = inForms(({ path }) => {
      const [record, name] = [path.slice(0, -1), path.at(-1) ?? ''];
      const at = (place: string) => valueAt(place, name, recordAt(tree(), record));
      return asValue(byShape(value, at(`${listAt(read, record)}[1]`), at(objectAt(read, record))));
    });
    const others = extras.map(({ node, steps }) => {
      const at = pathsFromElement(steps);
      return byShape(value, extracted(value, placed(node), at), extracted(value, node.path, at));
    });
    const names = records.names();
    const columns = [
      ...fields.map((field, i) => sql`${field} as ${names[i] ?? ''}`),
      ...others.map((other, i) => sql`${orFail(other)} as ${names[fields.length + i] ?? ''}`),
    ];
    const needed = nodes.filter(({ left }) => !left).map(({ path }) => path);
    const all = (of: (path: readonly string[]) => string) =>
      needed.map((path) => `${of(path)} is not null`).join(' and ');
    const present =
      needed.length === 0
        ? orFail('true')
        : byShape(
            value,
            all((path) => `${listAt(read, path)}[1]`),
            all((path) => objectAt(read, path)),
          );
    return sql`(select ${join([list, ...columns], ', ')} from ${made} as v where ${present})`;
  }

  /** The rows where `condition` holds, by one UNNEST of a list of elements. */
  function byElements({ from, column, kept }: Source, condition: string | null): Sql {
    const value = `v.${column}`;
    const where = condition === null ? '' : ` where ${condition}`;
    const read = structure(value);
    const list = kept.map((name) => `v.${name}`).join(', ');
    const made = read
      ? sql`(select ${list}, ${read} as ${row}_s from ${from} as v${where})`
      : sql`(select ${list} from ${from} as v${where})`;
    const rows = sql`(select ${list}, unnest(${listOf(value, `v.${row}_s`)}) as ${row} from ${made} as v)`;
    const places = [
      ...inForms(({ path }) => asValue([`v.${row}.r`, ...path.map(identifier)].join('.'))),
      ...extras.map(({ name }) => `v.${row}.${name}`),
    ];
    const names = records.names();
    const columns = [
      ...kept.map((name) => `v.${name}`),
      ...places.map((place, i) => sql`${place} as ${names[i] ?? ''}`),
    ];
    const needed = nodes.filter(({ left }) => !left);
    const tests = needed.map(
      ({ path }) => sql`${[`v.${row}.r`, ...path.map(identifier)].join('.')} is not null`,
    );
    const present = tests.length === 0 ? '' : sql` where ${join(tests, ' and ')}`;
    return sql`(select ${join(columns, ', ')} from ${rows} as v${present})`;
  }

  /** What is read of the column before its list is made; null when that needs nothing. */
  function structure(column: string): Sql | null {
    if (isCounted()) return null;
    if (isChain()) return readShapes(column, tree(), () => 'JSON');
    return sql`{o: case when not ${isArray(column)} then from_json(${column}, ${literal(JSON.stringify(structureOf(tree(), () => 'JSON')))}) end}`;
  }

  /** The list whose elements are the rows, with what `structure` gives at `read`. */
  function listOf(column: string, read: string): Sql {
    if (isCounted()) {
      const one = sql`[${element(built(tree(), []), () => '')}]`;
      return sql`case when starts_with(${column}, '{') then ${one} else ${slow(column)} end`;
    }
    const paths = nodes.map(({ path }) => path);
    const hasTwins = allFields().some(({ path }) => twinOf(path) !== null);
    // What was read is the structure itself, unless it has keys with dashes beside others.
    const objects = hasTwins ? members(tree(), objectAt(read, []), '') : objectAt(read, []);
    const plain = element(objects, ({ node, steps }) =>
      extracted(column, node.path, pathsFromElement(steps)),
    );
    const single = isChain()
      ? sql`when ${areSingles(column, read, paths)} then [${element(members(tree(), `${listAt(read, [])}[1]`, '[1]'), ({ node, steps }) => extracted(column, placed(node), pathsFromElement(steps)))}]`
      : '';
    return sql`case when ${areObjects(column, paths)} then [${plain}] ${single} else ${slow(column)} end`;
  }

  /** Whether nothing is asked of the column's records but how many there are: an object, whatever is in it, is one. */
  function isCounted(): boolean {
    const [node, ...more] = nodes;
    return node?.path.length === 0 && !node.isNamed() && more.length === 0 && extras.length === 0;
  }

  /** Whether each record but the first is a member of another, and the first is the column. */
  function isChain(): boolean {
    return nodes.every(({ parent, steps }) => steps.length === (parent ? 1 : 0));
  }

  /** What was read of a record, with that of the records within it, which are objects, or the first ones of arrays. */
  function members(branch: Branch, place: string, first: '' | '[1]'): Sql {
    const list = [...branch].map(([name, below]) => {
      const value =
        below instanceof Map
          ? members(below, `${place}.${identifier(name)}${first}`, first)
          : valueAt(place, name, branch);
      return sql`${identifier(name)}: ${value}`;
    });
    const record =
      list.length === 0 ? sql`{${identifier(NONE)}: null::varchar}` : sql`{${join(list, ', ')}}`;
    return sql`case when ${place} is not null then ${record} end`;
  }

  function makeNode(
    parent: Node | null,
    steps: readonly string[],
    path: readonly string[],
    left: boolean,
  ): Node {
    const fields = new Map<string, Field>();
    const node: Node = {
      records,
      parent,
      steps,
      path,
      left,
      fields,
      name: `n${nodes.length}`,
      place: `s.n${nodes.length}`,
      isNamed: () => fields.size > 0 || nodes.some((child) => child.parent === node),
      member(members) {
        const names = members.filter((step) => typeof step === 'string');
        const whole = names.length !== members.length || members.length === 0;
        return whole ? extra(node, members) : fieldOf(node, names);
      },
    };
    return node;
  }

  function fieldOf(node: Node, names: readonly string[]): Expression {
    const [first = ''] = names;
    // Deeper down, what stands between may be an array, which a structure does not look into.
    if (names.length > 1 || isTaken(node, first)) return extra(node, names);
    // Throws for a name that no path can hold.
    pathOf(names);
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
    const known = extras.find((other) => other.node === node && sameSteps(other.steps, steps));
    const found = known ?? { node, steps, name: `w${extras.length}` };
    if (!known) extras.push(found);
    const place = `${table}.${row}_${found.name}`;
    return {
      kind: 'json',
      sql: place,
      text: `json_extract_string(${place}, '$')`,
      member: (more) => node.member([...steps, ...more]),
      memberOf,
    };
  }

  function element(structure: Sql, readAs: (extra: Extra) => Sql): Sql {
    const members = extras.map((each) => sql`${each.name}: ${readAs(each)}`);
    return sql`{${join([sql`r: ${structure}`, ...members], ', ')}}`;
  }

  /** The members that are asked for, as nested objects; leaves are fields. */
  function tree(): Branch {
    const root: Branch = new Map();
    for (const node of nodes) {
      const branch = node.path.reduce(descend, root);
      for (const [name, field] of node.fields) branch.set(name, field);
    }
    return root;
  }

  /**
   * Element by element, in the order that the records were unnested in: a list of structures, to which each record adds a member. Lambdas
   * within each other would be shorter, but the engine's binder takes twice as long for each.
   */
  function slow(column: string): Sql {
    const list = nodes.reduce<Sql>((rows, node) => {
      const [step = '', ...deeper] = node.steps;
      const value =
        node.parent && deeper.length === 0
          ? sql`json_extract(${node.parent.place}, ${pathOf([step])})`
          : coalesced(
              node.parent?.place ?? column,
              node.steps.length === 0 ? [] : pathsOf(node.steps),
            );
      const each = sql`list_transform(${elements(value, node)}, lambda e: struct_insert(s, ${node.name} := e))`;
      return sql`flatten(list_transform(${rows}, lambda s: ${each}))`;
    }, '[{n: 0}]');
    const made = element(built(tree(), []), ({ node, steps }) =>
      coalesced(node.place, pathsFromElement(steps)),
    );
    return sql`list_transform(${list}, lambda s: ${made})`;
  }

  function built(branch: Branch, path: readonly string[]): Sql {
    const members = [...branch].map(([name, below]) => {
      const value = below instanceof Map ? built(below, [...path, name]) : fieldValue(below);
      return sql`${identifier(name)}: ${value}`;
    });
    return members.length === 0
      ? sql`{${identifier(NONE)}: null::varchar}`
      : sql`{${join(members, ', ')}}`;
  }

  function fieldValue(field: Field): Sql {
    const node = nodes.find(({ fields }) => [...fields.values()].includes(field));
    if (!node) throw new Error('BUG: a field without its record');
    return byKeys(field.path, (path) => {
      const value = sql`json_extract(${node.place}, ${pathOf(path.slice(node.path.length))})`;
      return sql`nullif(${value}, 'null'::json)`;
    });
  }

  /** The value of a field by its own key, or by the one with dashes. */
  function byKeys(path: readonly string[], read: (path: readonly string[]) => Sql): Sql {
    const twin = twinOf(path);
    if (twin === null) return read(path);
    return sql`coalesce(${read(path)}, ${read([...path.slice(0, -1), twin])})`;
  }

  function twinOf(path: readonly string[]): string | null {
    return dashed(path.at(-1) ?? '', recordAt(tree(), path.slice(0, -1)).keys());
  }
}

type Branch = Shape<Field>;

/** A field that was read as JSON. Read as a text, a number would be written as the engine writes it, and not as it does JSON's. */
function asValue(json: Sql): Value {
  return { json, text: sql`json_extract_string(${json}, '$')` };
}

function descend(branch: Branch, name: string): Branch {
  const below = branch.get(name);
  if (below instanceof Map) return below;
  const made: Branch = new Map();
  branch.set(name, made);
  return made;
}

/** The record in a shape that a path leads to, made where it is missing; null where it stands in what is read whole. */
function shapeAt(shape: Shape<null>, [name, ...rest]: readonly string[]): Shape<null> | null {
  if (name === undefined) return shape;
  const below = shape.get(name) ?? (shape.has(name) ? null : new Map<string, Shape<null> | null>());
  if (below === null) return null;
  shape.set(name, below);
  return shapeAt(below, rest);
}

/** What a JSON value holds to be unnested: itself, or its elements; of none one NULL, where the row is to stay. */
function elements(value: Sql, { left }: Node): Sql {
  const list = sql`list_filter(case when json_type(${value}) = 'ARRAY' then from_json(${value}, '["JSON"]') else [${value}] end, lambda o: json_type(o) <> 'NULL')`;
  return left ? sql`coalesce(nullif(${list}, []), [null])` : list;
}

/** What is read of a column whose records are elements of arrays, or else of objects. */
function byShape(column: string, ofArrays: Sql, ofObjects: Sql): Sql {
  return sql`case when ${isArray(column)} then ${ofArrays} else ${ofObjects} end`;
}

/** Where a record stands whose place is the first of an array, as are those around it. */
function placed({ path }: Node): Step[] {
  return [0, ...path.flatMap((name) => [name, 0])];
}

/** The first of the values to which one of `paths` leads, from the place that `place` leads to. */
function extracted(column: string, place: readonly Step[], paths: readonly string[]): Sql {
  // Both are texts in quotes that begin with $.
  const whole = pathOf(place);
  const calls = (paths.length === 0 ? ["'$'"] : paths).map(
    (path) => sql`json_extract(${column}, ${whole.slice(0, -1)}${path.slice(2)})`,
  );
  return calls.length === 1 ? (calls[0] as Sql) : sql`coalesce(${join(calls, ', ')})`;
}

function coalesced(value: Sql, paths: readonly string[]): Sql {
  if (paths.length === 0) return value;
  const calls = paths.map((path) => sql`json_extract(${value}, ${path})`);
  return calls.length === 1 ? (calls[0] as Sql) : sql`coalesce(${join(calls, ', ')})`;
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
