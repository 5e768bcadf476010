/** nginx's error log: `2026/11/20 10:00:00 [error] 123#124: *4 msg, client: 10.0.0.1, server: shop, request: "GET / HTTP/1.1"`. */
import { type Format, type Member, textMember } from '../line.ts';

const ERROR =
  /^(?<time>\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d) \[(?<level>[a-z]{4,6})\] (?<pid>\d{1,10})#(?<tid>\d{1,10}): (?:\*(?<connection>\d{1,20}) )?(?<message>.*)$/s;
const FIRST_FACT = ', client: ';
/** nginx does not escape quotes in these: one ends where the next fact begins, or the line. */
const FACT = /, (?<name>[a-z]{3,20}): (?:"(?<quoted>.*?)"|(?<bare>[^",]*))(?=, [a-z]{3,20}: |$)/suy;

/** Facts about the request become members by nginx's names; they stay in the message, too. */
export const nginxError: Format = {
  name: 'nginx-error',
  parse(line) {
    const found = line[4] === '/' ? ERROR.exec(line)?.groups : undefined;
    if (!found) return null;
    const { time = '', level = '', pid = '', tid = '', connection, message = '' } = found;
    return [
      textMember('time', time),
      textMember('level', level),
      number('pid', pid),
      number('tid', tid),
      ...(connection ? [number('connection', connection)] : []),
      textMember('message', message),
      ...factsIn(message),
    ];
  },
};

function factsIn(message: string): readonly Member[] {
  const start = message.indexOf(FIRST_FACT);
  const facts: Member[] = [];
  FACT.lastIndex = start;
  while (start !== -1 && FACT.lastIndex < message.length) {
    const { name = '', quoted, bare = '' } = FACT.exec(message)?.groups ?? {};
    if (!name) return [];
    facts.push(textMember(name, quoted ?? bare));
  }
  return facts;
}

function number(name: string, digits: string): Member {
  return { name, json: String(BigInt(digits)) };
}
