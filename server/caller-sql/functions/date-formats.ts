import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';

/** BigQuery's elements of a format, by those of the engine. */
const ELEMENTS = dictionary<string>({
  '%E*S': '%S.%f',
  '%E3S': '%S.%g',
  '%E6S': '%S.%f',
  '%Ez': '%z',
  '%F': '%Y-%m-%d',
  '%T': '%H:%M:%S',
  '%R': '%H:%M',
  '%D': '%m/%d/%y',
  '%e': '%-d',
  '%k': '%-H',
  '%l': '%-I',
  '%h': '%b',
  '%n': '\n',
  '%t': '\t',
  '%E4Y': '%Y',
  '%P': '%p',
  '%Z': 'UTC',
});
const KNOWN = new Set('a A b B c d f g G H I j m M p S u U V w W x X y Y z %'.split(' '));

/**
 * A literal format of FORMAT_TIMESTAMP and its like, as the engine's `strftime` and `strptime` take it. In parts: null stands for the
 * seconds since the epoch, `%s`, which the engine does not know.
 */
export function formatOf(value: { literal?: string }, at: number | null): (string | null)[] {
  const format = value.literal;
  if (format === undefined) return reject(at, 'A format must be a string literal');
  if (format.length > 100) reject(at, 'A format may have 100 characters');
  const parts: (string | null)[] = [];
  let text = '';
  for (const [element] of format.matchAll(/%(?:E\*S|E\dS|Ez|E4Y|.)?|[^%]+/gs)) {
    const known = ELEMENTS[element] ?? (KNOWN.has(element.slice(1)) ? element : undefined);
    if (element === '%s') {
      if (text !== '') parts.push(text);
      parts.push(null);
      text = '';
    } else if (element.startsWith('%'))
      text += known ?? reject(at, `There is no element ${shown(element)} of a format`);
    else text += element;
  }
  return text === '' ? parts : [...parts, text];
}
