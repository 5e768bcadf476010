/**
 * Reads any line of text. At its beginning stand a moment, a word of severity, and names of a logger, a thread or a place in the code, in
 * the order of the program; behind the message may stand pairs or an object. What is not surely one of these stays in the message.
 */
import {
  behindGap,
  HEAD_CHARS,
  innerMoment,
  leadingClock,
  leadingMoment,
  leadingSeverity,
} from '../leading.ts';
import { type Format, type Member, textMember } from '../line.ts';
import { requestIn, trailing } from '../trailing.ts';

/** Heads that have their own order. The group `mark` is Redis's sign of severity. */
const HEADS: readonly RegExp[] = [
  // Go's klog and glog: `I1120 10:00:00.000000       1 file.go:1] msg`.
  /^(?<level>[IWEF])(?<time>\d{4} \d\d:\d\d:\d\d\.\d{1,9}) +(?<pid>\d{1,15}) (?<caller>[^\s\]]{1,100}:\d{1,7})\] ?/,
  // Ruby's Logger, so Rails: `I, [2026-11-20T10:00:00.123456 #1]  INFO -- : msg`.
  /^[DIWEFUA], \[(?<time>\S{19,40}) #(?<pid>\d{1,10})\] {1,3}(?<level>[A-Z]{3,7}) -- (?<logger>[^:\s]{0,60}): ?/,
  // Redis: `1:M 20 Nov 2026 10:00:00.123 * msg`.
  /^(?<pid>\d{1,10}):(?<role>[A-Z]) (?<time>\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}) (?<mark>[.*#-]) /,
  /^(?<pid>\d{1,10}):signal-handler \((?<time>1\d{9})\) /,
  // Android: `11-20 10:00:00.123  1234  5678 E Tag: msg`.
  /^(?<time>\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) +(?<pid>\d{1,10}) +(?<tid>\d{1,10}) (?<level>[VDIWEF]) (?<logger>[^:\s][^:]{0,100}?) *: /,
  // Spark: `26/11/20 10:00:00 INFO Shop: msg`.
  /^(?<short>\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d) (?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (?<logger>[\w.$]{1,100}): /,
  // CockroachDB: `I261120 10:00:00.123456 1 cli/start.go:10 ⋮ [n1] msg`.
  /^(?<level>[IWEF])(?<short>\d{6} \d\d:\d\d:\d\d\.\d{6}) (?<pid>\d{1,15}) (?:\d@)?(?<caller>\S{1,100}:\d{1,7}) /,
  // Application load balancers of AWS.
  /^(?<type>https?|h2|grpcs|wss?) (?<time>\d{4}-\d\d-\d\dT[\d:.]{8,16}Z) (?<elb>\S{1,100}) (?<client>\S{1,60}) (?<target>\S{1,60}) \S{1,12} \S{1,12} \S{1,12} (?<elb_status_code>\d{3}|-) (?<target_status_code>\d{3}|-) (?<received_bytes>\d{1,20}) (?<sent_bytes>\d{1,20}) (?=")/,
  // Gin.
  /^\[GIN\] (?<time>\d{4}\/\d\d\/\d\d - \d\d:\d\d:\d\d) (?=\|)/,
  /^\[GIN-debug\] \[(?<level>WARNING|ERROR)\] /,
  /^\[GIN-(?<level>debug)\] /,
  // Python's `basicConfig`: `ERROR:shop.cart:msg`.
  /^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?<logger>[\w.-]{1,100}):(?=\S)/,
  // logrus without a terminal's clock: `WARN[0012] msg`.
  /^(?<level>TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[(?<seconds>\d{4,8})\] ?/,
  // env_logger: `[2026-11-20T10:00:00Z INFO  mod] msg`; Celery: `[2026-11-20 10:00:00,123: INFO/MainProcess] msg`.
  /^\[(?<time>\d{4}-[^\]]{14,35}?):? +(?<level>TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|VRB|DBG|INF|WRN|ERR|FTL)(?: *[ /:] *(?<logger>[^\s\]]{1,100}))?\] /,
  // Serilog's console: `[10:00:00 INF] msg`.
  /^\[(?<clock>\d\d:\d\d:\d\d(?:\.\d{1,7})?) (?<level>VRB|DBG|INF|WRN|ERR|FTL)\] /,
];
/** Most lines have none of these heads. */
const MAY_HAVE_HEAD =
  /^(?:[IWEF]\d|[DIWEFUA], \[|\d{1,10}:(?:[A-Z] |sig)|(?:https?|h2|grpcs|wss?) \d|\d\d-\d\d |\d\d\/\d\d\/\d\d |[A-Z]{4,8}[:[]|\[(?:\d{4}-|\d\d:\d\d:\d\d[ .]|GIN))/;
const MARKS: Readonly<Record<string, string>> = {
  '.': 'debug',
  '-': 'info',
  '*': 'notice',
  '#': 'warning',
};

/** A part beside the moment and the severity. */
interface Side {
  readonly member: Member;
  readonly end: number;
  /** It cannot be the beginning of a message. Otherwise it is a part only if a word of severity stands behind it. */
  readonly isSure: boolean;
  /** It is a name with nothing but a colon behind it. */
  readonly isName?: boolean;
  /** The severity that it names behind a slash. */
  readonly level?: string;
}

/** Facts that the head of a line has told so far. */
interface Said {
  isDated: boolean;
  hasLevel: boolean;
  /** Parts that stand beside the moment and the severity, without spans. */
  sides: number;
  /** Names with nothing but a colon behind them. */
  names: number;
}

const MOST_PARTS = 10;
const CISCO = /^[*.](?=[A-Z][a-z]{2} {1,2}\d)/;
const PID = /[[(](\d{1,10})[\])]:?(?=\s)|(\d{1,10})(?= {1,3}(?:---|\[[A-Z]| - ))/y;
const ERLANG = /<\d{1,10}\.\d{1,10}\.\d{1,10}>(?=\s)/y;
/** A thread, a logger or another tag; a list of values is none. */
const TAG = /\[ *([\w .:/@#$+<>-]{1,100}?) *\]:?(?=[\s[(])|\(([\w.:/$-]{1,60})\):?(?=\s)/y;
const CALLER = /([\w./\\@-]{1,150}\.[a-z]{1,5}:\d{1,7})(?::\d{1,6})?:?(?=\s)/iy;
const NAME = /([A-Za-z_$][\w$./@#:<>[\]-]{0,100}?)( +- | +-- | +: | {0,20}\| ?|\t|: )(?=\S)/y;
/** Names that begin a message rather than name a logger: `Error: timeout`. */
const MESSAGE_NAME =
  /(?:^|[a-z_.])(?:error|exception|warning|fail(?:ed|ure)?|timeout|panic|note|fault|https?|by|to|at|is|was|GET|POST)$/i;
/** A name with nothing but a colon behind it. A word with a capital begins a sentence: `Logging: started`. */
const WORD_NAME = /^[a-z_$][a-z\d_$-]*$/;
const PATH_NAME = /[a-z\d_](?:[./#]|::?)[A-Za-z_]/;
/** Addresses, hosts and files are what a message is about. */
const OTHER_NAME =
  /:\/\/|@|\.(?:com|org|net|io|dev|local|internal|ya?ml|json|toml|conf|cfg|ini|xml|txt|log|csv|pem|crt|key|html?|sh|sql|so|service)$/i;
/** A name before a number, a pair or an object alone belongs to the message: `exit: 1`. */
const ONLY_VALUE =
  /^(?:[-+]?\d[\d.,:]* ?[A-Za-z%]{0,3}$|[A-Za-z_][\w.-]{0,60}=|[{[]\s*(?:["\]}]|$))/;
/** tracing's compact form has the names of spans before that of the logger. */
const TRACING = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z {1,2}[A-Z]{4,5} /;
/** tracing's spans: `checkout{order="A-1"}: `. */
const SPAN = /([\w:.-]{1,80}\{[^}]{0,500}\}):(?=\s)/y;
/** `com.example.Shop` before a thread: it has no separator behind it. */
const DOTTED = /([a-z][\w$]{0,60}(?:\.[\w$]{1,100}){1,12})(?= {1,3}\[)/y;
/** Airflow's place in the code, and ClickHouse's query, which may be empty: `{dag.py:12} ERROR`. */
const BRACES = /\{([\w.:/-]{0,100})\}(?=\s)/y;
/** Sidekiq's pairs before its severity: `pid=1 tid=abc INFO: start`. */
const PAIRS_BEFORE =
  /((?:[\w.]{1,30}=[^\s"]{0,100} ){0,11}[\w.]{1,30}=[^\s"]{0,100}) (?=(?:DEBUG|INFO|WARN|ERROR|FATAL): )/y;
const SLASH_LEVEL = /\/(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\]:?$/;
/** Words between a moment and a severity: a host, a program. */
const BARE = /((?![A-Z]+ )[\w.$/@#-]{1,80}(?:\[\d{1,10}\])?):?(?=\s)/y;
const LETTER = /[TDIWEFVC](?= )/y;
/** Monolog, so Laravel: `local.ERROR: msg`. */
const CHANNEL = /(?<channel>[\w-]{1,60})\.(?<level>[A-Z]{4,9}): /y;
/** `level=warn` anywhere in the head of a line. */
const PAIR =
  /(?:^|[\s,{[(])(?:log_?level|level|lvl|severity)["']?[=:] ?["']?(?<level>[a-z]{1,12})\b/i;
/** .NET writes `info: Shop.Orders[7]` in a line of its own, and java.util.logging the moment, the class and the method. */
const LOGGER_ALONE = /^(?<logger>[\w.$`+<>-]{1,200})\[(?<event_id>\d{1,10})\]$/;

export const text: Format = {
  name: 'text',
  parse(line) {
    const end = line.indexOf('\n');
    const first = end < 0 ? line : line.slice(0, end);
    const others = end < 0 ? '' : line.slice(end);
    const head = ownHead(first) ?? anyHead(first);
    const { from, isHead } = head;
    const grade = head.members.some(({ name }) => name === 'level')
      ? null
      : gradeOf(first, from, others);
    const own = grade === null ? head.members : [...head.members, textMember('level', grade)];
    const members = datedBy(own, first);
    const rest = first.slice(from);
    const whole = twoLined(members, rest, others);
    if (whole) return whole;
    if (!isHead) return [...members, textMember('message', line), ...requestIn(first).members];
    if (rest !== '') return [...members, ...trailing(rest, others)];
    // A head that says nothing else keeps its text.
    return [...members, textMember('message', others === '' ? first : others.trimStart())];
  },
};

/** Beginnings of messages that name a severity in another way, or an error that nothing caught. They stay in the message. */
const GRADE =
  /PHP (?<php>Fatal error|Parse error|Warning|Notice|Deprecated):|##\[(?<hash>error|warning|debug)\]|(?<rust>error|warning)\[[A-Z]?\d{1,5}\]: |npm (?<npm>ERR!|error|WARN|warn|notice|info) |(?<uncaught>thread '[^']{0,100}'(?: \(\d+\))? panicked at |Exception in thread "|Unhandled exception[.:] |Traceback \(most recent call last\):)/y;
const PHP_WORDS: Readonly<Record<string, string>> = {
  'Fatal error': 'fatal',
  'Parse error': 'fatal',
  Deprecated: 'notice',
};
/** The trace of an error that Node prints at the left edge. */
const NODE_TRACE =
  /(?:^|\n)(?:Uncaught )?[A-Z]?[\w$]{0,60}(?:Error|Exception)(?: \[\w{1,60}\])?(?:: [^\n]{0,2000})?\n {4}at /;
/** Python prints a warning with the line of code in the next line. */
const PYTHON_WARNING = /^\S{1,200}\.py:\d{1,7}: [A-Z]?\w{0,60}Warning: /;
const TRACE_CHARS = 4096;

/** Returns the severity that the message of a line without a word of severity says; null if it says none. */
function gradeOf(line: string, from: number, others: string): string | null {
  const groups = matchAt(GRADE, line, from)?.groups;
  if (groups) {
    const { php, hash, rust, npm } = groups;
    const word = (php && PHP_WORDS[php]) ?? php ?? hash ?? rust ?? npm?.replace('!', '');
    return word ?? 'error';
  }
  if (others === '') return null;
  if (PYTHON_WARNING.test(line.slice(from, from + HEAD_CHARS))) return 'warning';
  return NODE_TRACE.test((line.slice(from) + others).slice(0, TRACE_CHARS)) ? 'error' : null;
}

/** Returns the members with the moment that stands behind the first words of a line, where the head has none. */
function datedBy(members: readonly Member[], line: string): readonly Member[] {
  // A line that goes on another one by itself begins with a blank.
  if (line.charCodeAt(0) <= 0x20) return members;
  for (const { name } of members) if (name === 'time') return members;
  const moment = innerMoment(line);
  return moment === null ? members : [...members, textMember('time', moment)];
}

interface Head {
  readonly members: readonly Member[];
  /** Where the message begins. */
  readonly from: number;
  /** The line begins with a moment or a severity. */
  readonly isHead: boolean;
}

function ownHead(line: string): Head | null {
  const head = line.slice(0, HEAD_CHARS);
  if (!MAY_HAVE_HEAD.test(head)) return null;
  for (const form of HEADS) {
    const found = form.exec(head);
    if (!found?.groups) continue;
    const { mark, pid, short, ...groups } = found.groups;
    const members = Object.entries(groups).flatMap(([name, value]) =>
      value ? [textMember(name, value)] : [],
    );
    if (short) members.push(textMember('time', withCentury(short)));
    if (mark) members.push(textMember('level', MARKS[mark] ?? ''));
    if (pid) members.push({ name: 'pid', json: String(Number(pid)) });
    return { members, from: found[0].length, isHead: true };
  }
  return null;
}

/** Returns a moment whose year has two digits and stands first. */
function withCentury(short: string): string {
  return short.replace(/^(\d\d)\/?(\d\d)\/?(\d\d)/, '20$1-$2-$3');
}

/** Takes parts from the beginning of a line as long as they are surely none of the message. */
function anyHead(line: string): Head {
  const head = line.slice(0, HEAD_CHARS);
  const members: Member[] = [];
  const said: Said = { isDated: false, hasLevel: false, sides: 0, names: 0 };
  /** Parts that are taken only if a moment or a severity stands behind them. */
  let pending: Member[] = [];
  let from = 0;
  // Cisco writes a sign for a clock that is not set.
  let at = (line[0] === '*' || line[0] === '.') && CISCO.test(head) ? 1 : 0;
  const take = (member: Member, end: number) => {
    members.push(...pending, member);
    pending = [];
    // A comma behind a moment parts columns.
    from = at = head[end] === ',' && member.name === 'time' ? end + 1 : end;
  };
  for (let parts = 0; parts < MOST_PARTS; parts++) {
    at = behindGap(head, at);
    if (at >= line.length) break;
    const time = said.isDated ? null : leadingMoment(head, at);
    const clock = said.isDated || time ? null : leadingClock(head, at);
    const severity = said.hasLevel || time || clock ? null : severityAt(head, at, said.isDated);
    if (time ?? clock) {
      said.isDated = true;
      if (time) take(textMember('time', time.text), time.end);
      else if (clock) take(textMember('clock', clock.text), clock.end);
    } else if (severity) {
      said.hasLevel = true;
      // `Error: timeout`: the word belongs to the message, too.
      take(textMember('level', severity.text), severity.isPlain ? severity.end : at);
      if (severity.channel) {
        members.push(textMember('channel', severity.channel));
        said.sides++;
      }
      if (!severity.isPlain) break;
    } else {
      const side = sideAt(head, at, said, pending.length);
      if (!side) break;
      const behind = behindGap(head, side.end);
      if (behind >= line.length) break;
      if (side.isName) {
        if (ONLY_VALUE.test(line.slice(behind, behind + HEAD_CHARS))) break;
        said.names++;
      } else if (side.member.name !== 'span') said.sides++;
      if (!side.isName && side.isSure && side.member.name === 'logger') said.names++;
      if (side.isSure) {
        take(side.member, side.end);
        // Minecraft: `[Server thread/WARN]: msg`.
        const level = said.hasLevel || !side.level ? null : side.level;
        if (level) {
          said.hasLevel = true;
          members.push(textMember('level', level));
        }
      } else {
        pending.push(side.member);
        at = side.end;
      }
    }
  }
  if (!said.hasLevel) {
    const level = PAIR.exec(head)?.groups?.level;
    if (level) members.push(textMember('level', level));
  }
  const isHead = said.hasLevel || members.some(({ name }) => name === 'time');
  // A time of day alone may belong to a sentence.
  if (!isHead) return { members: members.filter(({ name }) => name === 'level'), from: 0, isHead };
  return { members: renamed(members), from: from > 0 ? behindGap(head, from) : 0, isHead };
}

/** consola, signale and others write a sign for the severity. */
const SIGNS: Readonly<Record<string, string>> = {
  '\u2139': 'info',
  '\u2714': 'success',
  '\u26a0': 'warn',
  '\u2716': 'error',
};

function severityAt(head: string, at: number, isDated: boolean) {
  const sign = head[at + 1] === ' ' ? SIGNS[head[at] ?? ''] : undefined;
  if (sign) return { text: sign, end: at + 1, isPlain: true, channel: null };
  const found = leadingSeverity(head, at);
  if (found) {
    const { text, end, isPlain } = found;
    return { text, end, isPlain, channel: null };
  }
  const channel = matchAt(CHANNEL, head, at);
  const { level = '', channel: name = '' } = channel?.groups ?? {};
  if (channel && leadingSeverity(`${level}:`))
    return { text: level, end: at + channel[0].length, isPlain: true, channel: name };
  // TensorFlow, and MongoDB before 4.4.
  const letter = isDated ? matchAt(LETTER, head, at) : null;
  return letter && { text: letter[0], end: at + letter[0].length, isPlain: true, channel: null };
}

/** Returns a part that is neither a moment nor a severity. `before`: parts before it that are not sure. */
function sideAt(head: string, at: number, said: Said, before: number): Side | null {
  const { isDated, hasLevel } = said;
  const isBegun = isDated || hasLevel;
  const isFull = isDated && hasLevel;
  const sign = head[at] ?? '';
  const isBracket = sign === '[' || sign === '(';
  const mayBePid = isBracket || (sign >= '0' && sign <= '9');
  const tag =
    (mayBePid ? side(PID, head, at, 'pid', isBegun && isBracket) : null) ??
    (isBracket
      ? side(TAG, head, at, 'tag', isBegun && (before === 0 || isFull))
      : ((sign === '<' ? side(ERLANG, head, at, 'process', isBegun) : null) ??
        side(CALLER, head, at, 'caller', isFull) ??
        (head.includes('{', at) ? side(SPAN, head, at, 'span', isFull) : null)));
  if (tag) {
    const level = isBracket ? SLASH_LEVEL.exec(head.slice(at, tag.end))?.[1] : undefined;
    return level ? { ...tag, level } : tag;
  }
  if (sign === '{') return side(BRACES, head, at, 'context', false);
  if (isDated && !hasLevel) {
    const pairs = side(PAIRS_BEFORE, head, at, 'context', false);
    if (pairs) return pairs;
  }
  const named = matchAt(NAME, head, at);
  const [whole = '', name = '', separator = ''] = named ?? [];
  const isName = separator === ': ';
  if (named && !MESSAGE_NAME.test(name) && (!isName || isLogger(name, head, said)))
    return {
      member: textMember('logger', name),
      end:
        at +
        whole.length -
        (separator === '\t' ? 0 : separator.length) +
        separator.trimEnd().length,
      isSure: isFull,
      isName,
    };
  if (isFull) return side(DOTTED, head, at, 'logger', false);
  return isDated && before < 2 ? side(BARE, head, at, 'logger', false) : null;
}

/**
 * Tells whether a name before a colon is that of a logger. One such name is taken at most. A word by itself has to stand directly behind a
 * moment and a severity, as loggers write it: `ERROR db: connection: refused` may be a sentence.
 */
function isLogger(name: string, head: string, { isDated, hasLevel, sides, names }: Said): boolean {
  if (names > 0 && !(names === 1 && TRACING.test(head))) return false;
  if (WORD_NAME.test(name)) return !(isDated && hasLevel) || sides === 0;
  return PATH_NAME.test(name) && !OTHER_NAME.test(name);
}

/** Returns the part that a pattern matches. It has one group, or two of which one matches, or none. */
function side(
  pattern: RegExp,
  head: string,
  at: number,
  name: string,
  isSure: boolean,
): Side | null {
  const found = matchAt(pattern, head, at);
  if (!found) return null;
  const value = found[1] ?? found[2] ?? found[0];
  return { member: memberOf(name, value), end: at + found[0].length, isSure };
}

function memberOf(name: string, value: string): Member {
  if (name === 'pid') return { name, json: String(Number(value)) };
  return textMember(name, value);
}

function hasTwoOfOneName(members: readonly Member[]): boolean {
  for (let at = 1; at < members.length; at++)
    for (let other = 0; other < at; other++)
      if (members[at]?.name === members[other]?.name) return true;
  return false;
}

/** Gives the further members of one name others: `tag`, `tag2`. */
function renamed(members: readonly Member[]): readonly Member[] {
  if (!hasTwoOfOneName(members)) return members;
  const counts = new Map<string, number>();
  return members.map(({ name, json }) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { name: count > 1 ? `${name}${count}` : name, json };
  });
}

/** Returns the members of an entry whose head is a line of its own, and whose message stands in the next; null for another. */
function twoLined(
  members: readonly Member[],
  rest: string,
  others: string,
): readonly Member[] | null {
  if (others === '') return null;
  const { logger, event_id } = LOGGER_ALONE.exec(rest)?.groups ?? {};
  if (logger && event_id)
    return [
      ...members,
      textMember('logger', logger),
      { name: 'event_id', json: String(Number(event_id)) },
      textMember('message', others.trimStart()),
    ];
  const second = others.slice(1);
  const severity = leadingSeverity(second);
  const isDated = members.some(({ name }) => name === 'time');
  const hasLevel = members.some(({ name }) => name === 'level');
  if (!isDated || hasLevel || !severity?.isPlain) return null;
  return [
    ...members,
    textMember('level', severity.text),
    textMember('logger', rest),
    textMember('message', second.slice(behindGap(second, severity.end))),
  ];
}

function matchAt(pattern: RegExp, head: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(head);
}
