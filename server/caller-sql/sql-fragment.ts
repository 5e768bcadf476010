import { reject } from './error.ts';

/**
 * A piece of SQL that is put together before all of it is known: how a field is read depends on every use of it, so its
 * spelling is asked for last.
 */
export type Sql = string | { spell(): string } | readonly Sql[];

/** `${…}` pieces in a text. */
export function sql(texts: TemplateStringsArray, ...pieces: readonly Sql[]): Sql {
  return texts.flatMap((text, i) => (i === 0 ? [text] : [pieces[i - 1] ?? '', text]));
}

export function join(pieces: readonly Sql[], separator: string): Sql {
  return pieces.flatMap((piece, i) => (i === 0 ? [piece] : [separator, piece]));
}

/** Characters of a statement that is put together; parts that are used twice, in parts that are used twice, have no other bound. */
const MAX_WRITTEN = 256 * 1024;

/** The text of a piece. Throws SqlRefused when it becomes too long. */
export function print(piece: Sql): string {
  const texts: string[] = [];
  let length = 0;
  const write = (part: Sql): void => {
    if (typeof part === 'string') {
      length += part.length;
      if (length > MAX_WRITTEN) reject(null, 'The statement is too long when it is written out');
      texts.push(part);
    } else if ('spell' in part) write(part.spell());
    else for (const each of part) write(each);
  };
  write(piece);
  return texts.join('');
}

/** Returns the pieces of `piece` that are spelled last; not those within them. */
export function lateIn(piece: Sql): object[] {
  if (typeof piece === 'string') return [];
  return 'spell' in piece ? [piece] : piece.flatMap(lateIn);
}

/** Pieces that the engine's `try` stands around, and what it stands around. */
const guards = new WeakMap<object, Sql>();
/** Pieces of aggregate functions and subqueries: in a statement with groups, their rows are those that the groups are made of. */
const wholes = new WeakSet<object>();

/** A value that is NULL where an error would be: one that rows may bring about that the view hides, too. */
export function tried(value: Sql): Sql {
  const piece: Sql = ['try(', value, ')'];
  guards.set(piece, value);
  return piece;
}

/** A call of an aggregate function, or a subquery. */
export function whole(piece: Sql): Sql {
  const marked: Sql = [piece];
  wholes.add(marked);
  return marked;
}

/**
 * A piece as groups have it: the engine does not find their keys within `try`, and their rows have passed the view's filter. A piece
 * that is one of the `keys` itself stays as it is.
 */
export function ofGroups(piece: Sql, keys: readonly Sql[]): Sql {
  if (!hasGuard(piece)) return piece;
  return {
    spell() {
      const texts = new Set(keys.map(print));
      const bare = (part: Sql): Sql => {
        if (typeof part === 'string' || 'spell' in part || wholes.has(part)) return part;
        if (!hasGuard(part) || texts.has(print(part))) return part;
        const value = guards.get(part);
        return value === undefined ? part.map(bare) : ['(', bare(value), ')'];
      };
      return print(bare(piece));
    },
  };
}

function hasGuard(piece: Sql): boolean {
  if (typeof piece === 'string' || 'spell' in piece || wholes.has(piece)) return false;
  return guards.has(piece) || piece.some(hasGuard);
}

/** A text as a string literal; the engine knows no escape in it but the doubled quote. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text as a quoted name. */
export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
