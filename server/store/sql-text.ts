/** What the engine's lexer takes whole, whatever stands in it: strings, quoted names, comments, dollar quotes. */
const WHOLE = [
  /--[^\n\r]*/y,
  /[eE]'(?:[^'\\]|\\.|'')*'/sy,
  /'(?:[^']|'')*'/y,
  /"(?:[^"]|"")*"/y,
  /(\$(?:[A-Za-z_]\w*)?\$).*?\1/sy,
];

/** How many characters of a statement, from `at` on, are a string, a quoted name or a comment; 0 when none begins there. */
export function passedOver(text: string, at: number): number {
  if (text.startsWith('/*', at)) return blockComment(text, at);
  for (const pattern of WHOLE) {
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
