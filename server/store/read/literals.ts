/** Parts that are passed over whole: comments to the end of a line, strings and quoted names. */
const WHOLE = /--[^\n\r]*|'(?:[^']|'')*'|"(?:[^"]|"")*"/y;
/** Nothing begins in these characters that is not over with each of them. */
const DULL = /[^-'"$/A-Za-z_\u0080-\uffff]+/y;
/** Not the beginning of a string: `e'…'` has escapes. */
const WORD = /[A-Za-z_][\w$]*(?!['\w$])/y;
/** Not the tag of a dollar quote. */
const PARAMETER = /\$([A-Za-z_]\w*)(?![\w$])/y;
/** Less than a comment. */
const SIGN = /-|\/(?!\*)/y;
/** A statement is handed on up to its first NUL, and spaces other than ASCII's may be taken for these. */
const UNSPEAKABLE = /[\0\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;

/**
 * Writes the values of a statement's parameters in their places, as texts or as NULL. The engine then plans a statement once, with all
 * that it can know of the values; with parameters it plans it when it is prepared, and again when it is run
 * (docs/decisions/0021). A value that a statement's text cannot hold keeps its parameter, and a statement in which something else stands
 * than is known here keeps them all.
 */
export function withLiterals(sql: string, values: Readonly<Record<string, string | null>>): string {
  let written = '';
  for (let at = 0; at < sql.length; ) {
    const passed =
      matchAt(DULL, sql, at) ??
      matchAt(WHOLE, sql, at) ??
      matchAt(WORD, sql, at) ??
      matchAt(SIGN, sql, at);
    const parameter = passed ? null : matchAt(PARAMETER, sql, at);
    const [text, name = ''] = passed ?? parameter ?? [];
    if (text === undefined) return sql;
    const value = parameter && Object.hasOwn(values, name) ? literalOf(values[name]) : undefined;
    written += value ?? text;
    at += text.length;
  }
  return written;
}

/** A value in SQL, as the engine takes one that is bound; undefined when a statement's text cannot hold it. */
function literalOf(value: string | null | undefined): string | undefined {
  if (value === null) return 'null';
  if (value === undefined || UNSPEAKABLE.test(value)) return undefined;
  return `cast('${value.replaceAll("'", "''")}' as varchar)`;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
