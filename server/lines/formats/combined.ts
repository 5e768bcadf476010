/** Access logs of nginx, Apache and Caddy: common, combined, vhost_combined, and fields that an operator added at the end. */
import { type Format, type Member, textMember } from '../line.ts';
import { MOST_QUOTED_CHARS } from '../longest.ts';

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const ACCESS = new RegExp(
  String.raw`^(?:(?<vhost>\S{1,300}) )?(?<remote_addr>\S{1,300}) (?<ident>\S{1,300}) (?<remote_user>[^[\n]{1,300}?) \[(?<time>[^\]]{10,60})\] (?<request>${QUOTED}) (?<status>\d{3}|-) (?<bytes>\d{1,20}|-)(?: (?<referer>${QUOTED}) (?<user_agent>${QUOTED}))?(?: (?<extra>.*))?$`,
  's',
);
const REQUEST = /^(?<method>[A-Za-z-]{1,40}) (?<path>.*) (?<protocol>HTTP\/\d(?:\.\d)?)$/s;
const ESCAPE = /\\(?:x(?<byte>[\da-f]{2})|(?<sign>["\\bnrtv]))/gi;
const SIGNS: Readonly<Record<string, string>> = {
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const NUMBER = /^(?:0|[1-9]\d*)$/;

/** `-` stands for nothing, so it makes no member. The message is the request, `GET /path HTTP/1.1`. */
export const combined: Format = {
  name: 'combined',
  parse(line) {
    if (line.length > MOST_QUOTED_CHARS || !line.includes('] "')) return null;
    const fields = ACCESS.exec(line)?.groups;
    if (!fields) return null;
    const { request = '', status = '' } = fields;
    const { method, path, protocol } = REQUEST.exec(request.slice(1, -1))?.groups ?? {};
    return [
      ...text('vhost', fields.vhost),
      ...text('remote_addr', fields.remote_addr),
      ...text('ident', fields.ident),
      ...text('remote_user', fields.remote_user),
      ...text('time', fields.time),
      textMember('message', request.slice(1, -1)),
      ...text('method', method),
      ...text('path', path && unescaped(path)),
      ...text('protocol', protocol),
      ...number('status', status),
      ...number('bytes', fields.bytes),
      ...text('referer', fields.referer && unescaped(fields.referer.slice(1, -1))),
      ...text('user_agent', fields.user_agent && unescaped(fields.user_agent.slice(1, -1))),
      ...text('extra', fields.extra && onlyText(fields.extra)),
    ];
  },
};

function text(name: string, value: string | undefined): readonly Member[] {
  return value === undefined || value === '-' ? [] : [textMember(name, value)];
}

function number(name: string, value: string | undefined): readonly Member[] {
  if (value !== undefined && NUMBER.test(value)) return [{ name, json: value }];
  return text(name, value);
}

/** Returns further fields as they were written; one field in quotes without them. */
function onlyText(extra: string): string {
  const isOne = extra.startsWith('"') && extra.indexOf('"', 1) === extra.length - 1;
  return isOne ? unescaped(extra.slice(1, -1)) : extra;
}

/** Returns a text without the escapes of nginx (`\xC3`) and Apache (`\"`), or as it was written if its bytes are no UTF-8. */
function unescaped(value: string): string {
  if (!value.includes('\\')) return value;
  // Each escaped byte becomes a character below 256; the others become the bytes of their UTF-8.
  const bytes = Buffer.from(value)
    .toString('latin1')
    .replace(ESCAPE, (_all, byte, sign) =>
      byte === undefined ? (SIGNS[sign] ?? sign) : String.fromCharCode(Number.parseInt(byte, 16)),
    );
  const decoded = Buffer.from(bytes, 'latin1').toString();
  return decoded.includes('\ufffd') ? value : decoded;
}
