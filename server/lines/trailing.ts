/** Finds what stands behind the message of a line of text: pairs, an object, a logger or a place in the code, a request and its status. */
import { type Member, textMember } from './line.ts';
import { membersOf } from './members.ts';

/** A line of an access log has its request in quotes, and the status behind it. */
const REQUEST =
  /"(?<request>(?<method>[A-Z]{3,10}) (?<path>\S{1,4000}) HTTP\/\d(?:\.\d)?)"(?: (?<status>[1-5]\d\d)(?= |$))?/;
/** morgan's `tiny` and `short`, Gin, Rails: `GET /path 200 1.2 ms`. */
const PLAIN_REQUEST =
  /(?:^|[-|] +)(?<method>GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (?<path>\S{1,4000})(?: HTTP\/\d(?:\.\d)?)? (?<status>[1-5]\d\d)(?= |$)/;
/** Gin: `| 200 |     1.2ms |  127.0.0.1 | GET      "/path"`. */
const GIN =
  /^\|? *(?<status>[1-5]\d\d) \| .{1,60}\| (?<method>[A-Z]{3,7}) +"(?<path>[^"]{1,4000})"/;
/** Squid: `5 10.0.0.1 TCP_MISS/200 1234 GET http://example.org/ - …`. */
const SQUID =
  /^\d{1,10} \S{1,64} [A-Z_]{3,40}\/(?<status>[1-5]\d\d) \d{1,20} (?<method>[A-Z]{3,10}) (?<path>\S{1,4000})/;
/** log4j2 for Kafka ends with `(com.example.Shop)`, rich with `file.py:16` in a column of its own. */
const LOGGER_BEHIND = / \((?<logger>[a-z][\w$]{0,60}(?:\.[\w$]{1,100}){1,12})\)$/;
const CALLER_BEHIND = / {2,}(?<caller>[\w./-]{1,100}\.[a-z]{1,5}:\d{1,7})$/;
/** The last of these stands last. Few messages end as they do. */
const BEHIND = [
  ['logger', LOGGER_BEHIND, /\)/],
  ['caller', CALLER_BEHIND, /\d/],
] as const;
const KEY = String.raw`[A-Za-z_][\w.@/-]{0,60}`;
const VALUE = String.raw`(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',]*)`;
/** `  used=91`: pairs up to the end, apart from the message or not. */
const PAIRS = new RegExp(`(?<apart>^| +)(?<pairs>${KEY}=${VALUE}(?: +${KEY}=${VALUE})*) *$`);
/** Words that do not end a message. */
const IN_SENTENCE =
  /(?:^|[\s(])(?:with|for|of|by|at|in|on|to|from|and|or|is|was|as|when|if|the|a|set|using|got|than|has|want|where|having|limit|values|update|because|until|while|then|but|not|no|are|be|were)$|[,;([{=]$/i;
const ONE_PAIR = new RegExp(`(?<key>${KEY})=(?<value>${VALUE})`, 'g');
/** Longer lines are not looked through for pairs. */
const MOST_CHARS = 16 * 1024;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Returns the message, `rest` with `others` behind it, and the members that stand behind it in `rest`. */
export function trailing(rest: string, others: string): readonly Member[] {
  if (rest.length > MOST_CHARS) return [textMember('message', rest + others)];
  const members: Member[] = [];
  let message = rest.trimEnd();
  for (const [name, pattern, end] of BEHIND) {
    const found = end.test(message.slice(-1)) ? pattern.exec(message) : null;
    if (!found) continue;
    members.push(textMember(name, found.groups?.[name] ?? ''));
    message = message.slice(0, found.index).trimEnd();
  }
  const object = objectBehind(message);
  if (object) {
    members.push(...object.members);
    message = object.message;
  }
  const pairs = object ? null : pairsBehind(message);
  if (pairs) {
    members.push(...pairs.members);
    message = pairs.message;
  }
  const request = requestIn(message);
  members.push(...request.members);
  return [textMember('message', request.message + others), ...members];
}

/** `msg\t{"order":"A-1"}`, `msg {"order":"A-1"} []`. Monolog writes an empty list where it has nothing. */
function objectBehind(message: string): { message: string; members: readonly Member[] } | null {
  let end = message.length;
  while (message.endsWith(' []', end) || message.endsWith(' {}', end)) end -= 3;
  if (message[end - 1] !== '}')
    return end < message.length - 3 ? { message: message.slice(0, end), members: [] } : null;
  const start = /[\t ]\{(?=")/.exec(message)?.index;
  if (start === undefined) return null;
  const json = message.slice(start + 1, end);
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  return { message: message.slice(0, start).trimEnd(), members: membersOf(json) };
}

/** A pair that a sentence needs is not taken from it: `failed with code=5`. */
function pairsBehind(message: string): { message: string; members: readonly Member[] } | null {
  if (!message.includes('=')) return null;
  const found = PAIRS.exec(message);
  const { apart = '', pairs = '' } = found?.groups ?? {};
  if (!found || found.index === 0) return null;
  const members = [...pairs.matchAll(ONE_PAIR)].map(({ groups }) =>
    pairMember(groups?.key ?? '', groups?.value ?? ''),
  );
  const before = message.slice(0, found.index).trimEnd();
  if (apart.length < 2 && IN_SENTENCE.test(before)) return null;
  // hclog has a colon before its pairs, and klog quotes its message.
  return { message: before.replace(/:$/, '').replace(/^"(.*)"$/, '$1'), members };
}

function pairMember(name: string, value: string): Member {
  if (NUMBER.test(value) || value === 'true' || value === 'false') return { name, json: value };
  const quote = value[0];
  const isQuoted = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return textMember(name, isQuoted ? value.slice(1, -1).replaceAll('\\"', '"') : value);
}

export function requestIn(message: string): { message: string; members: readonly Member[] } {
  const gin = GIN.exec(message)?.groups;
  const found = message.includes(' HTTP/') ? REQUEST.exec(message)?.groups : undefined;
  const squid = message.includes('TCP_') ? SQUID.exec(message)?.groups : undefined;
  const groups = gin ?? found ?? squid ?? PLAIN_REQUEST.exec(message)?.groups;
  if (!groups) return { message, members: [] };
  const { method = '', path = '', status } = groups;
  return {
    message: found?.request && message.startsWith(`"${found.request}" `) ? found.request : message,
    members: [
      textMember('method', method),
      textMember('path', path),
      ...(status ? [{ name: 'status', json: status }] : []),
    ],
  };
}
