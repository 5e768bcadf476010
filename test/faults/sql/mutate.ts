import fc from 'fast-check';
import { ACCEPTED } from './accepted.ts';
import { ATTACKS } from './attacks.ts';

/** One change to a query; the numbers are taken modulo what there is. */
type Mutation =
  | { readonly kind: Place | 'replace' | 'insert'; readonly at: number; readonly text: string }
  | { readonly kind: 'delete' | 'double'; readonly at: number; readonly length: number }
  | { readonly kind: 'swap'; readonly at: number; readonly with: number }
  | {
      readonly kind: 'splice';
      readonly at: number;
      readonly from: string;
      readonly start: number;
      readonly length: number;
    }
  | { readonly kind: 'wrap'; readonly as: number };

/** Where a query stays one that can be read when something else is put there. */
type Place = 'name' | 'call' | 'literal' | 'table';

/** Strings, quoted names, words, numbers, spaces, and else single letters. */
const TOKENS =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|[<>!=|:]{2}|./gsu;

const NAMES = [
  'rejected|files|ledger|retention_clock|main.edge_logs|tailpond.main.files|ingested_at',
  'rowid|path|url_base|host|line|metadata|timestamp|project|id|edge_logs|auth_logs',
  'duckdb_settings|information_schema.tables|m|t|a|b|l|current_user|current_schema',
  'session_user|current_timestamp|rowid|null|true',
].flatMap(split);
const CALLS = [
  'query|query_table|read_text|glob|getenv|current_setting|version|stats|duckdb_tables',
  'error|repeat|range|upper|max|count|array_agg|unnest|json_execute_serialized_sql',
  'nextval|sleep_ms|to_json|hash|regexp_replace|regexp_extract|regexp_extract_all',
  'reverse|lower|initcap|trim|lpad|timestamp|cast|struct|coalesce|if|any_value|lag|sum',
  'min|columns',
].flatMap(split);
const WORDS = [
  'select|from|where|group by|order by|having|limit|with|recursive|union all|except',
  'intersect|join|cross join|left join|natural join|lateral|asof join|positional join',
  'using|on|over|filter|distinct|exists|in|any|all|array|not|and|or|is|null|case|when',
  'then|else|end|as|tablesample|qualify|pivot|unpivot|exclude|replace|values|table|into',
  'at|for|window|partition by|collate|interval|describe|summarize|explain',
].flatMap(split);
const SIGNS = [
  ...`' " \` \\ \\' -- /* */ # ; $$ $ @ ? : :: . , ( ) [ ] { } * #1 -> ->> => := ||`.split(' '),
  ...['\u0000', '\u200b', '😀', '\n', '\r', '\u2028', '\ufeff', "r'", "b'", "e'", "'''", '"""'],
  ...['0x27', '1e9', '-1', '99999999999999999999'],
];
const LITERALS = [
  ...`'' 'x' '%' '\\\\' '''a''' "x" r'(a?){9}' r'\\C' '\\C+' b'x' '😀' 'infinity' 'files' '$' '$..*'`.split(
    ' ',
  ),
  ...'0 -1 1e308 1e-9 9223372036854775807 9223372036854775808 0x7f null true [] [1]'.split(' '),
  ...[
    "date '2026-08-21'",
    "timestamp '2026-08-21'",
    'interval 1 day',
    'struct(1 as a)',
    "{'a': 1}",
  ],
];
const SELECTS = ATTACKS.map(({ sql }) => sql).filter(
  (sql) => /^(?:select|from|with|table) /.test(sql) && sql.length < 300,
);
const TABLES = [
  ...[
    'rejected',
    'files',
    'main.edge_logs',
    '"edge_logs"',
    '`edge_logs`',
    'edge_logs',
    'auth_logs',
    'unnest([1, 2])',
  ],
  ...['range(9)', "glob('*')", "'notes.csv'", 'duckdb_settings()', '(values (1))', 'a', 'b', 't'],
  ...SELECTS.map((sql) => `(${sql})`),
];
/** What an attack asks for, as a value. */
const VALUES = [
  ...SELECTS.flatMap((sql) => /^select (.+) as x(?: from edge_logs)?$/.exec(sql)?.[1] ?? []),
  ...SELECTS.map((sql) => `(${sql})`),
];

/** What attacks are made of, from two to eight tokens of each. */
const FRAGMENTS = ATTACKS.map(({ sql }) => sql).filter(
  (sql) => sql.length > 10 && sql.length < 200,
);

const WRAPS: readonly ((sql: string) => string)[] = [
  (sql) => `select count(*) as n from (${sql})`,
  (sql) => `with files as (${sql}) select 1 as x from files`,
  (sql) => `with edge_logs as (${sql}) select id from edge_logs`,
  (sql) => `${sql} union all ${sql}`,
  (sql) => `select (${sql}) as x`,
  (sql) => `select id from edge_logs where id in (${sql})`,
  (sql) => `(${sql})`,
  (sql) => `select x.id as id from (${sql}) x, edge_logs y`,
  (sql) => `select array(${sql}) as x`,
  (sql) => `select id from edge_logs a where exists (${sql})`,
];

const at = fc.nat(400);
const few = fc.integer({ min: 1, max: 6 });
const text = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom(...CALLS).map((name) => `${name}(`),
  fc.constantFrom(...CALLS),
  fc.constantFrom(...WORDS).map((word) => ` ${word} `),
  fc.constantFrom(...SIGNS),
);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  ...[NAMES, NAMES.map((name) => `\`${name}\``), VALUES, LITERALS].map((texts) => ({
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('name' as const),
      at,
      text: fc.constantFrom(...texts),
    }),
  })),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('call'), at, text: fc.constantFrom(...CALLS) }),
  },
  ...[LITERALS, NAMES, VALUES].map((texts) => ({
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('literal' as const),
      at,
      text: fc.constantFrom(...texts),
    }),
  })),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('table'), at, text: fc.constantFrom(...TABLES) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace'), at, text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('insert'), at, text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), at, length: few }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('double'), at, length: few }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('swap'), at, with: at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('splice'),
      at,
      from: fc.constantFrom(...FRAGMENTS, ...ACCEPTED),
      start: at,
      length: fc.integer({ min: 2, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wrap'), as: at }) },
);

/** Queries that were accepted, and then changed in a few places. */
export const queries: fc.Arbitrary<string> = fc
  .record({
    base: fc.constantFrom(...ACCEPTED),
    mutations: fc.array(mutation, { minLength: 1, maxLength: 4 }),
  })
  .map(({ base, mutations }) => mutations.reduce(mutate, base));

function mutate(sql: string, mutation: Mutation): string {
  if (mutation.kind === 'wrap') return (WRAPS[mutation.as % WRAPS.length] ?? ((same) => same))(sql);
  const tokens = tokensOf(sql);
  const index = nearWord(tokens, mutation.at % (tokens.length || 1));
  switch (mutation.kind) {
    case 'name':
    case 'call':
    case 'literal':
    case 'table': {
      const places = placesOf(tokens, mutation.kind);
      const place = places[mutation.at % (places.length || 1)];
      if (place !== undefined) tokens[place] = mutation.text;
      break;
    }
    case 'replace':
      tokens.splice(index, 1, mutation.text);
      break;
    case 'insert':
      tokens.splice(index, 0, mutation.text);
      break;
    case 'delete':
      tokens.splice(index, mutation.length);
      break;
    case 'double':
      tokens.splice(index, 0, ...tokens.slice(index, index + mutation.length));
      break;
    case 'swap': {
      const other = nearWord(tokens, mutation.with % (tokens.length || 1));
      [tokens[index], tokens[other]] = [tokens[other] ?? '', tokens[index] ?? ''];
      break;
    }
    case 'splice': {
      const other = tokensOf(mutation.from);
      const start = mutation.start % (other.length || 1);
      tokens.splice(index, 1, ...other.slice(start, start + mutation.length));
    }
  }
  return tokens.join('');
}

function tokensOf(sql: string): string[] {
  return sql.match(TOKENS) ?? [];
}

/** The next token that is not a space. */
function nearWord(tokens: readonly string[], index: number): number {
  return tokens[index]?.trim() === '' ? index + 1 : index;
}

const KEYWORDS = new Set(
  'select from where group by order having limit with as on using join cross left full outer union all distinct and or not in is null like between case when then else end over partition desc asc unnest interval offset'.split(
    ' ',
  ),
);

/** Where names, functions, literals and tables stand. */
function placesOf(tokens: readonly string[], place: Place): number[] {
  const words = tokens.flatMap((token, index) => (token.trim() ? [{ token, index }] : []));
  return words.flatMap(({ token, index }, n) => {
    const called = words[n + 1]?.token === '(';
    const before = words[n - 1]?.token.toLowerCase() ?? '';
    const table = ['from', 'join'].includes(before);
    const word = /^[A-Za-z_`]/.test(token) && !KEYWORDS.has(token.toLowerCase());
    const literal = /^['"\d]/.test(token);
    const found = {
      name: word && !called && !table,
      call: word && called,
      literal,
      table: table && word,
    };
    return found[place] ? [index] : [];
  });
}

function split(texts: string): string[] {
  return texts.split('|');
}
