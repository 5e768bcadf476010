import { dictionary } from '../dictionary.ts';
import { reject, shown } from '../error.ts';
import { made } from '../functions/index.ts';
import { nodeOf, type TreeNode } from '../parse/tree.ts';
import { type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, flags, jsonOf, type Kind, nameOf } from '../typed-expression.ts';
import type { Context } from './context.ts';
import { called } from './function-calls.ts';
import { intervalOf } from './intervals.ts';

const CASTS = dictionary<readonly [Kind, string]>({
  VARCHAR: ['text', 'varchar'],
  BOOLEAN: ['bool', 'boolean'],
  DATE: ['date', 'date'],
  TIME: ['time', 'time'],
  INTERVAL: ['interval', 'interval'],
  TINYINT: ['number', 'bigint'],
  SMALLINT: ['number', 'bigint'],
  INTEGER: ['number', 'bigint'],
  BIGINT: ['number', 'bigint'],
  HUGEINT: ['number', 'bigint'],
  UTINYINT: ['number', 'bigint'],
  USMALLINT: ['number', 'bigint'],
  UINTEGER: ['number', 'bigint'],
  UBIGINT: ['number', 'bigint'],
  FLOAT: ['number', 'double'],
  DOUBLE: ['number', 'double'],
  DECIMAL: ['number', 'double'],
  TIMESTAMP: ['datetime', 'timestamp'],
  'TIMESTAMP WITH TIME ZONE': ['timestamp', 'timestamp'],
});

/** What the parser leaves as it is written. */
const ALIASES = dictionary<string>({
  int64: 'BIGINT',
  int: 'INTEGER',
  float64: 'DOUBLE',
  string: 'VARCHAR',
  text: 'VARCHAR',
  bool: 'BOOLEAN',
  datetime: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
});

export function cast(
  context: Context,
  value: Expression,
  type: TreeNode,
  at: number | null,
): Expression {
  const given = typeName(context, type);
  const name = ALIASES[given.toLowerCase()] ?? given.toUpperCase();
  if (name === 'JSON')
    return value.kind === 'text'
      ? jsonOf(sql`try_cast(${value.sql} as json)`, flags([value]))
      : made('json', as(value, 'json', at), [value]);
  const [kind, target] =
    CASTS[name] ??
    reject(
      at,
      `There is no type ${shown(given)} here; there are STRING, INT64, FLOAT64, BOOL, TIMESTAMP, DATETIME, DATE, TIME, INTERVAL, JSON`,
    );
  // Without BigQuery's types there is one for both.
  const wanted = context.dialect === 'duckdb' && kind === 'datetime' ? 'timestamp' : kind;
  if (kind === 'number') {
    const source = numeral(value, target, at);
    if (!['json', 'text', 'number', 'bool', 'null'].includes(value.kind))
      reject(
        at,
        `${nameOf(value.kind).replace(/^./, (c) => c.toUpperCase())} cannot be cast to a number`,
      );
    return made(
      'number',
      sql`try_cast(${source} as ${target})`,
      [value],
      value.literal !== undefined && value.kind === 'number' && target === 'double'
        ? { literal: value.literal }
        : {},
    );
  }
  // How the parser writes TRUE and FALSE.
  if (kind === 'bool' && (value.literal === 't' || value.literal === 'f'))
    return { kind, sql: value.literal === 't' ? 'true' : 'false' };
  if (kind === 'interval') return made(kind, intervalOf(value, at), [value]);
  if (kind === 'bool' && value.kind === 'number')
    return made(kind, sql`(${value.sql} <> 0)`, [value]);
  if (context.dialect === 'clickhouse' && kind === 'text')
    return called(context, 'tostring', [value], at);
  const cast = as(value, wanted, at);
  const isCut = context.dialect === 'clickhouse' && wanted === 'datetime';
  return made(wanted, isCut ? sql`date_trunc('second', ${cast})` : cast, [value]);
}

/** Returns what is cast to a number: for a whole number, only the digits of a text. */
function numeral(value: Expression, target: string, at: number | null): Sql {
  if (value.kind === 'json') return as(value, 'text', at);
  if (value.kind !== 'text' || target !== 'bigint') return value.sql;
  return sql`case when regexp_matches(${value.sql}, '^\\s*[-+]?(?:\\d+|0[xX][0-9a-fA-F]+)\\s*$') then ${value.sql} end`;
}

/** The name that the caller's text has, or the parser's for it. */
function typeName(context: Context, type: TreeNode): string {
  const info = type.type_info === undefined ? {} : nodeOf(type.type_info);
  const written = info.expr === undefined ? type.id : nodeOf(info.expr).type_name;
  return context.name(String(written));
}
