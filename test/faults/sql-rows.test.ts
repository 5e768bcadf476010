import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { faultCase, LONG } from './case.ts';
import { ledger } from './setup.ts';
import { ACCEPTED } from './sql/accepted.ts';
import { usesOf } from './sql/ends.ts';
import { CALLER, type Harness, withHarness } from './sql/harness.ts';
import { type Translator, withTranslator } from './sql/translator.ts';

/** JSON that a line may hold as a value, each as it is written in the line. */
const VALUES: readonly string[] = [
  ...[
    'null',
    'true',
    '0',
    '-0',
    '0.1',
    '1e308',
    '1e309',
    '-1e309',
    '1e-400',
    '9223372036854775807',
  ],
  ...['9223372036854775808', '-9223372036854775809', '18446744073709551616', '9'.repeat(400)],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '[{}]',
    '{"":1}',
    '[1,"a",{"a":[]}]',
  ],
  ...[
    '{"a":1,"a":2}',
    '{"a":1,"A":2}',
    '{"a":{"b":1},"A":[]}',
    '{"a.b":1}',
    '{"a\\"b":1}',
    '{"$":1}',
    '{"*":1}',
  ],
  ...[
    '[1,]',
    '{"a":1,}',
    `${'['.repeat(900)}${']'.repeat(900)}`,
    `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`,
  ],
  ...[
    ...[
      '',
      ' ',
      'x',
      'true',
      'null',
      'nan',
      'inf',
      '-inf',
      'infinity',
      '-infinity',
      'epoch',
      'now',
    ],
    ...[
      '1e400',
      '9223372036854775808',
      '-9223372036854775809',
      '1e-400',
      '0x10',
      '1_000',
      '١٢٣',
      '½',
    ],
    ...['294247-01-10 04:00:54.775806', '290309-12-22 (BC) 00:00:00', '99999-01-01', '0000-00-00'],
    ...[
      '2026-02-30',
      '2026-01-01 00:00:00 Mars/Phobos',
      '23:59:60',
      '24:00:00',
      '2026-08-21T12:00:00+99:99',
    ],
    ...[
      '178956970 years',
      '-9223372036854775808 months',
      '{',
      '[',
      '"',
      '{"a":NaN}',
      '[1,]',
      '\u0000',
      '\u0001',
    ],
    ...[
      'e\u0301',
      '😀',
      '\u200b',
      'İ',
      'ß',
      '\ufeff',
      '%',
      '_',
      '\\',
      "'",
      '$.a',
      'a\nb',
      'x'.repeat(100_000),
    ],
  ].map((text) => JSON.stringify(text)),
  '"\\ud800"',
  '"\\u0000"',
];

const FROM = 'from edge_logs cross join unnest(metadata) m';
const FIELDS = ['m.v', 'm.v.a', 'm', 'event_message', 'metadata'];
/** Uses of values of a row: all in the long form; in the short one what pages ask, and one of 17 others. */
const QUERIES: readonly string[] = [
  ...ACCEPTED,
  ...FIELDS.flatMap(usesOf).map((value) => `select ${value} as x ${FROM}`),
  ...usesOf('event_message').map(
    (value) => `select count(*) as n from edge_logs where (${value}) is null`,
  ),
  ...['v', 'v.a', 'v.v'].map((path) => `select x ${FROM} cross join unnest(m.${path}) x`),
  ...['v', 'v.a'].map((path) => `select x.a as y ${FROM} left join unnest(m.${path}) x on true`),
  `select m.v as v, count(*) as n ${FROM} group by v order by v`,
  `select distinct m.v as v ${FROM} order by v`,
  `select m as whole, edge_logs as row ${FROM}`,
  ...['=', '<', '>', '<>', 'like', 'in'].map(
    (sign) => `select id ${FROM} where m.v ${sign} ${sign === 'in' ? "(1, 'a', m.w)" : 'm.w'}`,
  ),
].filter((_, n) => LONG || n < ACCEPTED.length || n % 17 === 0);

describe("callers' SQL: rows", () => {
  const harness = opened<Harness>((action) =>
    withHarness(0, { env: { TAILPOND_LOG_LEVEL: 'info' } }, action),
  );
  const translator = opened<Translator>(withTranslator);

  faultCase('S14', 'no value in a row that is hidden makes a query fail', () =>
    compare(harness(), translator(), 'theirs'),
  );

  faultCase('S13c', 'no value in a row makes a query fail', () =>
    compare(harness(), translator(), CALLER.project),
  );
});

/** What came last, by harness. */
const known = new Map<Harness, readonly string[]>();

/** Asks all that is not refused, adds rows of odd values, and asks again: no answer may become an error. */
async function compare(harness: Harness, translated: Translator, project: string): Promise<void> {
  const asked: string[] = [];
  for (const sql of QUERIES)
    if ((await translated(sql, 'bigquery')).refused === null) asked.push(sql);
  const statuses = async () => {
    const found: string[] = [];
    for (const sql of asked) {
      const { status, code } = await harness.ask({ sql, way: 'json' });
      found.push(`${status} ${code}`);
    }
    return found;
  };
  // The other case has asked the same of the same rows.
  const before = known.get(harness) ?? (await statuses());
  await ship(harness, project);
  const after = await statuses();
  known.set(harness, after);
  const faults = asked
    .map((sql, n) => `${before[n]}, then ${after[n]}: ${sql}`)
    .filter((_, n) => before[n] !== after[n] || after[n]?.startsWith('5'));
  const answered = before.filter((status) => status === '200 ').length;
  console.log(`      ${answered} answered of ${asked.length}, of ${QUERIES.length}`);
  expect(faults.join('\n')).to.equal('');
  expect(answered).to.be.above(QUERIES.length / 2);
}

/** A line for each value: as a field, within a record, within a list, and as the message. */
async function ship({ data, service }: Harness, project: string): Promise<void> {
  const lines = VALUES.flatMap((value) => [
    `"metadata":{"v":${value},"w":${value}}`,
    `"metadata":{"v":{"a":${value},"v":[${value}]}}`,
    `"metadata":[{"v":[${value},${value}]}]`,
    `"metadata":${value}`,
    `"event_message":${value}`,
  ]).map(
    (member, n) =>
      `{"id":"hostile-${n}","timestamp":"2026-08-21T12:45:00Z","project":"${project}",${member}}\n`,
  );
  const taken = async () => {
    const { rows, rejected } = await ledger(service);
    return rows + rejected;
  };
  const before = await taken();
  writeFileSync(join(data, 'logs', 'edge_logs', `${project}.ndjson`), lines.join(''));
  await eventually(async () => expect(await taken()).to.equal(before + lines.length));
}
