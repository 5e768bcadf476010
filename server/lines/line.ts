/** A member of what a line says: a name, and a value as JSON text, just as it was written. */
export interface Member {
  readonly name: string;
  readonly json: string;
}

/** How the lines of a file are written. */
export interface Format {
  readonly name: string;
  /** Returns what a line says, in its order, or null if it is not written so. The line has no newline at its end, and is not blank. */
  parse(line: string): readonly Member[] | null;
}

/** A member whose value is a text. */
export function textMember(name: string, text: string): Member {
  return { name, json: JSON.stringify(text) };
}
