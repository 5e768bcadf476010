/** HAProxy's `option httplog`: `10.0.0.1:5 [20/Nov/2026:10:00:00.123] web shop/one 0/0/1/2/3 200 73 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"`. */
import { type Format, type Member, textMember } from '../line.ts';

const HTTP =
  /^(?<client>\S{3,64}:\d{1,5}) \[(?<time>\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d\.\d{3})\] (?<frontend>\S{1,200}) (?<backend>\S{1,200}\/\S{1,200}) (?<timers>[-+\d/]{5,60}) (?<status>[1-5]\d\d|-1) \+?(?<bytes>\d{1,20}) \S{1,1000} \S{1,1000} (?<state>\S{4}) [\d/+]{5,60} \d{1,10}\/\d{1,10} (?:\{(?<headers>[^}]{0,2000})\} ){0,2}"(?<message>(?<method>[A-Z]{3,10}) (?<path>\S{1,8000}).*)"$/s;
const NUMBERS = new Set(['status', 'bytes']);

export const haproxy: Format = {
  name: 'haproxy',
  parse(line) {
    const found = line.endsWith('"') ? HTTP.exec(line)?.groups : undefined;
    if (!found) return null;
    return Object.entries(found).flatMap(([name, value]): readonly Member[] => {
      if (!value || value === '-1') return [];
      return [NUMBERS.has(name) ? { name, json: String(Number(value)) } : textMember(name, value)];
    });
  },
};
