/** Apache's error log, since 2.4 `[Fri Nov 20 10:00:00.123456 2026] [core:error] [pid 1:tid 2] [client 10.0.0.1:5] AH00124: msg`; before it without a process. */
import { type Format, type Member, textMember } from '../line.ts';

const ERROR =
  /^\[(?<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \d{4})\] \[(?:(?<module>[\w-]{0,60}):)?(?<level>[a-z]{4,6}[1-8]?)\] (?:\[pid (?<pid>\d{1,10})(?::tid (?<tid>\d{1,20}))?\] )?(?<before>\(\d{1,10}\)[^[:]{1,200}: )?(?:\[(?:client|remote) (?<client>[^\]]{1,100})\] )?(?<message>.*)$/s;
const CODE = /^(?:\(\d{1,10}\)[^:]{1,200}: )?(?<code>AH\d{5}): /;
const REFERER = ', referer: ';

/** The code, such as AH00124, and the referer stay in the message, too. */
export const apacheError: Format = {
  name: 'apache-error',
  parse(line) {
    const found = line[0] === '[' ? ERROR.exec(line)?.groups : undefined;
    if (!found) return null;
    const { time = '', level = '', module, pid, tid, client, before = '' } = found;
    const whole = before + (found.message ?? '');
    const at = whole.lastIndexOf(REFERER);
    const code = CODE.exec(whole.slice(0, 300))?.groups?.code;
    return [
      textMember('time', time),
      ...(module ? [textMember('module', module)] : []),
      textMember('level', level),
      ...number('pid', pid),
      ...number('tid', tid),
      ...(client ? [textMember('client', client)] : []),
      ...(code ? [textMember('code', code)] : []),
      textMember('message', whole),
      ...(at === -1 ? [] : [textMember('referer', whole.slice(at + REFERER.length))]),
    ];
  },
};

function number(name: string, digits: string | undefined): readonly Member[] {
  return digits === undefined ? [] : [{ name, json: String(BigInt(digits)) }];
}
