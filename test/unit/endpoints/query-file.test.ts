import { expect } from 'chai';
import { allSources } from '../../../ingest/index.ts';
import {
  parseQueryFile,
  QueryFileError,
  type SavedQuery,
} from '../../../server/endpoints/query-file.ts';

const UUID = '0b7e3f0a-52c1-4f53-9d4e-6f2d6c1f9a01';
const NAME = '/queries/a.sql';

/** The head of a file; `changes` replaces directives by name, null leaves one out. */
function head(changes: Record<string, string | null> = {}): string {
  const directives: Record<string, string | null> = {
    uuid: UUID,
    max_rows: '10',
    caching: 'off',
    warming: 'off',
    sandboxing: 'on',
    redact_pii: 'off',
    ...changes,
  };
  const lines = Object.entries(directives).flatMap(([key, value]) =>
    value === null ? [] : [`--! ${key}: ${value}`],
  );
  return ['-- What it answers.', ...lines].join('\n');
}

const WHO = '--! parameter: who string required, whose';

/** Compiles a statement that declares the parameter `who`. */
function statement(sql: string): SavedQuery {
  return parseQueryFile('a', NAME, `${head()}\n${WHO}\n${sql}`);
}

/** The statement as it came out, without the head. */
function bound(sql: string): string {
  const out = statement(sql).sql;
  return out.slice(out.indexOf(WHO) + WHO.length + 1);
}

/** The error of a file, which must be a QueryFileError that begins with the file and the line. */
function refused(text: string, line: number, reason: RegExp) {
  let error: unknown;
  try {
    parseQueryFile('a', NAME, text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error, `nothing was thrown for:\n${text}`).to.be.instanceOf(QueryFileError);
  const { message } = error as Error;
  expect(message).to.match(reason);
  expect(message.slice(0, NAME.length + 1 + String(line).length + 1)).to.equal(`${NAME}:${line}:`);
}

describe('compile: what a file says', () => {
  it('gives the settings, the description and the name', () => {
    const query = parseQueryFile(
      'my.query',
      NAME,
      `${head({ uuid: UUID.toUpperCase(), caching: '900', warming: '300', sandboxing: 'off', redact_pii: 'on' })}\nselect 1`,
    );
    expect(query).to.deep.include({
      id: UUID,
      name: 'my.query',
      description: 'What it answers.',
      maxRows: 10,
      caching: 900,
      warming: 300,
      sandboxing: false,
      redactPii: true,
      parameters: [],
      windows: null,
    });
  });

  it('gives the parameters with type, whether required, and description', () => {
    const text = `${head()}
--! parameter: kind a|b required, one of two
--! parameter: since timestamp optional, from when on
--! parameter: what regexp optional, what to look for
--! parameter: rows integer optional=10, how many
select @kind::varchar, @since::timestamptz, @what::varchar, @rows::bigint`;
    expect(parseQueryFile('a', NAME, text).parameters).to.deep.equal([
      { name: 'kind', type: ['a', 'b'], required: true, preset: null, description: 'one of two' },
      {
        name: 'since',
        type: 'timestamp',
        required: false,
        preset: null,
        description: 'from when on',
      },
      {
        name: 'what',
        type: 'regexp',
        required: false,
        preset: null,
        description: 'what to look for',
      },
      { name: 'rows', type: 'integer', required: false, preset: '10', description: 'how many' },
    ]);
  });

  it('gives the windows that a file asks for', () => {
    const text = `${head()}
--! parameter: since timestamp optional, from
--! parameter: till timestamp optional, until
--! windows: edge_logs 100 since till
select @since::timestamp, @till::timestamp, @newest_from::timestamp`;
    expect(parseQueryFile('a', NAME, text).windows).to.deep.equal({
      source: 'edge_logs',
      rows: 100,
      from: 'since',
      until: 'till',
    });
  });

  it('repeats a common table expression for each source, and keeps the lines behind it where they are', () => {
    const text = `${head()}
--! each_source: log_source
with
log_source as (
  select id
  from main.log_source
)
select id from log_source_of_mine`;
    const { sql } = parseQueryFile('a', NAME, text);
    expect(sql.split('\n')).to.have.length(text.split('\n').length);
    for (const source of allSources())
      expect(sql.replaceAll(/\s+/g, ' ')).to.include(
        `${source} as ( select id from main.${source} )`,
      );
    expect(sql).to.match(/\nselect id from log_source_of_mine$/);
  });

  it('adds one without rows for names that are not sources', () => {
    const file = (names: string) =>
      `${head()}\n--! each_source: x\n--! empty_sources: ${names}\nwith\nx as (\nselect id from main.x\n)\nselect 1`;
    const { sql } = parseQueryFile('a', NAME, file('auth_logs cron_logs'));
    expect(sql).to.include('cron_logs as (select * from edge_logs where false)');
    expect(sql.match(/auth_logs as \(/g)).to.have.length(1);
    expect(() => parseQueryFile('a', NAME, file('cron-logs'))).to.throw(/got "cron-logs"/);
    const text = `${head()}\n--! empty_sources: cron_logs\nselect 1`;
    expect(() => parseQueryFile('a', NAME, text)).to.throw(/needs --! each_source/);
  });

  it('refuses a common table expression for each source that it cannot find, or that has a comment', () => {
    const file = (definition: string) =>
      `${head()}\n--! each_source: x\nwith\n${definition}\nselect 1`;
    expect(() => parseQueryFile('a', NAME, file('y as (\nselect 1\n)'))).to.throw(
      /each_source needs "x as \("/,
    );
    expect(() => parseQueryFile('a', NAME, file('x as (\nselect 1 -- one\n)'))).to.throw(
      /no comment may stand in x/,
    );
  });

  it('reads a file with Windows line ends', () => {
    const text = `${head()}\n${WHO}\nselect @who::varchar`.replaceAll('\n', '\r\n');
    const query = parseQueryFile('a', NAME, text);
    expect(query.description).to.equal('What it answers.');
    expect(query.id).to.equal(UUID);
    expect(query.parameters[0]?.description).to.equal('whose');
  });
});

describe('compile: the lexer of @name', () => {
  const check = (sql: string, expected: string) => expect(bound(sql)).to.equal(expected);

  it('writes @name as $name', () => {
    check('select @who::varchar', 'select $who::varchar');
    check('select 1+@who::int+@who::int', 'select 1+$who::int+$who::int');
    check('select a.b=@who::varchar--x', 'select a.b=$who::varchar--x');
  });

  /** Each of these holds an @name that is not one; a parameter after it must still be found. */
  const untouched = [
    `'@x'`,
    `'it''s @x'`,
    String.raw`'a backslash ends nothing \'`,
    `'two\nlines @x'`,
    `"@x"`,
    `"a ""quoted"" @x"`,
    `"it's @x"`,
    `'a "quote @x'`,
    String.raw`e'it\'s @x'`,
    String.raw`E'a \\' || 'b @x'`,
    String.raw`E'it''s \' @x'`,
    '/* @x */ 1',
    `/* it's @x */ 1`,
    '/* a /* nested @x */ comment @x */ 1',
    '/* // -- @x */ 1',
    '/**/ 1 /***/',
    '1 -- @x\n',
    `1 -- it's @x\n`,
    '1 -- /* @x\n',
    '$$@x$$',
    `$$it's @x$$`,
    '$tag$ $$ @x $other$ @x $tag$',
    `'$$' || '@x $$'`,
    `'-- @x' || '/*'`,
    `'*/ @x'`,
    `5 - -4 / 2 * 3`,
  ];
  for (const part of untouched) {
    it(`leaves ${JSON.stringify(part)} as it is`, () => {
      check(`select ${part}, @who::varchar`, `select ${part}, $who::varchar`);
    });
  }

  it('takes a word that ends in e before a string for what it is', () => {
    // The backslash does not escape here: the string ends, and @who is a parameter.
    check(String.raw`select date'\', @who::varchar`, String.raw`select date'\', $who::varchar`);
    check(String.raw`select type'\'||@who::varchar`, String.raw`select type'\'||$who::varchar`);
  });

  it('ends a line comment where the engine ends it, at a carriage return too', () => {
    // Otherwise DuckDB would see a bare @, which is abs().
    check('select 1 -- one\r, @who::varchar', 'select 1 -- one\r, $who::varchar');
  });

  it('keeps every other character', () => {
    const sql = `select 'ü' as "ö", 1e5, .5, x'00', [1, 2][1], {'a': 1}, "€", @who::varchar\n\n;\n`;
    check(sql, sql.replace('@who', '$who'));
  });
});

describe('compile: faults', () => {
  const body = (sql: string) => `${head()}\n${WHO}\n${sql}`;

  it('names the line of an uncast parameter', () => {
    refused(body('select\n  @who'), 10, /@who.*cast/);
    refused(body('select @who::varchar,\n\n @who'), 11, /@who.*cast/);
    refused(body('select cast(@who as varchar)'), 9, /@who.*cast/);
    refused(body('select @who ::varchar, @who'), 9, /cast/);
  });

  it('names the line of an undeclared parameter', () => {
    refused(body('select @who::varchar,\n  @whom::varchar'), 10, /@whom.*not declared/);
    refused(body('select @who::varchar, @WHO::varchar'), 9, /@WHO.*not declared/);
  });

  it('refuses a parameter that is declared and not used', () => {
    refused(body('select 1'), 1, /@who.*not used/);
    refused(body(`select '@who::varchar'`), 1, /@who.*not used/);
    refused(body('select 1 /* @who::varchar */'), 1, /@who.*not used/);
  });

  it('refuses @ as an operator, and the parameters of other dialects', () => {
    refused(body('select @who::int,\n @ 5'), 10, /@/);
    refused(body('select @who::int, @5'), 9, /@/);
    refused(body('select [1] @> [@who::int]'), 9, /@/);
    refused(body('select @who::int, $1'), 9, /\$/);
    refused(body('select @who::int, $other'), 9, /\$/);
    refused(body('select @who::int, ?'), 9, /\?/);
  });

  it('refuses a file without a sentence at its start', () => {
    refused(`${head().split('\n').slice(1).join('\n')}\nselect 1`, 1, /first line/);
    refused('', 1, /first line/);
    refused('--\nselect 1', 1, /first line/);
  });

  it('names a directive that is missing, given twice, or unknown', () => {
    for (const key of ['uuid', 'max_rows', 'caching', 'warming', 'sandboxing', 'redact_pii'])
      refused(`${head({ [key]: null })}\nselect 1`, 1, new RegExp(`${key} is missing`));
    refused(`${head()}\n--! max_rows: 5\nselect 1`, 8, /max_rows.*twice/);
    refused(`${head()}\n--! maxrows: 5\nselect 1`, 8, /"maxrows"/);
    refused(`${head()}\n--! no directive\nselect 1`, 8, /name: value/);
  });

  it('names a directive whose value is not right', () => {
    refused(`${head({ uuid: 'nope' })}\nselect 1`, 2, /uuid.*"nope"/);
    for (const value of ['0', '-1', '1.5', 'off', 'many', ''])
      refused(`${head({ max_rows: value })}\nselect 1`, 3, /max_rows/);
    for (const value of ['0', '-5', '15m', 'on', ''])
      refused(`${head({ caching: value })}\nselect 1`, 4, /caching/);
    refused(`${head({ caching: '60', warming: 'on' })}\nselect 1`, 5, /warming/);
    refused(`${head({ sandboxing: 'yes' })}\nselect 1`, 6, /sandboxing.*"yes"/);
    refused(`${head({ redact_pii: 'true' })}\nselect 1`, 7, /redact_pii.*"true"/);
  });

  it('refuses warming without caching, and warming that comes too late', () => {
    refused(`${head({ warming: '300' })}\nselect 1`, 5, /warming/);
    refused(`${head({ caching: '300', warming: '300' })}\nselect 1`, 5, /warming/);
  });

  it('names a parameter that is declared wrongly', () => {
    for (const value of [
      'who',
      'who string',
      'who string required',
      'who string maybe, whose',
      'who float required, whose',
      'who integer required=7, whose',
      'who integer optional=many, whose',
      'who a|b optional=c, whose',
      '1st string required, whose',
      'who string required,',
    ])
      refused(`${head()}\n--! parameter: ${value}\nselect 1`, 8, /parameter must be/);
    refused(`${head()}\n${WHO}\n${WHO}\nselect @who::varchar`, 1, /declared twice/);
    for (const name of ['sql', 'dialect', 'format'])
      refused(
        `${head()}\n--! parameter: ${name} string required, whose\nselect @${name}::varchar`,
        1,
        /cannot be called/,
      );
  });

  it('keeps @newest_from for the server', () => {
    refused(
      `${head()}\n--! parameter: newest_from timestamp optional, mine\nselect @newest_from::timestamp`,
      1,
      /newest_from/,
    );
    refused(`${head()}\nselect @newest_from::timestamp`, 8, /newest_from.*windows/);
  });

  it('names windows that are wrong', () => {
    const times = `--! parameter: a timestamp optional, from\n--! parameter: b timestamp optional, to`;
    const select = 'select @a::timestamp, @b::timestamp';
    const full = `${select}, @newest_from::timestamp`;
    refused(`${head()}\n${times}\n--! windows: edge_logs\n${full}`, 10, /windows must be/);
    refused(`${head()}\n${times}\n--! windows: edge_logs 0 a b\n${full}`, 10, /windows must be/);
    refused(`${head()}\n${times}\n--! windows: edge_logs 100 a c\n${full}`, 10, /"c"/);
    refused(
      `${head()}\n${times}\n--! windows: edge_logs 100 a b\n${select}`,
      1,
      /newest_from.*not used/,
    );
  });
});
