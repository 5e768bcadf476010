import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { allSources, isSource, type Source } from '../../../ingest/index.ts';
import type { Plain } from '../../../server/store/index.ts';
import { type Ingesting, withFolder, withIngest } from '../../support/helpers.ts';
import { opened } from '../../support/opened.ts';

type Line = Record<string, unknown>;
type Row = Record<string, Plain>;

/** JSON text that JSON.stringify cannot give. */
const raw = (text: string) => ({ toJSON: () => `\u0001${text}\u0001` });

describe('the fields of a line', () => {
  it('become the columns of every source alike', () =>
    withFolder((data) =>
      withIngest(data, async (ingesting) => {
        for (const source of allSources()) {
          ingesting.write(
            `${source}/a.ndjson`,
            `{"id":"own","timestamp":"2026-11-20T10:00:00.123456Z","project":"p","event_message":"m ${source}","metadata":{"k":"${source}"}}\n{"time":1763632800,"msg":"flat","k":"${source}"}\nno\n`,
          );
        }
        for (const source of allSources()) {
          expect(await ingesting.lines(3, source)).to.include({ rows: 2, rejected: 1, stored: 2 });
          const [own, flat] = (await ingesting.rows(source, "id <> 'own'")) as [Row, Row];
          const { ingested_at, ...columns } = own;
          expect(ingested_at).to.be.a('string');
          expect(columns).to.deep.equal({
            id: 'own',
            timestamp: '2026-11-20T10:00:00.123456Z',
            project: 'p',
            severity: null,
            status: null,
            event_message: `m ${source}`,
            metadata: `{"k":"${source}"}`,
            ...(source === 'edge_logs'
              ? { path: null, host: null, url_base: null, url_query: null }
              : {}),
          });
          expect(flat).to.include({
            timestamp: '2025-11-20T10:00:00Z',
            event_message: 'flat',
            metadata: `{"k":"${source}"}`,
          });
        }
      }),
    ));

  it('are read from the events that Supabase ships', async () => {
    const url = new URL('fixtures/sample-events.json', import.meta.url);
    const events = JSON.parse(readFileSync(url, 'utf8')) as { source: Source; line: Line }[];
    expect(events).to.have.length(11);
    await withFolder((data) =>
      withIngest(data, async (ingesting) => {
        for (const [i, { source, line }] of events.entries()) {
          ingesting.write(
            `${source}/a.ndjson`,
            `${JSON.stringify({ ...line, id: `event-${i}` })}\n`,
          );
        }
        for (const source of new Set(events.map((event) => event.source))) {
          expect(isSource(source)).to.equal(true);
          await ingesting.lines(events.filter((event) => event.source === source).length, source);
        }
        for (const [i, { source, line }] of events.entries()) {
          const found = (await ingesting.rows(source)).find(({ id }) => id === `event-${i}`);
          expect(found, `${i}`).to.include({
            event_message: line.event_message,
            project: 'default',
          });
          expect(Date.parse(String(found?.timestamp))).to.equal(Date.parse(String(line.timestamp)));
          // A line without metadata is a flat log: its other fields are its metadata.
          expect(JSON.parse(String(found?.metadata))).to.deep.equal(
            line.metadata ?? { appname: line.appname },
          );
          if (source !== 'edge_logs') continue;
          const { path, host } = (line.metadata as { request: Record<string, string> }).request;
          expect(found).to.include({ path: path ?? null, host: host ?? null, url_base: null });
        }
      }),
    );
  });
});

describe('the timestamp of a line', () => {
  const take = taking();
  const day = '2026-11-20T10:00:00';
  const accepted: [unknown, string][] = [
    [`${day}Z`, `${day}Z`],
    ['2026-11-20 10:00:00Z', `${day}Z`],
    ['2026-11-20t10:00:00z', `${day}Z`],
    ['2026-11-20T10:00:00', `${day}Z`],
    ['2026-11-20 10:00:00', `${day}Z`],
    ['2026-11-20T10:00Z', `${day}Z`],
    ['2026-11-20T10:00', `${day}Z`],
    ['2026-11-20 10:00+02:00', '2026-11-20T08:00:00Z'],
    [`${day}+02:00`, '2026-11-20T08:00:00Z'],
    [`${day}+0200`, '2026-11-20T08:00:00Z'],
    [`${day}-02:00`, '2026-11-20T12:00:00Z'],
    [`${day}-0330`, '2026-11-20T13:30:00Z'],
    [`${day}+05:45`, '2026-11-20T04:15:00Z'],
    [`${day}+00:00`, `${day}Z`],
    [`${day}-00:00`, `${day}Z`],
    [`${day}.5Z`, `${day}.5Z`],
    [`${day},5Z`, `${day}.5Z`],
    [`${day},123+0200`, '2026-11-20T08:00:00.123Z'],
    [`${day}.123456Z`, `${day}.123456Z`],
    [`${day}.1234567Z`, `${day}.123456Z`],
    [`${day}.123456789Z`, `${day}.123456Z`],
    [`${day}.999999999Z`, `${day}.999999Z`],
    [`${day},999999999`, `${day}.999999Z`],
    [`${day}.000000999+02:00`, '2026-11-20T08:00:00Z'],
    ['2026-11-20 10:00:00.123 UTC', '2026-11-20T10:00:00.123Z'],
    ['2026-11-20 10:00 GMT', '2026-11-20T10:00:00Z'],
    ['2026-11-20T10:00:60,5 UTC', '2026-11-20T10:00:59.999999Z'],
    ['2026-11-20T10:00:60Z', '2026-11-20T10:00:59.999999Z'],
    ['2026-12-31T23:59:60Z', '2026-12-31T23:59:59.999999Z'],
    ['2026-12-31 23:59:60,5+0100', '2026-12-31T22:59:59.999999Z'],
    ['2026-11-20T10:00:60', '2026-11-20T10:00:59.999999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['2200-12-31T23:59:59.999999Z', '2200-12-31T23:59:59.999999Z'],
    ['1969-12-31T23:30:00-01:00', '1970-01-01T00:30:00Z'],
    [1763632800, '2025-11-20T10:00:00Z'],
    [1763632800123, '2025-11-20T10:00:00.123Z'],
    [1763632800123456, '2025-11-20T10:00:00.123456Z'],
    [raw('1763632800123456789'), '2025-11-20T10:00:00.123456Z'],
    ['1763632800', '2025-11-20T10:00:00Z'],
    ['1763632800123', '2025-11-20T10:00:00.123Z'],
    ['1763632800123456', '2025-11-20T10:00:00.123456Z'],
    ['1763632800123456789', '2025-11-20T10:00:00.123456Z'],
    ['1763632800123456999', '2025-11-20T10:00:00.123456Z'],
    [1763632800.5, '2025-11-20T10:00:00.5Z'],
    [raw('1763632800.0'), '2025-11-20T10:00:00Z'],
    [raw('1763632800.123456'), '2025-11-20T10:00:00.123456Z'],
    ['1763632800.123456789', '2025-11-20T10:00:00.123456Z'],
    ['1763632800.9999999', '2025-11-20T10:00:00.999999Z'],
    ['1763632800.000001', '2025-11-20T10:00:00.000001Z'],
  ];
  const refused: unknown[] = [
    '',
    ' ',
    'infinity',
    '-infinity',
    'epoch',
    'now',
    'today',
    'yesterday',
    '2026-11-20',
    '10:00:00',
    '2026-11-20T10',
    '2026-11-20T10Z',
    `${day} BC`,
    `${day}Z (BC)`,
    '0044-03-15T12:00:00Z',
    '-0044-03-15T12:00:00Z',
    '+2026-11-20T10:00:00Z',
    '12026-11-20T10:00:00Z',
    '26-11-20T10:00:00Z',
    '2026-1-2T10:00:00Z',
    `${day} CET`,
    `${day}UTC`,
    `${day}  UTC`,
    `${day} utc`,
    `${day}Z UTC`,
    `${day} Europe/Berlin`,
    `${day}CET`,
    `${day}+02`,
    `${day}+2:00`,
    `${day}+02:00:00`,
    `${day} +02:00`,
    `${day}Zulu`,
    ` ${day}Z`,
    `${day}Z `,
    `${day}Z\n`,
    `${day}.Z`,
    `${day}.1234567890Z`,
    `${day};5Z`,
    '2026-11-20T10:00:61Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:60Z',
    '2026-11-20T25:00:00Z',
    '2026-02-29T10:00:00Z',
    '2026-02-30T10:00:60Z',
    '2026-13-01T10:00:00Z',
    '2026-00-01T10:00:00Z',
    '2026-11-00T10:00:00Z',
    '20261120T100000Z',
    '2026/11/20 10:00:00',
    '20/Nov/2026:10:00:00 +0000',
    'Fri, 20 Nov 2026 10:00:00 GMT',
    '1969-12-31T23:59:59.999999Z',
    '1970-01-01T00:30:00+01:00',
    '2201-01-01T00:00:00Z',
    '2200-12-31T23:59:59-01:00',
    '9999-12-31T23:59:60Z',
    '294247-01-10T04:00:54Z',
    0,
    1,
    -1763632800,
    176363280,
    17636328001,
    176363280012345,
    raw('17636328001234567'),
    raw('176363280012345678'),
    raw('17636328001234567890'),
    raw('123456789012345678901234567890'),
    9999999999,
    9999999999999,
    raw('9999999999999999'),
    raw('9999999999999999999'),
    raw('1.7636328e9e'),
    '1.7636328e9',
    '-1763632800',
    '+1763632800',
    ' 1763632800',
    '1763632800.',
    '1763632800123.5',
    '.5',
    true,
    false,
    [],
    {},
    [`${day}Z`],
    { $date: `${day}Z` },
    '\u0661\u0667\u0666\u0663\u0666\u0663\u0662\u0668\u0660\u0660',
    '\u0000',
    `${day}Z\u0000`,
  ].filter((value) => !JSON.stringify(value).includes('e9e'));

  for (const [kind, rest] of [
    ['a line with metadata', { event_message: 'm', metadata: { a: 1 } }],
    ['a flat line', { a: 1 }],
  ] as const) {
    it(`is read in every form, in ${kind}`, async () => {
      const { rows, rejected } = await take(
        accepted.map(([timestamp], i) => ({ id: `${i}`, timestamp, ...rest })),
      );
      expect(rejected).to.deep.equal([]);
      const found = new Map(rows.map(({ id, timestamp }) => [id, timestamp]));
      const got = accepted.map(([form], i) => [form, found.get(`${i}`)]);
      expect(got).to.deep.equal(accepted);
    });

    it(`rejects the line when it is unreadable or out of range, in ${kind}`, async () => {
      const { rows, rejected } = await take(
        refused.flatMap((timestamp, i) => [
          { id: `no ${i}`, timestamp, ...rest },
          { id: `yes ${i}`, timestamp: `${day}Z`, ...rest },
        ]),
      );
      const taken = rows.filter(({ id }) => String(id).startsWith('no'));
      expect(
        taken.map(({ id, timestamp }) => [refused[Number(String(id).slice(3))], timestamp]),
      ).to.deep.equal([]);
      expect(rows).to.have.length(refused.length);
      expect(rejected).to.have.length(refused.length);
      for (const { reason } of rejected) expect(reason).to.match(/timestamp/);
    });
  }

  it('is the first that is present of timestamp, @timestamp, time, ts and date', async () => {
    const names = ['timestamp', '@timestamp', 'time', 'ts', 'date'];
    const year = (i: number) => `20${20 + i}-01-01T00:00:00Z`;
    const lines = names.flatMap((_, first) => {
      const fields = names.slice(first).map((name, i) => [name, year(first + i)]);
      const nulls = names.slice(0, first).map((name) => [name, null]);
      return [
        // The order in the line does not count.
        Object.fromEntries([['id', `alone ${first}`], ...fields.slice(0, 1)]),
        Object.fromEntries([['id', `forward ${first}`], ...nulls, ...fields]),
        Object.fromEntries([...fields.toReversed(), ...nulls, ['id', `backward ${first}`]]),
      ];
    });
    for (const rest of [{}, { message: 'm', metadata: {} }]) {
      const { rows } = await take(lines.map((line) => ({ ...line, ...rest })));
      expect(rows).to.have.length(lines.length);
      for (const { id, timestamp } of rows)
        expect(timestamp, String(id)).to.equal(year(Number(String(id).split(' ')[1])));
    }
  });

  it('rejects the line when the first that is present is unreadable, whatever follows', async () => {
    const { rows, rejected } = await take([
      { timestamp: 'x', time: `${day}Z` },
      { timestamp: 'x', time: `${day}Z`, message: 'm', metadata: {} },
      { timestamp: '', ts: 1763632800, message: 'm', metadata: {} },
    ]);
    expect([rows.length, rejected.length]).to.deep.equal([0, 3]);
  });

  it('is the time of ingestion when it is absent, and is counted', async () => {
    const before = Date.now();
    const { rows, undated } = await take([
      { id: 'a' },
      { id: 'b', timestamp: null, '@timestamp': null, time: null, ts: null, date: null },
      { id: 'c', timestamp: null, message: 'm', metadata: {} },
      { id: 'd', timestamp: null, date: `${day}Z` },
      { id: 'e', Timestamp: `${day}Z`, TIME: 'x', message: 'm', metadata: {} },
    ]);
    expect(undated).to.equal(4);
    for (const { id, timestamp } of rows) {
      if (id === 'd') expect(timestamp).to.equal(`${day}Z`);
      else expect(Date.parse(String(timestamp)), String(id)).to.be.within(before, Date.now());
    }
  });
});

describe('the message of a line', () => {
  const take = taking();
  it('is the first that is present of event_message, message, msg, log and MESSAGE', async () => {
    const names = ['event_message', 'message', 'msg', 'log', 'MESSAGE'];
    const lines = names.flatMap((_, first) => {
      const fields = names.slice(first).map((name) => [name, `of ${name}`]);
      const nulls = names.slice(0, first).map((name) => [name, null]);
      return [
        Object.fromEntries([['id', `alone ${first}`], ...fields.slice(0, 1)]),
        Object.fromEntries([['id', `forward ${first}`], ...nulls, ...fields]),
        Object.fromEntries([...fields.toReversed(), ...nulls, ['id', `backward ${first}`]]),
      ];
    });
    for (const rest of [{}, { time: 1763632800, metadata: { a: 1 } }]) {
      const { rows } = await take(lines.map((line) => ({ ...line, ...rest })));
      expect(rows).to.have.length(lines.length);
      for (const { id, event_message } of rows)
        expect(event_message, String(id)).to.equal(`of ${names[Number(String(id).split(' ')[1])]}`);
    }
  });

  it('is its JSON text when it is not a string, and empty when it is absent', async () => {
    const cases: [unknown, string][] = [
      [undefined, ''],
      [null, ''],
      ['', ''],
      ['null', 'null'],
      [7, '7'],
      [raw('12345678901234567890'), '12345678901234567890'],
      [1.5, '1.5'],
      [true, 'true'],
      [false, 'false'],
      [[], '[]'],
      [{}, '{}'],
      [['a', 1, null], '["a",1,null]'],
      [{ a: { b: 'c\n' } }, '{"a":{"b":"c\\n"}}'],
      ['{"a":1}', '{"a":1}'],
      ['\u{1f600}\u0000\n\t"\\', '\u{1f600}\u0000\n\t"\\'],
      ['x'.repeat(100_000), 'x'.repeat(100_000)],
    ];
    for (const rest of [{}, { time: 1763632800, metadata: { a: 1 } }]) {
      const { rows } = await take(
        cases.map(([event_message], i) => ({ id: `${i}`, event_message, ...rest })),
      );
      const found = new Map(rows.map(({ id, event_message }) => [id, event_message]));
      expect(cases.map(([value], i) => [value, found.get(`${i}`)])).to.deep.equal(cases);
    }
  });

  it('is empty when the first that is present is empty', async () => {
    const { rows } = await take([{ event_message: '', message: 'no' }]);
    expect(rows[0]?.event_message).to.equal('');
  });
});

describe('id and project of a line', () => {
  const take = taking();
  const cases: [unknown, string][] = [
    ['x', 'x'],
    ['', ''],
    ['null', 'null'],
    [7, '7'],
    [raw('12345678901234567890'), '12345678901234567890'],
    [true, 'true'],
    [{ a: [1] }, '{"a":[1]}'],
    [['a'], '["a"]'],
    ["'; drop table edge_logs; --", "'; drop table edge_logs; --"],
  ];

  for (const [kind, rest] of [
    ['a line with metadata', { time: 1763632800, message: 'm', metadata: { a: 1 } }],
    ['a flat line', {}],
  ] as const) {
    it(`are strings, anything else as its JSON text, in ${kind}`, async () => {
      const { rows } = await take(
        cases.flatMap(([value], i) => [
          { id: value, project: `id ${i}`, ...rest },
          { id: `project ${i}`, project: value, ...rest },
        ]),
      );
      for (const [i, [value, text]] of cases.entries()) {
        expect(rows.find(({ project }) => project === `id ${i}`)?.id, `${value}`).to.equal(text);
        expect(rows.find(({ id }) => id === `project ${i}`)?.project, `${value}`).to.equal(text);
      }
    });

    it(`are a new id and no project when they are absent, in ${kind}`, async () => {
      const { rows } = await take([{ ...rest }, { id: null, project: null, ...rest }]);
      expect(new Set(rows.map(({ id }) => id))).to.have.property('size', 2);
      for (const { id, project } of rows) {
        expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
        expect(project).to.equal(null);
      }
    });
  }

  it('find the project in metadata.project, then in metadata.project_ref', async () => {
    const both = { project: 'p', project_ref: 'ref' };
    const cases: [Line, string | null][] = [
      [{ project: 'top', metadata: both }, 'top'],
      [{ project: '', metadata: both }, ''],
      [{ metadata: both }, 'p'],
      [{ project: null, metadata: both }, 'p'],
      [{ metadata: { project_ref: 'ref' } }, 'ref'],
      [{ metadata: { project: null, project_ref: 'ref' } }, 'ref'],
      [{ metadata: [both] }, 'p'],
      [{ metadata: [{ project_ref: 'ref' }] }, 'ref'],
      [{ metadata: [{ project: null, project_ref: 'ref' }] }, 'ref'],
      [{ metadata: [{ project: 'first' }, { project: 'second' }] }, 'first'],
      [{ metadata: [{}, { project: 'second' }] }, null],
      [{ metadata: [] }, null],
      [{ metadata: {} }, null],
      [{ metadata: { project: 5 } }, '5'],
      [{ metadata: { project: { a: 1 } } }, '{"a":1}'],
      [{ metadata: { a: { project: 'deep' } } }, null],
      [{ metadata: { project_ref: 'ref' }, project_ref: 'top' }, 'ref'],
    ];
    for (const source of ['edge_logs', 'function_logs'] as const) {
      for (const rest of [{}, { time: 1763632800, message: 'm' }]) {
        const { rows } = await take(
          cases.map(([line], i) => ({ id: `${i}`, ...line, ...rest })),
          source,
        );
        const found = new Map(rows.map(({ id, project }) => [id, project]));
        expect(cases.map(([line], i) => [line, found.get(`${i}`)])).to.deep.equal(cases);
      }
    }
  });
});

describe('the metadata of a line', () => {
  const take = taking();
  for (const [kind, rest] of [
    ['with a message and a time', { time: 1763632800, message: 'm' }],
    ['without a message', { time: 1763632800 }],
    ['without a time', { message: 'm' }],
  ] as const) {
    it(`is kept as it was shipped, ${kind}`, async () => {
      const values: unknown[] = [
        { a: 1 },
        {},
        [],
        [{}],
        [{ a: 1 }, { b: 2 }],
        [1, 'a', null],
        { a: null, b: { c: null }, d: [null] },
        { request: [{ path: '/x' }] },
        { '': { ' ': 'x' }, 'a.b': 1, "it's": '$[0]', __proto: 1 },
        raw('{"__proto__":{"a":1},"n":9007199254740993,"m":12345678901234567890,"x":1.0}'),
        { text: '\u{1f600}\u0001"\\\n', metadata: { metadata: { metadata: [] } } },
      ];
      const { rows } = await take(
        values.map((metadata, i) => ({ id: `${i}`, metadata, other: 'is not stored', ...rest })),
      );
      const found = new Map(rows.map(({ id, metadata }) => [id, metadata]));
      expect(values.map((_, i) => found.get(`${i}`))).to.deep.equal(
        values.map((value) => text({ value }).slice(9, -1)),
      );
    });
  }

  it('are the other fields of a flat line', async () => {
    const known = {
      id: 'x',
      project: 'p',
      timestamp: '2026-11-20T10:00:00Z',
      '@timestamp': 'x',
      time: 'x',
      ts: 'x',
      date: 'x',
      event_message: 'm',
      message: 'm',
      msg: 'm',
      log: 'm',
      MESSAGE: 'm',
    };
    const flats: unknown[] = [
      { level: 30, pid: 1, hostname: 'h', req: { headers: { a: [1, { b: null }] } } },
      { a: null, b: { c: null, d: [null] } },
      { Message: 'other', Timestamp: 'x', ID: 'y', Time: 1, LOG: 2 },
      { stream: 'stdout', attrs: {} },
      raw('{"big":12345678901234567890,"exact":9007199254740993,"one":1.0,"__proto__":{"a":1}}'),
      { '': 1, 'a.b': 2, '$.id': 3, "it's": 4 },
    ];
    for (const extra of [{}, { metadata: null }]) {
      const { rows } = await take(
        flats.map((fields, i) =>
          raw(`${text({ ...known, id: `${i}`, ...extra }).slice(0, -1)},${text(fields).slice(1)}`),
        ),
      );
      const found = new Map(rows.map(({ id, metadata }) => [id, metadata]));
      for (const [i, fields] of flats.entries()) {
        // Compared as values, because the order of keys is not promised. Digits are, and are compared below.
        expect(JSON.parse(String(found.get(`${i}`))), text(fields)).to.deep.equal(
          JSON.parse(text(fields)),
        );
      }
      expect(found.get('4')).to.include('12345678901234567890').and.include('9007199254740993');
    }
  });

  it('is null when a flat line has no other fields', async () => {
    const { rows } = await take([{ id: '1' }, { id: '2', msg: 'm', metadata: null }]);
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal([null, null]);
  });

  it('does not vanish when it is neither an object nor an array', async () => {
    const { rows } = await take([
      { id: '1', metadata: 'some text', level: 'info' },
      { id: '2', metadata: 5, message: 'm', time: 1763632800 },
    ]);
    expect(rows.map(({ metadata }) => JSON.parse(String(metadata)))).to.deep.equal([
      { metadata: 'some text', level: 'info' },
      { metadata: 5 },
    ]);
  });

  it('is kept with a thousand levels, and rejected with more', async () => {
    const deep = (n: number) => raw(`{"a":${'['.repeat(n)}${']'.repeat(n)}}`);
    const others = { message: 'm', time: 1763632800 };
    const brackets = { text: `"\\${'[{'.repeat(2000)}`, more: '{'.repeat(2000) };
    const { rows, rejected } = await take([
      { id: '1', metadata: deep(100), ...others },
      // The line and its metadata are a level each.
      { id: '2', metadata: deep(998), ...others },
      { id: '3', metadata: deep(999), ...others },
      { id: '4', metadata: deep(998) },
      { id: '5', flat: deep(998) },
      { id: '6', flat: deep(999) },
      { id: '7', metadata: deep(20_000), ...others },
      // Lines of this depth ended the process, again and again.
      { id: '8', flat: deep(250_000) },
      { id: '9', metadata: { list: Array(2000).fill([{}]), ...brackets }, ...others },
    ]);
    expect(rows.map(({ id }) => id)).to.deep.equal(['1', '2', '4', '5', '9']);
    expect(rows.map(({ metadata }) => String(metadata).length).slice(0, 4)).to.deep.equal([
      206,
      2002,
      2002,
      2002 + '{"flat":}'.length,
    ]);
    expect(rejected.map(({ reason }) => reason)).to.deep.equal(
      Array(4).fill('it is nested deeper than 1000 levels'),
    );
  });
});

describe('path, url and host of an edge line', () => {
  const take = taking();
  const request = { path: '/rest/v1/x', url: 'https://p.example/rest/v1/x?a=1', host: 'p.example' };
  const none = { path: null, host: null, url_base: null, url_query: null };
  const columns = {
    path: '/rest/v1/x',
    host: 'p.example',
    url_base: 'https://p.example/rest/v1/x',
    url_query: '?a=1',
  };

  it('come from metadata.request, each an object or an array', async () => {
    const cases: [unknown, object][] = [
      [{ request }, columns],
      [{ request: [request] }, columns],
      [[{ request }], columns],
      [[{ request: [request] }], columns],
      [[{ request: [request, { path: '/second' }] }, { request: { path: '/third' } }], columns],
      [[{}, { request }], none],
      [{ request: [{}, request] }, none],
      [{ request: { path: '/only' } }, { ...none, path: '/only' }],
      [{ request: [{ url: 'u' }] }, { ...none, url_base: 'u' }],
      [[{ request: { host: 'h' } }], { ...none, host: 'h' }],
      [{ request: { path: null, url: null, host: null } }, none],
      [{ request: { url: '' } }, { ...none, url_base: '' }],
      [{ request: { url: '?' } }, { ...none, url_base: '', url_query: '?' }],
      [{ request: { url: 'u?' } }, { ...none, url_base: 'u', url_query: '?' }],
      [
        { request: { url: '\u{1f600}é?\u{1f600}?' } },
        { ...none, url_base: '\u{1f600}é', url_query: '?\u{1f600}?' },
      ],
      [{ request: {} }, none],
      [{ request: [] }, none],
      [{ request: null }, none],
      [{ request: 'text' }, none],
      [{ path: '/no', response: { path: '/no' } }, none],
      [{}, none],
      [[], none],
      [{ request: { path: '' } }, { ...none, path: '' }],
      [{ request: { path: '/\u{1f600}?a=\'"\\' } }, { ...none, path: '/\u{1f600}?a=\'"\\' }],
    ];
    for (const rest of [{}, { time: 1763632800, message: 'm' }]) {
      const { rows } = await take(
        cases.map(([metadata], i) => ({ id: `${i}`, metadata, ...rest })),
        'edge_logs',
      );
      const found = new Map(
        rows.map(({ id, path, host, url_base, url_query }) => [
          id,
          { path, host, url_base, url_query } as object,
        ]),
      );
      expect(cases.map(([metadata], i) => [metadata, found.get(`${i}`)])).to.deep.equal(cases);
    }
  });

  it('come from a flat line too, whose request is its metadata', async () => {
    const { rows } = await take([{ id: '1', msg: 'm', request }], 'edge_logs');
    expect(rows[0]).to.include(columns);
  });
});

/** Returns JSON text in which the text given to `raw` stands as it is. */
function text(value: unknown): string {
  return JSON.stringify(value).replace(/"\\u0001(.*?)\\u0001"/g, (_, inner: string) =>
    JSON.parse(`"${inner}"`),
  );
}

interface Taken {
  readonly rows: Row[];
  readonly rejected: Row[];
  readonly undated: number;
}

/** Opens an ingest for a suite. Returns what stores lines from a file of their own, and tells what became of them. */
function taking(): (lines: readonly object[], source?: Source) => Promise<Taken> {
  const ingestingOf = opened<Ingesting>((action) => withFolder((data) => withIngest(data, action)));
  /** When the rows of earlier files were stored. */
  const stored = new Set<unknown>();
  let files = 0;
  return async (lines, source = 'postgres_logs') => {
    const ingesting = ingestingOf();
    const before = await ingesting.ledger(source);
    // A name with a number would be that of a rotated file.
    const path = `${source}/${String.fromCharCode(97 + files++)}.log`;
    ingesting.write(path, lines.map((line) => `${text(line)}\n`).join(''));
    const ledger = await ingesting.lines(before.lines + lines.length, source);
    const rows = (await ingesting.rows(source)).filter((row) => !stored.has(row.ingested_at));
    for (const { ingested_at } of rows) stored.add(ingested_at);
    const rejected = (await ingesting.rejected(source)).filter(({ file }) => file === path);
    expect([rows.length, rejected.length]).to.deep.equal([
      ledger.rows - before.rows,
      ledger.rejected - before.rejected,
    ]);
    return { rows, rejected, undated: ledger.undated - before.undated };
  };
}
