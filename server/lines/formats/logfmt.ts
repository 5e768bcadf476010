/** `level=info msg="took it" status=200`, as Go's slog, logrus, Heroku and Grafana write it. */
import { type Format, type Member, textMember } from '../line.ts';
import { MOST_QUOTED_CHARS } from '../longest.ts';

const SAYS_ENOUGH = /^(?:ts|time|timestamp|level|lvl|msg|message)$/i;
/** Linux's audit has its moment where its message would be. */
const AUDIT = /^(?:node=\S{1,255} )?type=\S{1,60} msg=audit\(/;
/** Numbers of other forms, such as `1e5`, may be a part of an id. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const ESCAPE = /\\(?:u(?<unicode>[\da-f]{4})|x(?<byte>[\da-f]{2})|(?<sign>.))/gis;
const SIGNS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * A line is of this format if all of it is pairs and bare keys. It begins with a pair, and it has at least as many pairs as bare keys. One
 * pair is enough if it is a time, a level or a message. Prose with a pair in it is not of this format.
 */
export const logfmt: Format = {
  name: 'logfmt',
  parse(line) {
    if (line.length > MOST_QUOTED_CHARS || AUDIT.test(line)) return null;
    const members: Member[] = [];
    let pairs = 0;
    let saysEnough = false;
    for (let at = behindBlanks(line, 0); at < line.length; ) {
      if (!beginsKey(line.charCodeAt(at))) return null;
      const end = endOfKey(line, at);
      const key = line.slice(at, end);
      if (line[end] === '=') {
        const isQuoted = line[end + 1] === '"';
        const last = isQuoted ? endOfQuoted(line, end + 1) : endOfWord(line, end + 1);
        if (last < line.length && !isBlank(line.charCodeAt(last))) return null;
        const value = isQuoted ? line.slice(end + 2, last - 1) : line.slice(end + 1, last);
        members.push(isQuoted ? textMember(key, unescaped(value)) : bareMember(key, value));
        pairs++;
        saysEnough ||= SAYS_ENOUGH.test(key);
        at = last;
      } else {
        const isAlone = end === line.length || isBlank(line.charCodeAt(end));
        if (!isAlone || members.length === 0) return null;
        members.push({ name: key, json: 'true' });
        at = end;
      }
      at = behindBlanks(line, at);
    }
    const isPairs = pairs >= 2 || saysEnough;
    return isPairs && pairs * 2 >= members.length ? members : null;
  },
};

const [QUOTE, BACKSLASH, EQUALS] = [0x22, 0x5c, 0x3d];

function beginsKey(code: number): boolean {
  // `@` and capitals, `_`, and small letters.
  return (code >= 0x40 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a);
}

function behindBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && isBlank(line.charCodeAt(at))) at++;
  return at;
}

function endOfKey(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === EQUALS || code === QUOTE || isBlank(code)) return at;
  }
  return line.length;
}

function endOfWord(line: string, from: number): number {
  let at = from;
  while (at < line.length && !isBlank(line.charCodeAt(at))) at++;
  return at;
}

/** Returns the index behind the text that begins with the quote at `from`; that of a character of it if no quote ends it. */
function endOfQuoted(line: string, from: number): number {
  for (let at = from + 1; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return from;
}

/** Tells whether a character is one of `\s`. */
function isBlank(code: number): boolean {
  return code <= 0x20
    ? code === 0x20 || (code >= 0x09 && code <= 0x0d)
    : code >= 0xa0 && OTHER_BLANK.test(String.fromCharCode(code));
}

const OTHER_BLANK = /\s/;

function bareMember(key: string, value: string): Member {
  const isJson = value === 'true' || value === 'false' || NUMBER.test(value);
  return isJson ? { name: key, json: value } : textMember(key, value);
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  return quoted.replace(ESCAPE, (_all, unicode, byte, sign) =>
    sign === undefined
      ? String.fromCharCode(Number.parseInt(unicode ?? byte, 16))
      : (SIGNS[sign] ?? sign),
  );
}
