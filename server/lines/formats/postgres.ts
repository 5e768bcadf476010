/** PostgreSQL's log on stderr, with the prefixes of Debian (`%m [%p] %q%u@%d `), of its own default and Docker (`%m [%p] `), and of pgBadger (`%t [%p]: [%l-1] user=%u,db=%d `). */
import { type Format, type Member, textMember } from '../line.ts';

const LOG =
  /^(?<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})? \S{1,8}) \[(?<pid>\d{1,10})\]:? (?:\[(?<line>\d{1,10})-\d{1,10}\] )?(?:user=(?<user>[^,]{0,63}),db=(?<database>[^ ,]{0,63})(?:,app=(?<application>[^,]{0,63}))?(?:,client=(?<client>[^ ]{0,100}))? |(?<at_user>[^@:"]{1,63})@(?<at_database>[^:"]{1,63}?) )?(?<word>DEBUG[1-5]?|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|STATEMENT|CONTEXT|QUERY|LOCATION|BACKTRACE): {1,2}(?<message>.*)$/s;
/** Most lines of other formats have another beginning. */
const BEGINNING = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})? \S{1,8} \[\d/;
const PART_WORD = /(?:DETAIL|HINT|STATEMENT|CONTEXT|QUERY|LOCATION|BACKTRACE): /;
const ENTRY_PART = /^(?:DETAIL|HINT|STATEMENT|CONTEXT|QUERY|LOCATION|BACKTRACE)$/;

/**
 * A line that is a part of an entry, such as its DETAIL, has no level, and keeps the word in its message; joined to its entry it is a member
 * of that.
 */
export const postgres: Format = {
  name: 'postgres',
  parse(entry) {
    if (!BEGINNING.test(entry)) return null;
    const [line, ...parts] = partsOf(entry);
    const found = LOG.exec(line ?? '')?.groups;
    if (!found) return null;
    const { time = '', pid = '', line: number, word = '', message = '' } = found;
    const isPart = ENTRY_PART.test(word);
    return [
      textMember('time', time),
      { name: 'pid', json: String(Number(pid)) },
      ...(number ? [{ name: 'session_line', json: String(Number(number)) }] : []),
      ...text('user', found.user ?? found.at_user),
      ...text('database', found.database ?? found.at_database),
      ...text('application', found.application),
      ...text('client', found.client),
      ...(isPart ? [] : [textMember('level', word)]),
      textMember('message', isPart ? `${word}:  ${message}` : message),
      ...parts.flatMap((part) => {
        const { word: name = '', message: value = '' } = LOG.exec(part)?.groups ?? {};
        return text(name.toLowerCase(), value);
      }),
    ];
  },
};

/** Returns the lines of an entry, with those behind each that have no head. */
function partsOf(entry: string): string[] {
  const parts: string[] = [];
  for (const line of entry.split('\n'))
    if (parts.length === 0 || isPostgresPart(line)) parts.push(line);
    else parts.push(`${parts.pop()}\n${line}`);
  return parts;
}

/** Says whether a line belongs to PostgreSQL's entry before it: its DETAIL, HINT, STATEMENT or CONTEXT. */
export function isPostgresPart(head: string): boolean {
  if (!BEGINNING.test(head) || !PART_WORD.test(head)) return false;
  return ENTRY_PART.test(LOG.exec(head)?.groups?.word ?? '');
}

function text(name: string, value: string | undefined): readonly Member[] {
  return value ? [textMember(name, value)] : [];
}
