import { reject } from '../../error.ts';
import { sql } from '../../sql-fragment.ts';
import { as, nameOf } from '../../typed-expression.ts';
import {
  constant,
  expr,
  type Functions,
  over,
  type SqlFunction,
  simple,
  takes,
} from '../builder.ts';

/** Returns the whole number that a text consists of; `other` for another text, and beyond the range. */
function wholeNumber(bits: number, isSigned: boolean, other: string): SqlFunction {
  const power = bits - (isSigned ? 1 : 0);
  const most = `${(1n << BigInt(power)) - 1n}`;
  const least = isSigned ? `-${1n << BigInt(power)}` : '0';
  const type = isSigned ? 'bigint' : 'hugeint';
  return takes({
    least: 1,
    most: 1,
    build([value], { at }) {
      const text = as(value, 'text', at);
      const read = sql`try_cast(case when regexp_full_match(${text}, '[-+]?[0-9]{1,20}') then ${text} end as ${type})`;
      const number = sql`case when ${read} between ${least} and ${most} then ${read} end`;
      return expr('number', sql`coalesce(${number}, ${other})`, [value], {
        nullable: other === 'null',
      });
    },
  });
}

/** Returns the number that a text consists of; `other` for another text. */
function realNumber(other: string): SqlFunction {
  const form = "'[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?'";
  return takes({
    least: 1,
    most: 1,
    build([value], { at }) {
      const text = as(value, 'text', at);
      const read = sql`try_cast(case when regexp_full_match(${text}, ${form}) then ${text} end as double)`;
      return expr('number', sql`coalesce(${read}, ${other})`, [value], {
        nullable: other === 'null',
      });
    },
  });
}

/** A number of a text or of another number, cut to a whole one where `isWhole`. */
function toNumber(isWhole: boolean): SqlFunction {
  return takes({
    least: 1,
    most: 1,
    build([value], { at, name }) {
      if (value.kind === 'timestamp' || value.kind === 'datetime') {
        const micros = sql`epoch_us(${value.sql})`;
        return expr('number', isWhole ? sql`(${micros} // 1000000)` : sql`(${micros} / 1000000)`, [
          value,
        ]);
      }
      if (value.kind === 'text' && isWhole) {
        // All digits of a whole number, which a double has not.
        const digits = sql`case when regexp_full_match(${value.sql}, '[-+]?[0-9]{1,20}') then ${value.sql} end`;
        return expr('number', sql`try_cast(${digits} as hugeint)`, [value]);
      }
      if (!['number', 'text', 'bool', 'json', 'null'].includes(value.kind))
        reject(at, `${name.toUpperCase()} takes a string or a number, got ${nameOf(value.kind)}`);
      const number = sql`(${as(value, 'number', at)})::double`;
      const whole = sql`try_cast(trunc(${number}) as bigint)`;
      return expr('number', isWhole ? whole : number, [value]);
    },
  });
}

const NUMBERS_OF_TEXTS: Functions = Object.fromEntries(
  [8, 16, 32, 64].flatMap((bits) =>
    [true, false].flatMap((isSigned) => {
      const name = `to${isSigned ? '' : 'u'}int${bits}`;
      return [
        [name, toNumber(true)],
        [`${name}orzero`, wholeNumber(bits, isSigned, '0')],
        [`${name}ordefault`, wholeNumber(bits, isSigned, '0')],
        [`${name}ornull`, wholeNumber(bits, isSigned, 'null')],
      ];
    }),
  ),
);

/** ClickHouse rounds halves to even digits. */
const round: SqlFunction = takes({
  least: 1,
  most: 2,
  build([value, digits], info) {
    const places = digits ? constant(digits, -15, 15, info) : 0;
    return expr(
      'number',
      sql`round_even((${as(value, 'number', info.at)})::double, ${String(places)})`,
      [value],
    );
  },
});

/** Numbers, likewise. */
export const CLICKHOUSE_NUMBERS: Functions = {
  ...NUMBERS_OF_TEXTS,
  tofloat32: toNumber(false),
  tofloat64: toNumber(false),
  tofloat32orzero: realNumber('0'),
  tofloat64orzero: realNumber('0'),
  tofloat64ordefault: realNumber('0'),
  tofloat32ornull: realNumber('null'),
  tofloat64ornull: realNumber('null'),
  round,
  roundbankers: round,
  log2: simple(
    'number',
    ['number'],
    ([value = '']) => sql`(case when (${value})::double > 0 then log2((${value})::double) end)`,
  ),
  intdiv: over((a, b) => sql`trunc(${a} / nullif(${b}, 0))`),
  modulo: over((a, b) => sql`(${a} % ${b})`),
  plus: over((a, b) => sql`(${a} + ${b})`),
  minus: over((a, b) => sql`(${a} - ${b})`),
  multiply: over((a, b) => sql`(${a} * ${b})`),
  divide: over((a, b) => sql`(${a} / ${b})`),
};
