/** What several statements for ClickHouse are put together of. */

/** `body` with a name for a value. */
export function as(name: string, value: string, body: string): string {
  return `arrayMap(${name} -> ${body}, [${value}])[1]`;
}

/** Whether ClickHouse cannot read a value of JSON that it may have written itself. */
export function isUnreadable(value: string): string {
  return `(JSONType(${value}) = 'Null' and ${value} != 'null')`;
}

/**
 * Whether a number is written as it stands in `text`: in these digits wherever a member of this name does. ClickHouse writes numbers anew,
 * and reads none with more than 64 bits.
 */
export function isVerbatimNumber(text: string, name: string, number: string): string {
  const key = quoted(`${JSON.stringify(name)}:`);
  const times = (sought: string) => `countSubstrings(${text}, ${sought})`;
  const found = `${times(`concat(${key}, ${number}, ',')`)} + ${times(`concat(${key}, ${number}, '}')`)}`;
  return `((${found}) > 0 and (${found}) = ${times(key)})`;
}

export function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

/** The name of a column, table or function. */
export function named(name: string): string {
  return `\`${name.replaceAll(/[\\`]/g, '\\$&')}\``;
}
