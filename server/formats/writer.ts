import type { Rows } from '../store/index.ts';

/** Writes rows as text, in three steps. */
export interface Writer {
  begin(): string;
  rows(rows: Rows['rows']): string;
  /** `count`: of all rows; where it is given it is written behind them, so that a text that was cut short is noticed. */
  end(count?: number): string;
}

export interface WriterOptions {
  /** Applied to every string value at any depth and to numbers of many digits, but not to keys. */
  readonly redact?: ((text: string) => string) | undefined;
  /** JSON as it was stored, instead of Logflare's records: nested objects as one-element arrays. */
  readonly asStored?: boolean;
  /** A sentence for the reader of an answer, where the format has room for it: JSON alone. */
  readonly hint?: string | null;
}
