/** `level=info msg="took it" status=200`, as Go's slog, logrus, Heroku and Grafana write it. */
import { type Format, type Member, textMember } from '../line.ts';
import { MOST_QUOTED_CHARS } from '../longest.ts';

const PAIR =
  /\s*(?<key>[A-Za-z_@][^\s="]*)(?:=(?:"(?<quoted>(?:[^"\\]|\\.)*)"(?=\s|$)|(?<bare>[^\s"]\S*)?(?=\s|$))|(?=\s|$))/suy;
const SAYS_ENOUGH = /^(?:ts|time|timestamp|level|lvl|msg|message)$/i;
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
    if (line.length > MOST_QUOTED_CHARS) return null;
    const members: Member[] = [];
    let pairs = 0;
    let saysEnough = false;
    PAIR.lastIndex = 0;
    while (PAIR.lastIndex < line.length) {
      const at = PAIR.lastIndex;
      const found = PAIR.exec(line)?.groups;
      if (!found) {
        if (line.slice(at).trim() !== '') return null;
        break;
      }
      const { key = '' } = found;
      const isPair = line[at + line.slice(at, PAIR.lastIndex).indexOf(key) + key.length] === '=';
      if (isPair) pairs++;
      else if (members.length === 0) return null;
      saysEnough ||= isPair && SAYS_ENOUGH.test(key);
      members.push(isPair ? pairMember(key, found) : { name: key, json: 'true' });
    }
    const isPairs = pairs >= 2 || saysEnough;
    return isPairs && pairs * 2 >= members.length ? members : null;
  },
};

function pairMember(key: string, found: Record<string, string | undefined>): Member {
  const { quoted, bare = '' } = found;
  if (quoted !== undefined) return textMember(key, unescaped(quoted));
  const isJson = NUMBER.test(bare) || bare === 'true' || bare === 'false';
  return isJson ? { name: key, json: bare } : textMember(key, bare);
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  return quoted.replace(ESCAPE, (_all, unicode, byte, sign) =>
    sign === undefined
      ? String.fromCharCode(Number.parseInt(unicode ?? byte, 16))
      : (SIGNS[sign] ?? sign),
  );
}
