/** Why SQL of a caller is not run: a sentence for him, and where in his text, counted from 0; null: nowhere in particular. */
export class SqlRefused extends Error {
  readonly at: number | null;

  constructor(at: number | null, message: string) {
    super(message);
    this.at = at;
  }

  /** The sentence with its place in `text`. */
  sentence(text: string): string {
    if (this.at === null) return this.message;
    const before = text.slice(0, this.at).split('\n');
    return `${this.message} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
  }
}

/** Rows that each stand for several cannot be asked this statement. */
export class Uncountable extends Error {}

export function reject(at: number | null, message: string): never {
  throw new SqlRefused(at, message);
}

const SHOWN = 60;

/** A piece of the caller's text, as an error repeats it. */
export function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}
