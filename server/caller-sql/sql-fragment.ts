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

/** A text as a string literal; the engine knows no escape in it but the doubled quote. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text as a quoted name. */
export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
