import { reject } from '../error.ts';
import type { Dialect } from '../parse/lexer.ts';
import type { Pattern } from '../regular-expressions.ts';
import { join, type Sql, sql, tried } from '../sql-fragment.ts';
import {
  as,
  type Expression,
  flags,
  jsonOf,
  type Kind,
  MAX_EXPANSION,
} from '../typed-expression.ts';

/** A call, as far as its arguments are not all there is to it. */
export interface Call {
  /** As the caller knows it. */
  readonly name: string;
  readonly at: number | null;
  readonly dialect: Dialect;
  /** The regular expressions of the statement, for the engine to judge. */
  readonly patterns: Pattern[];
  readonly distinct: boolean;
  /** Whether the SELECT has groups. */
  readonly grouped: boolean;
  /** How many rows a row stands for; null where each is one. */
  readonly times: Sql | null;
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
  /** Whether an aggregate can be had where a row stands for several, by `Call.times`. */
  readonly countable?: boolean;
  /** Arguments that are bare words, not expressions. */
  readonly words?: readonly number[];
}

/** At least so many arguments. */
type Arguments<Least> = Least extends 3
  ? readonly [Expression, Expression, Expression, ...Expression[]]
  : Least extends 2
    ? readonly [Expression, Expression, ...Expression[]]
    : Least extends 1
      ? readonly [Expression, ...Expression[]]
      : readonly Expression[];

/** A function whose arguments are known to be there, as many as it takes at least: calls are counted before they are made. */
export function takes<Least extends number>(
  made: Omit<SqlFunction, 'least' | 'build'> & {
    readonly least: Least;
    build(args: Arguments<Least>, call: Call): Expression;
  },
): SqlFunction {
  return made as unknown as SqlFunction;
}

/** A made expression, with what its arguments hand on. */
export function expr(
  kind: Kind,
  value: Sql,
  args: readonly Expression[],
  rest: Partial<Expression> = {},
): Expression {
  const whole = { ...flags(args), ...rest };
  return kind === 'json' ? jsonOf(value, whole) : { kind, sql: value, ...whole };
}

/** Throws SqlRefused when a text could become too long. */
export function boundExpansion(maxExpansion: number, { at, name }: Call): { maxExpansion: number } {
  if (maxExpansion > MAX_EXPANSION)
    reject(
      at,
      `The text that ${name.toUpperCase()} makes could become more than ${MAX_EXPANSION} times as long as a stored one`,
    );
  return { maxExpansion };
}

/** How much longer a value is that holds all of these; literals are as long as they are written. */
export function together(args: readonly Expression[]): number {
  const expansions = args.map((arg) =>
    arg.literal === undefined && isLong(arg) ? expansionOf(arg) : 0,
  );
  return Math.max(
    1,
    expansions.reduce((sum, expansion) => sum + expansion, 0),
  );
}

/** Whether a value may be as long as a stored text. */
function isLong({ kind }: Expression): boolean {
  return kind === 'text' || kind === 'json' || kind === 'array';
}

export const expansionOf = (value: Expression | undefined) => value?.maxExpansion ?? 1;

/** A whole number that stands in the SQL itself. */
export function constant(
  value: Expression | undefined,
  least: number,
  most: number,
  { at, name }: Call,
): number {
  const number = Number(value?.literal ?? Number.NaN);
  if (value?.kind !== 'number' || !Number.isInteger(number) || number < least || number > most)
    reject(
      at,
      `${name.toUpperCase()} takes a whole number from ${least} to ${most} here, written as such`,
    );
  return number;
}

export function constantText(value: Expression | undefined, { at, name }: Call): string {
  return value?.literal !== undefined && value.kind === 'text'
    ? value.literal
    : reject(at, `${name.toUpperCase()} takes a string literal here`);
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
      expr(kind, form(args.map((arg, i) => as(arg, kinds[i] ?? 'text', at))), args),
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
    : tried(value);
}

export type Functions = Readonly<Record<string, SqlFunction>>;
