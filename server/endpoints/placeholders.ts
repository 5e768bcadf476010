/** Ends the reading of a query's file, with the line at fault. */
export type Fail = (line: number, reason: string) => never;

const WORD = /^[A-Za-z_]\w*/;

/** What the lexer passes over whole: strings, quoted names, comments, dollar quotes. */
const PASSED_OVER = [
  /--[^\n\r]*/y,
  /[eE]'(?:[^'\\]|\\.|'')*'/sy,
  /'(?:[^']|'')*'/y,
  /"(?:[^"]|"")*"/y,
  /(\$(?:[A-Za-z_]\w*)?\$).*?\1/sy,
];

/**
 * Writes each `@name` as `$name`, but for those in strings, comments and quoted names. In DuckDB `@` is the absolute
 * value: a parameter that were missed would be answered wrongly, in silence. Every parameter must be cast, because
 * uncast ones make the types of all of them ambiguous.
 */
export function translatePlaceholders(
  text: string,
  fail: Fail,
): { sql: string; used: Map<string, number> } {
  const used = new Map<string, number>();
  let sql = '';
  for (let at = 0; at < text.length; ) {
    const whole = passedOver(text, at);
    const character = text[at] ?? '';
    if (whole > 0) {
      sql += text.slice(at, at + whole);
      at += whole;
    } else if (character === '@') {
      const line = lineOf(text, at);
      const name =
        WORD.exec(text.slice(at + 1))?.[0] ?? fail(line, 'an @ must begin the name of a parameter');
      if (!text.startsWith('::', at + 1 + name.length))
        fail(line, `@${name} must be cast: @${name}::type`);
      if (!used.has(name)) used.set(name, line);
      sql += `$${name}`;
      at += 1 + name.length;
    } else if (character === '$' || character === '?') {
      fail(lineOf(text, at), `"${character}" is not a parameter here: write @name`);
    } else {
      const word = WORD.exec(text.slice(at, at + 256))?.[0];
      sql += word ?? character;
      at += word?.length ?? 1;
    }
  }
  return { sql, used };
}

function passedOver(text: string, at: number): number {
  if (text.startsWith('/*', at)) return blockComment(text, at);
  for (const pattern of PASSED_OVER) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return match[0].length;
  }
  return 0;
}

/** Block comments nest. */
function blockComment(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text.startsWith('/*', i)) {
      depth++;
      i++;
    } else if (text.startsWith('*/', i)) {
      depth--;
      i++;
      if (depth === 0) return i + 1 - at;
    }
  }
  return text.length - at;
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
