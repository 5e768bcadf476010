/** Syslog as programs send it and as /var/log has it: RFC 5424, and RFC 3164 with or without a priority, also with rsyslog's ISO stamps. */

import { leadingSeverity } from '../leading.ts';
import { type Format, type Member, textMember } from '../line.ts';
import { MOST_QUOTED_CHARS } from '../longest.ts';
import { haproxy } from './haproxy.ts';
import { logfmt } from './logfmt.ts';

const PRIORITY = /^<(?<priority>\d{1,3})>/;
const NEW =
  /^1 (?<time>\S{1,64}) (?<host>\S{1,255}) (?<app>\S{1,255}) (?<pid>\S{1,128}) (?<msgid>\S{1,255}) (?<rest>[-[].*)$/s;
const OLD_TIME =
  /^(?<time>(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d{1,9})?(?: \d{4})?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]{3,5}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)):? (?![A-Z]{3,4} \d{4} )/;
const HOST = /^(?<host>[\w.:%-]{1,255}) /;
/** rsyslog writes no colon behind the process of a message that came as RFC 5424. */
const TAG = /^(?<app>[^\s:[\]]{1,128})(?:\[(?<pid>[^\]\s]{1,64})\]:?|:)(?: |$)/;
const ELEMENT =
  /\[(?<id>[^\s=\]"]{1,255})(?<params>(?: [^\s=\]"]{1,255}="(?:[^"\\\]]|\\.)*")*)\]/suy;
const PARAM = / (?<name>[^\s=\]"]{1,255})="(?<value>(?:[^"\\\]]|\\.)*)"/gsu;

const BEGINS_PAIR = /^[A-Za-z_@][\w.@-]{0,60}=/;
const SAYS_ENOUGH = /^(?:ts|time|date|timestamp|level|lvl|severity|msg|message)$/i;
const SEVERITY_NAME = /^(?:level|lvl|severity)$/i;
const MESSAGE_NAME = /^(?:msg|message)$/i;

const LEVELS = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron'],
  ...['authpriv', 'ftp', 'ntp', 'audit', 'alert', 'clock'],
  ...Array.from({ length: 8 }, (_, at) => `local${at}`),
];

/** The priority becomes `facility` and `level`, in syslog's words. A stamp without a year stays as it was written. */
export const syslog: Format = {
  name: 'syslog',
  parse(line) {
    if (line.length > MOST_QUOTED_CHARS) return null;
    const [prefix, priority] = (line[0] === '<' && PRIORITY.exec(line)) || [];
    if (prefix === undefined) return oldMembers(line, false);
    const known = priorityMembers(Number(priority));
    if (known === null) return null;
    const rest = line.slice(prefix.length);
    const members = newMembers(rest) ??
      oldMembers(rest, true) ??
      pairsOf(rest) ?? [textMember('message', rest)];
    // The program knows its severity better.
    return members.some(({ name }) => SEVERITY_NAME.test(name))
      ? [...known.filter(({ name }) => name !== 'level'), ...members]
      : [...known, ...members];
  },
};

/** RFC 5424 has priorities up to 191. */
function priorityMembers(priority: number): readonly Member[] | null {
  if (priority > 191) return null;
  return [
    textMember('facility', FACILITIES[priority >> 3] ?? ''),
    textMember('level', LEVELS[priority & 7] ?? ''),
  ];
}

function newMembers(text: string): readonly Member[] | null {
  const {
    time = '',
    host = '',
    app = '',
    pid = '',
    msgid = '',
    rest,
  } = NEW.exec(text)?.groups ?? {};
  const data = rest === undefined ? null : structuredData(rest);
  if (data === null) return null;
  return [
    ...said('time', time),
    ...said('host', host),
    ...said('app', app),
    ...pidMembers(pid),
    ...said('msgid', msgid),
    ...data.members,
    // A byte order mark says that the message is UTF-8 (RFC 5424, section 6.4).
    ...messageMembers(app, data.message.replace(/^ ?\ufeff?/, ''), true),
  ];
}

/**
 * Returns the members of structured data, each named `sd.<id>.<name>`: an element's id has a meaning of its own, and two elements may have
 * the same name. An element without parameters is an empty object. A parameter that is said twice is two members.
 */
function structuredData(rest: string): { members: readonly Member[]; message: string } | null {
  const members: Member[] = [];
  let at = 1;
  if (rest[0] === '[') {
    ELEMENT.lastIndex = 0;
    for (let found = ELEMENT.exec(rest); found; found = ELEMENT.exec(rest)) {
      at = ELEMENT.lastIndex;
      const { id = '', params = '' } = found.groups ?? {};
      if (params === '') members.push({ name: `sd.${id}`, json: '{}' });
      for (const { groups } of params.matchAll(PARAM)) {
        const { name = '', value = '' } = groups ?? {};
        members.push(textMember(`sd.${id}.${name}`, value.replace(/\\(["\\\]])/g, '$1')));
      }
    }
    if (at === 1) return null;
  }
  if (at < rest.length && rest[at] !== ' ') return null;
  return { members, message: rest.slice(at + 1) };
}

function oldMembers(text: string, hasPriority: boolean): readonly Member[] | null {
  const stamp = OLD_TIME.exec(text);
  if (!stamp) return null;
  let rest = text.slice(stamp[0].length);
  const host = HOST.exec(rest);
  // A line to /dev/log has no host.
  const isTag = TAG.test(rest);
  if (host && !isTag) rest = rest.slice(host[0].length);
  const tag = TAG.exec(rest);
  if (!hasPriority) {
    // `2026-11-20T10:00:00Z  INFO mod: msg` is of another program.
    if (!host || isTag || leadingSeverity(host[0])) return null;
    if (!tag && /^\d/.test(text)) return null;
  }
  return [
    ...said('time', stamp.groups?.time),
    ...(isTag ? [] : said('host', host?.groups?.host)),
    ...said('app', tag?.groups?.app),
    ...pidMembers(tag?.groups?.pid),
    ...messageMembers(tag?.groups?.app ?? '', tag ? rest.slice(tag[0].length) : rest, hasPriority),
  ];
}

/** rsyslog writes control characters as three octal digits: `#011`. HAProxy's lines have a form of their own in the message. */
function messageMembers(app: string, message: string, hasPriority: boolean): readonly Member[] {
  const inner = app === 'haproxy' ? haproxy.parse(message) : null;
  if (inner) return inner;
  const pairs = pairsOf(message);
  if (pairs) return pairs;
  const text = message.replaceAll(/#(0[0-3][0-7])/g, (_all, octal) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  // Postfix, OpenSSH and others write `warning: ` into the message, which keeps it.
  const severity = hasPriority ? null : leadingSeverity(text);
  return severity
    ? [textMember('level', severity.text), textMember('message', text)]
    : [textMember('message', text)];
}

/** Pairs that a program wrote for its whole message: `level=error msg="it broke"`. Without a message among them the text is kept. */
function pairsOf(text: string): readonly Member[] | null {
  if (!BEGINS_PAIR.test(text)) return null;
  const pairs = logfmt.parse(text);
  if (!pairs?.some(({ name }) => SAYS_ENOUGH.test(name))) return null;
  const hasMessage = pairs.some(({ name }) => MESSAGE_NAME.test(name));
  return hasMessage ? pairs : [...pairs, textMember('message', text)];
}

/** `-` stands for nothing. */
function said(name: string, value: string | undefined): readonly Member[] {
  return value === undefined || value === '-' ? [] : [textMember(name, value)];
}

function pidMembers(pid: string | undefined): readonly Member[] {
  const isNumber = pid !== undefined && /^[1-9]\d{0,14}$/.test(pid);
  return isNumber ? [{ name: 'pid', json: pid }] : said('pid', pid);
}
