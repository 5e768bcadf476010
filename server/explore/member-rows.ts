/**
 * The rows of a source in the store, and their members by the names that a search asks for: from the columns that settling fills, and from the
 * JSON of those rows alone that these tell nothing of.
 */
import { identifier, pathKey } from '../records/shapes.ts';
import { dashedPath, joinedPaths, joints } from '../search/fields.ts';
import { columnOf, filledFrom, type MemberSet } from '../store/index.ts';

/** A member as text, NULL without one, and whether it is a JSON array. */
export interface ReadMember {
  readonly text: string;
  readonly isArray: string;
}

export interface MemberRows {
  /** Returns how a member is read of the rows that `from` gives. */
  member(path: readonly string[]): ReadMember;
  /** Returns a condition on these rows that holds where there is no such member and `condition` holds. */
  orElse(path: readonly string[], condition: string): string;
  /** Returns the rows, with the columns of the source and all that was asked for before. */
  from(): string;
}

/** A member that is asked for, and has a column. */
interface Asked {
  readonly path: readonly string[];
  readonly column: string;
  /** What it is called in the rows that are given. */
  readonly name: string;
  /** The conditions that count where it is missing, by their names there. */
  readonly others: Map<string, string>;
}

/** `set`: the members of the source that have columns. */
export function memberRows(source: string, set: MemberSet | undefined): MemberRows {
  const columns = new Map(set?.members.map((path) => [pathKey(path), columnOf(path)]));
  const asked = new Map<string, Asked>();
  const ask = (path: readonly string[]): Asked | null => {
    const key = pathKey(path);
    const column = columns.get(key);
    if (column === undefined) return null;
    const own = asked.get(key) ?? {
      path,
      column: identifier(column),
      name: `~${asked.size}`,
      others: new Map(),
    };
    asked.set(key, own);
    return own;
  };
  const missing = (path: readonly string[], condition: string) =>
    `case when ${inJson(path).text} is null then ${condition} end`;
  /** The columns of what was asked for, where members are read in this way. */
  const list = (
    read: (member: Asked) => ReadMember,
    other: (member: Asked, condition: string) => string,
  ) =>
    [...asked.values()]
      .flatMap((member) => {
        const { text, isArray } = read(member);
        return [
          `${text} as ${identifier(member.name)}`,
          `${isArray} as ${identifier(`${member.name}[]`)}`,
          ...[...member.others].map(
            ([name, condition]) => `${other(member, condition)} as ${identifier(name)}`,
          ),
        ];
      })
      .join(', ');
  return {
    member(path) {
      const own = ask(path);
      return own
        ? { text: identifier(own.name), isArray: identifier(`${own.name}[]`) }
        : inJson(path);
    },
    orElse(path, condition) {
      const own = ask(path);
      if (!own) return missing(path, condition);
      const name = `${own.name}?${own.others.size}`;
      own.others.set(name, condition);
      return identifier(name);
    },
    from() {
      if (!set || asked.size === 0) return source;
      // What a member of several names may be otherwise stands in the JSON: it may be under one with dots.
      const there = [...asked.values()]
        .filter(({ path, others }) => path.length > 1 || others.size > 0)
        .map(({ column }) => column);
      const filled = filledFrom(set);
      const known = [
        `member_state >= ${filled}`,
        ...there.map((column) => `${column} is not null`),
      ];
      const unknown = [`member_state < ${filled}`, ...there.map((column) => `${column} is null`)];
      const ofColumns = list(
        ({ column }) => ({ text: `${column} ->> '$'`, isArray: `starts_with(${column}, '[')` }),
        () => 'false',
      );
      const ofJson = list(
        ({ path }) => inJson(path),
        ({ path }, condition) => missing(path, condition),
      );
      return `(
        select *, ${ofColumns} from ${source} where ${known.join(' and ')}
        union all
        select *, ${ofJson} from ${source} where ${unknown.join(' or ')}
      ) as ${source}`;
    },
  };
}

/**
 * The member that these names lead to. Where all records are objects one path is looked for; others only in a text that has an array at all,
 * a name with a dot in it, or with dashes in place of underscores, as each takes a fifth of the time of the first.
 */
function inJson(path: readonly string[]): ReadMember {
  const [plain = '', ...others] = formsOf(path).map(quoted);
  const twin = dashedPath(path);
  const orTwin =
    twin === null
      ? ''
      : `, case when ${has(`"${twin.at(-1)}"`)} then ${first(formsOf(twin).map(quoted))} end`;
  const joined = joinedPaths(path);
  const hasJoined = joints(path).map(has).join(' or ');
  const orJoined =
    joined.length === 0
      ? ''
      : `, case when ${hasJoined} then ${first(joined.flatMap((each) => [pointer(each), pointer([0, ...each])]).map(quoted))} end`;
  const text = `case when starts_with(metadata::varchar, '[') then coalesce(${first([plain, ...others])}${orTwin}${orJoined})
    else coalesce(
      json_extract_string(metadata, ${plain}),
      case when contains(metadata::varchar, '[') then ${first(others)} end${orTwin}${orJoined}
    ) end`;
  const isArray = `(${mayBeArray(path)}${twin ? ` or ${mayBeArray(twin)}` : ''}) and starts_with(${text}, '[')`;
  return { text, isArray };
}

function first(paths: readonly string[]): string {
  return `list_any_value(json_extract_string(metadata, [${paths.join(', ')}]))`;
}

function has(text: string): string {
  return `contains(metadata::varchar, ${quoted(text)})`;
}

/** Tells whether a text may have an array as a member of this name. To look for it takes a fraction of the time that it takes to read the JSON. */
function mayBeArray(path: readonly string[]): string {
  const name = path.at(-1) ?? '';
  if (!IS_PLAIN.test(name)) return has('[');
  return `${has('[')} and (${has(`${name}":[`)} or ${has(`${name}": [`)})`;
}

/** Names that JSON spells in one way: others may have escapes. */
const IS_PLAIN = /^[\w@ -]+$/;

/** The paths of a member, each record an object or the first of an array. */
function formsOf(path: readonly string[]): string[] {
  const last = path.length - 1;
  const forms = path.reduce<(string | number)[][]>(
    (begun, name, i) =>
      begun.flatMap((form) => [[...form, name], ...(i < last ? [[...form, name, 0]] : [])]),
    [[], [0]],
  );
  return forms.map(pointer);
}

/** A JSON pointer: in the paths that begin with $ a name `*` stands for all. */
function pointer(names: readonly (string | number)[]): string {
  return names
    .map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
