import { refuse } from '../error.ts';
import type { Dialect } from '../parse/lexer.ts';
import type { Pattern } from '../patterns.ts';
import { join, type Sql, sql } from '../sql-fragment.ts';
import { as, type Expression, flags, jsonOf, type Kind, MAX_GROWTH } from '../typed-expression.ts';

/** A call, as far as its arguments are not all there is to it. */
export interface Call {
  /** As the caller knows it. */
  readonly name: string;
  readonly at: number | null;
  readonly dialect: Dialect;
  /** The regular expressions of the statement, for the engine to judge. */
  readonly patterns: Pattern[];
  readonly distinct: boolean;
  /** The bare word that an argument is, such as `hour`; undefined for any other expression. */
  word(index: number): string | undefined;
  /** The names of a structure's members; undefined for those without. */
  readonly names: readonly (string | undefined)[];
  /** `order by …` within an aggregate of `item`, or nothing. */
  order(item: Sql): Sql;
}

/** Makes the call of arguments that were counted. */
export type Build = (args: readonly Expression[], call: Call) => Expression;

/** A function that callers may name. */
export interface SqlFunction {
  readonly least: number;
  readonly most: number;
  readonly build: Build;
  readonly aggregate?: boolean;
  /** Arguments that are bare words, not expressions. */
  readonly words?: readonly number[];
}

/** A made expression, with what its arguments hand on. */
export function made(
  kind: Kind,
  value: Sql,
  args: readonly Expression[],
  rest: Partial<Expression> = {},
): Expression {
  const whole = { ...flags(args), ...rest };
  return kind === 'json' ? jsonOf(value, whole) : { kind, sql: value, ...whole };
}

/** Throws SqlRefused when a text could become too long. */
export function grown(growth: number, { at, name }: Call): { growth: number } {
  if (growth > MAX_GROWTH)
    refuse(
      at,
      `The text that ${name.toUpperCase()} makes could become more than ${MAX_GROWTH} times as long as a stored one`,
    );
  return { growth };
}

/** How much longer a value is that holds all of these; literals are as long as they are written. */
export function together(args: readonly Expression[]): number {
  const growths = args.map((arg) => (arg.literal === undefined && isLong(arg) ? growthOf(arg) : 0));
  return Math.max(
    1,
    growths.reduce((sum, growth) => sum + growth, 0),
  );
}

/** Whether a value may be as long as a stored text. */
function isLong({ kind }: Expression): boolean {
  return kind === 'text' || kind === 'json' || kind === 'array';
}

export const growthOf = (value: Expression | undefined) => value?.growth ?? 1;

/** A whole number that stands in the SQL itself. */
export function constant(
  value: Expression | undefined,
  least: number,
  most: number,
  { at, name }: Call,
): number {
  const number = Number(value?.literal ?? Number.NaN);
  if (value?.kind !== 'number' || !Number.isInteger(number) || number < least || number > most)
    refuse(
      at,
      `${name.toUpperCase()} takes a whole number from ${least} to ${most} here, written as such`,
    );
  return number;
}

export function constantText(value: Expression | undefined, { at, name }: Call): string {
  return value?.literal !== undefined && value.kind === 'text'
    ? value.literal
    : refuse(at, `${name.toUpperCase()} takes a string literal here`);
}

/** Arguments of fixed kinds, one result. The engine's function takes them as they are; it must be total. */
export function simple(
  kind: Kind,
  kinds: readonly Kind[],
  form: (args: readonly Sql[]) => Sql,
  least = kinds.length,
): SqlFunction {
  return {
    least,
    most: kinds.length,
    build: (args, { at }) =>
      made(kind, form(args.map((arg, i) => as(arg, kinds[i] ?? 'text', at))), args),
  };
}

export const call = (name: string) => (args: readonly Sql[]) => sql`${name}(${join(args, ', ')})`;

export const text = (name: string, kinds: readonly Kind[] = ['text'], least?: number) =>
  simple('text', kinds, call(name), least);
/** Over doubles, which overflow to infinity and not to an error. */
export const number = (name: string, guard?: (value: Sql) => Sql): SqlFunction =>
  simple('number', ['number'], ([value = '']) => {
    const double = sql`(${value})::double`;
    const result = sql`${name}(${double})`;
    return guard ? sql`(case when ${guard(double)} then ${result} end)` : result;
  });

export const over = (form: (a: Sql, b: Sql) => Sql): SqlFunction =>
  simple('number', ['number', 'number'], ([a = '', b = '']) =>
    form(sql`(${a})::double`, sql`(${b})::double`),
  );

/** `try` where the engine takes it: not around aggregates and subqueries, whose rows have passed the view's filter already. */
export function guarded(args: readonly Expression[], value: Sql): Sql {
  return args.some(({ aggregate, window, nested }) => aggregate || window || nested)
    ? sql`(${value})`
    : sql`try(${value})`;
}

export type Functions = Readonly<Record<string, SqlFunction>>;
