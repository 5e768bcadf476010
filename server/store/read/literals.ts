import { passedOver } from '../sql-text.ts';

/** Nothing begins in these characters that is not over with each of them. */
const DULL = /[^-'"$/A-Za-z_\u0080-\uffff]+/y;
/** A word may hold a dollar sign, and begins no parameter there. */
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const PARAMETER = /\$([A-Za-z_]\w*)/y;

/**
 * Writes the values of a statement's parameters in their places, as texts or as NULL. The engine then plans a statement once, with all
 * that it can know of the values; with parameters it plans it when it is prepared, and again when it is run
 * (docs/decisions/0021). A value that a statement's text cannot hold keeps its parameter.
 */
export function withLiterals(sql: string, values: Readonly<Record<string, string | null>>): string {
  let written = '';
  for (let at = 0; at < sql.length; ) {
    const dull = lengthOf(DULL, sql, at);
    const whole = dull || passedOver(sql, at) || lengthOf(WORD, sql, at);
    const [parameter, name = ''] = whole > 0 ? [] : (matchAt(PARAMETER, sql, at) ?? []);
    const value = parameter === undefined ? undefined : literalOf(values[name]);
    const length = whole || parameter?.length || 1;
    written += value ?? sql.slice(at, at + length);
    at += length;
  }
  return written;
}

/** A value in SQL, as the engine takes one that is bound; undefined when a statement's text cannot hold it. */
function literalOf(value: string | null | undefined): string | undefined {
  if (value === null) return 'null';
  // The client hands a statement on up to its first NUL.
  if (value === undefined || value.includes('\0')) return undefined;
  return `cast('${value.replaceAll("'", "''")}' as varchar)`;
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  return matchAt(pattern, text, at)?.[0].length ?? 0;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
