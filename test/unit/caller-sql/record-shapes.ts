import fc from 'fast-check';

export type Json = null | string | number | Json[] | { [name: string]: Json };
type Row = readonly (Json | boolean | undefined)[];

const ROWS = 600;

const { record, value } = fc.letrec<{ record: Json; value: Json }>((tie) => ({
  record: fc
    .tuple(
      fc.record(
        { request: tie('value'), headers: tie('value'), path: tie('value'), n: tie('value') },
        { requiredKeys: [] },
      ),
      // Some loggers write dashes.
      fc.constantFrom('app_meta', 'app-meta'),
      fc.option(tie('value'), { freq: 1, nil: undefined }),
    )
    .map(([members, key, value]) => (value === undefined ? members : { ...members, [key]: value }))
    .map((members) => members as Json),
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<Json>(null, 1, 20, 'a', '[', '}]', 'x[0]', ''),
    { arbitrary: tie('record'), weight: 3 },
    { arbitrary: fc.tuple(tie('record')) as fc.Arbitrary<Json>, weight: 4 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }) as fc.Arbitrary<Json>, weight: 1 },
  ),
}));
/** Metadata in every shape: objects, arrays of one record and of several, and what is neither. */
export const METADATA = fc.sample(
  fc.oneof(
    { arbitrary: record, weight: 3 },
    { arbitrary: fc.tuple(record) as fc.Arbitrary<Json>, weight: 3 },
    { arbitrary: fc.array(value, { maxLength: 3 }) as fc.Arbitrary<Json>, weight: 1 },
    { arbitrary: value, weight: 1 },
  ),
  { seed: 7, numRuns: ROWS },
);

/** What UNNEST makes of a value: its elements, or itself. */
function unnest(value: Json | undefined, left = false): (Json | undefined)[] {
  const all = Array.isArray(value) ? value : [value];
  const found = all.filter((each) => each !== null && each !== undefined);
  return found.length === 0 && left ? [undefined] : found;
}

function isRecord(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isRecord(value) ? value[name] : undefined;
}

/** A member by its name, or by the same with dashes where there is none. */
function dashed(value: Json | undefined, name: string): Json | undefined {
  return member(value, name) ?? member(value, name.replaceAll('_', '-'));
}

/** `a.b` of an element: through an object, or through the first element of an array. */
function within(element: Json | undefined, ...names: string[]): Json | undefined {
  return names.reduce((value, name, i) => member(i === 0 ? value : firstOf(value), name), element);
}

function firstOf(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const text = (value: Json | undefined) =>
  value === null || value === undefined || typeof value === 'string'
    ? value
    : JSON.stringify(value);

/** What UNNEST makes of them: SQL over `logs`, and what its columns but `id` are for each entry. */
export const QUESTIONS: Record<string, { sql: string; rows(metadata: Json): Row[] }> = {
  'a record': {
    sql: 'select id, m.path as a, m.n as b from logs cross join unnest(metadata) as m',
    rows: (metadata) => unnest(metadata).map((m) => [member(m, 'path'), member(m, 'n')]),
  },
  'records within records': {
    sql: 'select id, m.n as a, r.path as b, h.n as c from logs cross join unnest(metadata) as m cross join unnest(m.request) as r cross join unnest(r.headers) as h',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).flatMap((r) =>
          unnest(member(r, 'headers')).map((h) => [
            member(m, 'n'),
            member(r, 'path'),
            member(h, 'n'),
          ]),
        ),
      ),
  },
  'records beside each other, kept without': {
    sql: 'select id, r.path as a, h.path as b from logs left join unnest(metadata) as m on true left join unnest(m.request) as r on true left join unnest(m.headers) as h on true',
    rows: (metadata) =>
      unnest(metadata, true).flatMap((m) =>
        unnest(member(m, 'request'), true).flatMap((r) =>
          unnest(member(m, 'headers'), true).map((h) => [member(r, 'path'), member(h, 'path')]),
        ),
      ),
  },
  'texts of members': {
    sql: "select id, concat(m.path, '') as a, concat(r.n, '') as b from logs cross join unnest(metadata) as m left join unnest(m.request) as r on true",
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request'), true).map((r) => [
          text(member(m, 'path')),
          text(member(r, 'n')),
        ]),
      ),
  },
  'members farther down': {
    sql: 'select id, m.request.path as a, r.headers.n as b from logs cross join unnest(metadata) as m left join unnest(m.headers) as r on true',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'headers'), true).map((r) => [
          within(m, 'request', 'path'),
          within(r, 'headers', 'n'),
        ]),
      ),
  },
  'members of members without UNNEST': {
    sql: 'select id, metadata.n as a, metadata.request.path as b, metadata.request.headers.n as c, metadata[0].headers[0].request.headers.path as d from logs',
    rows: (metadata) => {
      const m = firstOf(metadata);
      return [
        [
          member(m, 'n'),
          within(m, 'request', 'path'),
          within(m, 'request', 'headers', 'n'),
          within(m, 'headers', 'request', 'headers', 'path'),
        ],
      ];
    },
  },
  'members of members beside UNNEST of the same': {
    sql: 'select id, metadata.request.path as a, m.request.path as b, m.request.headers.n as c, r.headers.n as d from logs cross join unnest(metadata) as m cross join unnest(m.request) as r',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).map((r) => [
          within(firstOf(metadata), 'request', 'path'),
          within(m, 'request', 'path'),
          within(m, 'request', 'headers', 'n'),
          within(r, 'headers', 'n'),
        ]),
      ),
  },
  'UNNEST of members of members': {
    sql: 'select id, h.n as a, r.path as b from logs cross join unnest(metadata.request.headers) as h left join unnest(h.request.headers) as r on true',
    rows: (metadata) =>
      unnest(within(firstOf(metadata), 'request', 'headers')).flatMap((h) =>
        unnest(within(h, 'request', 'headers'), true).map((r) => [
          member(h, 'n'),
          member(r, 'path'),
        ]),
      ),
  },
  'a member of a member that is asked for, too': {
    sql: 'select id, metadata.request as a, metadata.request.path as b, metadata.headers.path as c, metadata.headers as d from logs',
    rows: (metadata) => {
      const m = firstOf(metadata);
      return [
        [
          member(m, 'request'),
          within(m, 'request', 'path'),
          within(m, 'headers', 'path'),
          member(m, 'headers'),
        ],
      ];
    },
  },
  'elements by their places': {
    sql: 'select id, metadata.request[0] as a, metadata.request[1].path as b, m.headers[0].n as c from logs cross join unnest(metadata) as m',
    rows: (metadata) =>
      unnest(metadata).map((m) => {
        const request = member(firstOf(metadata), 'request');
        return [
          firstOf(request),
          member(Array.isArray(request) ? request[1] : undefined, 'path'),
          within(m, 'headers', 'n'),
        ];
      }),
  },
  'conditions on members of members': {
    sql: "select id, metadata.request.n as a from logs where metadata.request.n >= 1 and (metadata.request.path = 'a' or metadata.headers.n in (1, 20))",
    rows: (metadata) => {
      const m = firstOf(metadata);
      const [n, headers] = [within(m, 'request', 'n'), within(m, 'headers', 'n')];
      const isFound = within(m, 'request', 'path') === 'a' || headers === 1 || headers === 20;
      return typeof n === 'number' && n >= 1 && isFound ? [[n]] : [];
    },
  },
  'records of deep names': {
    sql: "select id, metadata.request.headers.request.headers.request.n as a, (metadata).request.headers.path as b, json_value(metadata, '$.request.headers.n') as c from logs",
    rows: (metadata) => {
      const m = firstOf(metadata);
      const n = within(m, 'request', 'headers', 'n');
      return [
        [
          within(m, 'request', 'headers', 'request', 'headers', 'request', 'n'),
          within(m, 'request', 'headers', 'path'),
          typeof n === 'object' ? null : text(n),
        ],
      ];
    },
  },
  'records under keys with dashes': {
    sql: 'select id, a.n as a, b.app_meta.path as b from logs cross join unnest(metadata) as m cross join unnest(m.app_meta) as a left join unnest(a.app_meta) as b on true',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(dashed(m, 'app_meta')).flatMap((a) =>
          unnest(dashed(a, 'app_meta'), true).map((b) => [
            member(a, 'n'),
            member(firstOf(dashed(b, 'app_meta')), 'path'),
          ]),
        ),
      ),
  },
  'values that are null, grouped': {
    sql: 'select id, x as a, count(*) as b from (select id, metadata.request[0].n as x from logs union all select id, metadata.app_meta.headers[0].n as x from logs) as q group by id, x',
    rows: (metadata) => {
      const m = firstOf(metadata);
      const [x, y] = [
        member(firstOf(member(m, 'request')), 'n') ?? null,
        member(firstOf(member(firstOf(dashed(m, 'app_meta')), 'headers')), 'n') ?? null,
      ];
      return JSON.stringify(x) === JSON.stringify(y)
        ? [[x, 2]]
        : [
            [x, 1],
            [y, 1],
          ];
    },
  },
  'a value in a list': {
    sql: "select id, 'a' in unnest(metadata.headers) as a, 20 not in unnest(m.request) as b from logs cross join unnest(metadata) as m",
    rows: (metadata) =>
      unnest(metadata).map((m) => [
        unnest(member(firstOf(metadata), 'headers')).some((each) => text(each) === 'a'),
        !unnest(member(m, 'request')).some((each) => Number(text(each) || 'x') === 20),
      ]),
  },
  'a row farther out': {
    sql: 'select id, (select count(*) from unnest(t.metadata.request) as z where z.path = t.metadata.path) as a, (select count(*) from logs as o, unnest(o.metadata) as m where o.id = t.id) as b from logs as t',
    rows: (metadata) => {
      const m = firstOf(metadata);
      const path = text(member(m, 'path')) ?? null;
      const same = (z: Json | undefined) =>
        path !== null && (text(member(z, 'path')) ?? null) === path;
      return [[unnest(member(m, 'request')).filter(same).length, unnest(metadata).length]];
    },
  },
  'the same record twice': {
    sql: 'select id, x.n as a, y.n as b from logs cross join unnest(metadata) as m cross join unnest(m.request) as x left join unnest(m.request) as y on true',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).flatMap((x) =>
          unnest(member(m, 'request'), true).map((y) => [member(x, 'n'), member(y, 'n')]),
        ),
      ),
  },
  'a field that is a record, too': {
    sql: 'select id, x.headers as a, y.n as b from logs cross join unnest(metadata) as m cross join unnest(m.request) as x left join unnest(x.headers) as y on true',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).flatMap((x) =>
          unnest(member(x, 'headers'), true).map((y) => [member(x, 'headers'), member(y, 'n')]),
        ),
      ),
  },
  'places of elements': {
    sql: 'select id, x.n as a, o as b from logs cross join unnest(metadata) as m cross join unnest(m.request) as x with offset as o',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).map((x, place) => [member(x, 'n'), place]),
      ),
  },
  'records behind commas and joins': {
    sql: 'select id, x.n as a, y.n as b from logs, unnest(metadata) as m cross join unnest(m.request) as x left join unnest(x.headers) as y on true',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) =>
        unnest(member(m, 'request')).flatMap((x) =>
          unnest(member(x, 'headers'), true).map((y) => [member(x, 'n'), member(y, 'n')]),
        ),
      ),
  },
  'elements counted within a row': {
    sql: 'select id, (select count(z.n) from unnest(m.request) as z) as a from logs cross join unnest(metadata) as m',
    rows: (metadata) =>
      unnest(metadata).map((m) => [
        unnest(member(m, 'request')).filter((z) => (member(z, 'n') ?? null) !== null).length,
      ]),
  },
  'how many there are': {
    sql: 'select id, 1 as a from logs cross join unnest(metadata) as m cross join unnest(m.request) as r',
    rows: (metadata) =>
      unnest(metadata).flatMap((m) => unnest(member(m, 'request')).map(() => [1])),
  },
};
