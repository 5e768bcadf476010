import { as, isUnreadable, isVerbatimNumber, named, quoted } from './expressions.ts';

/** What ends a statement that reads a value which ClickHouse would write in another way, or find elsewhere. */
const BEYOND = 'tailpond: beyond reach';

/** Returns the value of a name in a map of texts (server/caller-sql/attributes.ts), by the column of the member, which holds JSON. */
export function attributeOfColumn(column: string): string {
  // ClickHouse works out the same expression once, and filters by it before it reads other columns.
  const value = `coalesce(${named(column)}, '')`;
  return textOf(value, value);
}

/**
 * Returns the same, by the row's metadata. The statement ends with `BEYOND` where ClickHouse would write the value in another way than it stands there,
 * and where keys with dots may hold it.
 */
export function attributeOfMetadata(name: string): string {
  const parts = name.split('.');
  const steps = parts.includes('') ? [name] : parts;
  const dotted = steps
    .slice(1)
    .map((step, i) => `position(m, ${quoted(`${steps[i]}.${step}`)}) > 0`);
  const odd = [`m != '' and ${isUnreadable('m')}`, ...dotted].join(' or ');
  return as('m', `coalesce(metadata, '')`, reachable(odd, member('m', steps, true)));
}

/** `value`, or `BEYOND` where `isOdd` holds. */
function reachable(isOdd: string, value: string): string {
  return `if(throwIf(${isOdd}, ${quoted(BEYOND)}), '', ${value})`;
}

/** The text of what stands by these steps in a record, which may be the only element of an array; of metadata, the first. */
function member(
  value: string,
  [step = '', ...rest]: readonly string[],
  isMetadata = false,
): string {
  const [record, found] = [`r${rest.length}`, `v${rest.length}`];
  const isOne = isMetadata ? '' : ` and JSONLength(${value}) = 1`;
  const first = `multiIf(startsWith(${value}, '{'), ${value}, startsWith(${value}, '[')${isOne}, JSONExtractRaw(${value}, 1), '')`;
  const keys = [...new Set([step, step.replaceAll('_', '-')])];
  const raws = keys.map(
    (key) => `nullIf(nullIf(JSONExtractRaw(${record}, ${quoted(key)}), ''), 'null')`,
  );
  const text =
    rest.length > 0
      ? member(found, rest)
      : textOf(
          found,
          reachable(
            `${isValue(found)} and not (${keys.map((key) => isVerbatimNumber('m', key, found)).join(' or ')} or startsWith(${found}, '[') and position(m, ${found}) > 0)`,
            found,
          ),
        );
  return as(record, first, as(found, `coalesce(${raws.join(', ')}, '')`, text));
}

/** Whether a value of JSON is a number or an array of other than one record. */
function isValue(value: string): string {
  return `(${value} not in ('', 'true', 'false', '{}') and not startsWith(${value}, '"') and not ${isRecord(value)})`;
}

function isRecord(value: string): string {
  return `(startsWith(${value}, '{') and ${value} != '{}' or startsWith(${value}, '[{') and ${value} != '[{}]' and JSONLength(${value}) = 1)`;
}

/** The text of a value of JSON: a string's characters, '' for a record, for null and without a value, `plain` for any other. */
function textOf(value: string, plain: string): string {
  return `multiIf(${value} in ('', 'null') or ${isRecord(value)}, '', startsWith(${value}, '"'), JSONExtractString(${value}), ${plain})`;
}
