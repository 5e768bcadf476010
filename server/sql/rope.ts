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

/** The text of a piece. */
export function print(piece: Sql): string {
  if (typeof piece === 'string') return piece;
  return 'spell' in piece ? piece.spell() : piece.map(print).join('');
}

/** A text as a string literal; the engine knows no escape in it but the doubled quote. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A text as a quoted name. */
export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
