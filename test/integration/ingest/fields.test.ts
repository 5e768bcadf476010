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
          // What has no column is in the metadata, beside what stands in it, but for two names that Logflare does not answer.
          const { timestamp, project, event_message, metadata, ...others } = line;
          const { appname, severity, ...kept } = others;
          expect(JSON.parse(String(found?.metadata))).to.deep.equal(
            metadata ? { ...(metadata as Line), ...kept } : others,
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
    [`${day}+02`, '2026-11-20T08:00:00Z'],
    [`${day} +0200`, '2026-11-20T08:00:00Z'],
    [`${day} +02:00`, '2026-11-20T08:00:00Z'],
    ['2026-11-20 10:00:00 +0000 UTC', `${day}Z`],
    [`${day}+01:00[Europe/Paris]`, '2026-11-20T09:00:00Z'],
    [`${day} CET`, '2026-11-20T09:00:00Z'],
    [` ${day}Z\n`, `${day}Z`],
    [`${day}.1234567890Z`, `${day}.123456Z`],
    ['20261120T100000Z', `${day}Z`],
    ['2026/11/20 10:00:00', `${day}Z`],
    ['20/Nov/2026:10:00:00 +0000', `${day}Z`],
    ['[20/Nov/2026:10:00:00 +0000]', `${day}Z`],
    ['20 Nov 2026 10:00:00,123', `${day}.123Z`],
    ['Fri, 20 Nov 2026 10:00:00 GMT', `${day}Z`],
    ['1763632800123.500', '2025-11-20T10:00:00.1235Z'],
    ['1.7636328e9', '2025-11-20T10:00:00Z'],
    [raw('1.7636328e9'), '2025-11-20T10:00:00Z'],
    [' 1763632800 ', '2025-11-20T10:00:00Z'],
    [{ $date: `${day}Z` }, `${day}Z`],
    [{ seconds: 1763632800, nanos: 5000 }, '2025-11-20T10:00:00.000005Z'],
  ];
  const unreadable: unknown[] = [
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
    `${day} BC`,
    '0044-03-15T12:00:00Z',
    '-0044-03-15T12:00:00Z',
    '12026-11-20T10:00:00Z',
    '2026-11-20T10:00:61Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T25:00:00Z',
    '2026-02-29T10:00:00Z',
    '2026-02-30T10:00:60Z',
    '2026-13-01T10:00:00Z',
    '2026-00-01T10:00:00Z',
    '2026-11-00T10:00:00Z',
    '11/10/2026 10:00:00',
    '1969-12-31T23:59:59.999999Z',
    '1970-01-01T00:30:00+01:00',
    '2201-01-01T00:00:00Z',
    '2200-12-31T23:59:59-01:00',
    '9999-12-31T23:59:60Z',
    '294247-01-10T04:00:54Z',
    0,
    1,
    -1763632800,
    raw('17636328001234567890'),
    raw('123456789012345678901234567890'),
    9999999999,
    9999999999999,
    raw('9999999999999999'),
    raw('9999999999999999999'),
    '-1763632800',
    '.5',
    true,
    false,
    [],
    {},
    [`${day}Z`],
    '\u0661\u0667\u0666\u0663\u0666\u0663\u0662\u0668\u0660\u0660',
    '\u0000',
    `${day}Z\u0000`,
  ];

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

    it(`gives an undated row that keeps its text when it cannot be read, in ${kind}`, async () => {
      const before = Date.now();
      const { rows, rejected, undated } = await take(
        unreadable.map((timestamp, i) => ({ id: `${i}`, timestamp, ...rest })),
      );
      expect([rows.length, rejected, undated]).to.deep.equal([
        unreadable.length,
        [],
        unreadable.length,
      ]);
      for (const { id, timestamp, metadata } of rows) {
        const value = text({ timestamp: unreadable[Number(id)], a: 1 });
        expect(JSON.parse(String(metadata)), value).to.deep.equal(JSON.parse(value));
        expect(Date.parse(String(timestamp)), value).to.be.within(before, Date.now());
      }
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

  it('is the next one that can be read when it is empty or unreadable, and keeps its text', async () => {
    const { rows, undated } = await take([
      { id: '1', timestamp: 'x', time: `${day}Z` },
      { id: '2', timestamp: 'x', time: `${day}Z`, message: 'm', metadata: { a: 1 } },
      { id: '3', timestamp: '', time: {}, ts: `${day}Z`, message: 'm', metadata: {} },
      { id: '4', date: '2026-11-20', time: '10:00:00' },
    ]);
    expect(undated).to.equal(0);
    expect(rows.map(({ timestamp }) => timestamp)).to.deep.equal(Array(4).fill(`${day}Z`));
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal([
      '{"timestamp":"x"}',
      '{"a":1,"timestamp":"x"}',
      '{"timestamp":"","time":{}}',
      null,
    ]);
  });

  it('is read by another spelling of its name', async () => {
    const names = ['Timestamp', 'TIME', 'event-time', 'event_time', '__REALTIME_TIMESTAMP'];
    const { rows } = await take(names.map((name, i) => ({ id: `${i}`, [name]: `${day}Z` })));
    expect(rows.map(({ timestamp }) => timestamp)).to.deep.equal(
      Array(names.length).fill(`${day}Z`),
    );
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal(Array(names.length).fill(null));
  });

  it('is the time of ingestion when it is absent, and is counted', async () => {
    const before = Date.now();
    const { rows, undated } = await take([
      { id: 'a' },
      { id: 'b', timestamp: null, '@timestamp': null, time: null, ts: null, date: null },
      { id: 'c', timestamp: null, message: 'm', metadata: {} },
      { id: 'd', timestamp: null, date: `${day}Z` },
      // A moment in metadata is of something else.
      { id: 'e', message: 'm', metadata: { timestamp: `${day}Z` } },
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
  it('is the first that is present of event_message, message, msg, log, @m and body', async () => {
    const names = ['event_message', 'message', 'msg', 'log', '@m', 'body'];
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
      for (const { id, event_message, metadata } of rows) {
        const [form, first] = String(id).split(' ');
        expect(event_message, String(id)).to.equal(`of ${names[Number(first)]}`);
        if (form === 'alone') continue;
        // Those that lost are still there.
        expect(JSON.parse(String(metadata)), String(id)).to.include(
          Object.fromEntries(names.slice(Number(first) + 1).map((name) => [name, `of ${name}`])),
        );
      }
    }
  });

  it('is a text, or a number or boolean as it was written', async () => {
    const cases: [unknown, string][] = [
      [undefined, ''],
      [null, ''],
      ['', ''],
      [' ', ' '],
      ['null', 'null'],
      ['a line\n', 'a line\n'],
      [7, '7'],
      [raw('12345678901234567890'), '12345678901234567890'],
      [raw('1.10'), '1.10'],
      [true, 'true'],
      [false, 'false'],
      ['{"a":1}', '{"a":1}'],
      ['\u{1f600}\u0000\n\t"\\', '\u{1f600}\u0000\n\t"\\'],
      ['x'.repeat(100_000), 'x'.repeat(100_000)],
      // journald writes the bytes of a text that is not plain.
      [[104, 195, 169], 'h\u00e9'],
    ];
    for (const rest of [{}, { time: 1763632800, metadata: { a: 1 } }]) {
      const { rows } = await take(
        cases.map(([event_message], i) => ({ id: `${i}`, event_message, ...rest })),
      );
      const found = new Map(rows.map(({ id, event_message }) => [id, event_message]));
      expect(cases.map(([value], i) => [value, found.get(`${i}`)])).to.deep.equal(cases);
      const others = text(rest).includes('metadata') ? '{"a":1}' : null;
      for (const { id, metadata } of rows) expect(metadata, String(id)).to.equal(others);
    }
  });

  it('is empty when there is an object or a list, which stays in the metadata', async () => {
    const values: unknown[] = [[], {}, ['a', 1, null], { a: { b: 'c\n' } }];
    const { rows } = await take(values.map((event_message, i) => ({ id: `${i}`, event_message })));
    expect(rows.map(({ event_message }) => event_message)).to.deep.equal(values.map(() => ''));
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal(
      values.map((event_message) => JSON.stringify({ event_message })),
    );
  });

  it('is the next one when it is empty', async () => {
    const { rows } = await take([
      { id: '1', event_message: '', message: 'yes' },
      { id: '2', event_message: '', msg: {}, log: 'yes', metadata: { a: 1 } },
    ]);
    expect(rows.map(({ event_message }) => event_message)).to.deep.equal(['yes', 'yes']);
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal([
      '{"event_message":""}',
      '{"a":1,"event_message":"","msg":{}}',
    ]);
  });

  it('is that of the object that stands in another field as text', async () => {
    const { rows } = await take([
      { id: '1', msg: '{"message":"within","a":1}', b: 2 },
      // Metadata would be of two.
      { id: '2', msg: '{"message":"within"}', metadata: { b: 2 } },
    ]);
    expect(rows.map(({ event_message }) => event_message)).to.deep.equal([
      'within',
      '{"message":"within"}',
    ]);
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal(['{"a":1,"b":2}', '{"b":2}']);
  });
});

describe('id and project of a line', () => {
  const take = taking();
  const cases: [unknown, string][] = [
    ['x', 'x'],
    ['null', 'null'],
    [7, '7'],
    [raw('1.10'), '1.10'],
    [raw('12345678901234567890'), '12345678901234567890'],
    [true, 'true'],
    ["'; drop table edge_logs; --", "'; drop table edge_logs; --"],
  ];

  for (const [kind, rest] of [
    ['a line with metadata', { time: 1763632800, message: 'm', metadata: { a: 1 } }],
    ['a flat line', {}],
  ] as const) {
    it(`are texts, numbers and booleans as they were written, in ${kind}`, async () => {
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

  it('are not an empty text, an object or a list, which stay in the metadata', async () => {
    const values = ['', {}, { a: [1] }, [], ['a']];
    for (const metadata of [undefined, { b: 1 }]) {
      const { rows } = await take(
        values.map((value) => ({ id: value, project: value, msg: 'm', metadata })),
      );
      expect(new Set(rows.map(({ id }) => id))).to.have.property('size', values.length);
      expect(rows.map(({ project }) => project)).to.deep.equal(values.map(() => null));
      expect(rows.map((row) => row.metadata)).to.have.members(
        values.map((value) => JSON.stringify({ ...metadata, id: value, project: value })),
      );
    }
  });

  it('find the project in metadata.project, then in metadata.project_ref', async () => {
    const both = { project: 'p', project_ref: 'ref' };
    const cases: [Line, string | null][] = [
      [{ project: 'top', metadata: both }, 'top'],
      [{ project: '', metadata: both }, 'p'],
      [{ project: '', metadata: { project: '', project_ref: 'ref' } }, 'ref'],
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
      [{ metadata: { project: { a: 1 } } }, null],
      [{ metadata: { a: { project: 'deep' } } }, null],
      [{ metadata: { project_ref: 'ref' }, project_ref: 'top' }, 'top'],
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
    it(`is kept as it was shipped, with the fields beside it in it, ${kind}`, async () => {
      const other = 'stays';
      const exact =
        '"__proto":{"a":1},"n":9007199254740993,"m":12345678901234567890,"x":1.0,"y":1.10,"z":1e5';
      const values: [unknown, unknown][] = [
        [{ a: 1 }, { a: 1, other }],
        [{}, { other }],
        [[{}], [{ other }]],
        [
          [{ a: 1 }, { b: 2 }],
          [{ a: 1, other }, { b: 2 }],
        ],
        // There is no object that may hold it.
        [[], { metadata: [], other }],
        [[1, 'a', null], { metadata: [1, 'a', null], other }],
        [{ other: 'mine' }, { other: 'mine', _other: other }],
        [{ other }, { other }],
        [
          { a: null, b: { c: null }, d: [null] },
          { a: null, b: { c: null }, d: [null], other },
        ],
        [{ request: [{ path: '/x' }] }, { request: [{ path: '/x' }], other }],
        [
          { '': { ' ': 'x' }, 'a.b': 1, "it's": '$[0]', __proto: 1 },
          { '': { ' ': 'x' }, 'a.b': 1, "it's": '$[0]', __proto: 1, other },
        ],
        [raw(`{${exact}}`), raw(`{${exact},"other":"stays"}`)],
        [
          { text: '\u{1f600}\u0001"\\\n', metadata: { metadata: { metadata: [] } } },
          { text: '\u{1f600}\u0001"\\\n', metadata: { metadata: { metadata: [] } }, other },
        ],
      ];
      const { rows } = await take(
        values.flatMap(([metadata], i) => [
          { id: `alone ${i}`, metadata, ...rest },
          { id: `beside ${i}`, metadata, other, ...rest },
        ]),
      );
      const found = new Map(rows.map(({ id, metadata }) => [id, metadata]));
      const textOf = (value: unknown) => text({ value }).slice(9, -1);
      for (const [i, [alone, beside]] of values.entries()) {
        expect(found.get(`alone ${i}`)).to.equal(textOf(alone));
        expect(found.get(`beside ${i}`)).to.equal(textOf(beside));
      }
    });
  }

  it('are the other fields of a flat line, those with the name of a column that lost among them', async () => {
    const known = { id: 'x', project: 'p', timestamp: '2026-11-20T10:00:00Z', event_message: 'm' };
    const flats: unknown[] = [
      { level: 30, pid: 1, hostname: 'h', req: { headers: { a: [1, { b: null }] } } },
      { a: null, b: { c: null, d: [null] } },
      { Message: 'other', Timestamp: 'x', ID: 'y', Time: 1, LOG: 2 },
      { '@timestamp': 'x', time: 'x', ts: 'x', date: 'x', message: 'm', msg: 'm', MESSAGE: 'm' },
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
      for (const [i, fields] of flats.entries()) expect(found.get(`${i}`)).to.equal(text(fields));
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

  it('keeps both members of one name', async () => {
    const { rows } = await take([
      raw('{"id":"1","a":1,"a":2}'),
      raw('{"id":"2","a":1,"a":2,"_a":3,"a":1,"level":"info","level":"error"}'),
      raw('{"id":"3","time":1763632800,"msg":"m","metadata":{"a":1,"a":2}}'),
    ]);
    expect(rows.map(({ metadata }) => metadata)).to.deep.equal([
      // The second has another name, so that answers and searches have it.
      '{"a":1,"_a":2}',
      '{"a":1,"_a":2,"__a":3,"level":"info","_level":"error"}',
      '{"a":1,"a":2}',
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
