import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_DEPTH } from '../../ingest/tail/nesting.ts';
import { LONG } from '../faults/case.ts';
import { type Served, withApp, withFolder } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const PATH = '/api/endpoints/query/logs.all';
const UUID = '5f2a1f6e-6a0b-4f0e-9d5c-2f6b1a9e7c11';
const SECOND = 1_000_000n;
const DAY = 86_400n * SECOND;
/** 2026-01-01T00:00:00Z in microseconds. */
const NEW_YEAR = 1_767_225_600n * SECOND;

interface Entry {
  readonly id: string;
  readonly at: bigint;
  readonly project: string;
}

/** Formats a timestamp as text. Digits mean microseconds only since 2001, when there are 16 of them. */
function iso(micros: bigint): string {
  const fraction = String(micros % SECOND).padStart(6, '0');
  return `${new Date(Number(micros / SECOND) * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}

/** Entries as lines. */
function toLines(entries: readonly Entry[]): string {
  return entries
    .map(
      ({ id, at, project }) =>
        `{"id":"${id}","timestamp":"${iso(at)}","project":"${project}","event_message":"m","metadata":{"a":1}}\n`,
    )
    .join('');
}

/** The app with these lines of edge_logs stored. */
const withLines = (text: string, action: (served: Served) => Promise<void>) =>
  withFolder((data) =>
    withApp(data, async (served) => {
      served.write('edge_logs/a.ndjson', text);
      await served.lines(text.split('\n').length - 1);
      await action(served);
    }),
  );

const search = (parameters: Record<string, string>) =>
  `${PATH}?${new URLSearchParams(parameters).toString()}`;

async function ids(served: Served, parameters: Record<string, string>): Promise<string[]> {
  const { status, body } = await served.get(search(parameters));
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.result.map(({ id }: { id: string }) => id);
}

/** Returns the expected answer by a plain filter and sort. Timestamps must differ. */
function expected(
  entries: readonly Entry[],
  project: string,
  start: bigint | null,
  end: bigint | null,
): string[] {
  return entries
    .filter((entry) => entry.project === project)
    .filter(({ at }) => (start === null || at > start) && (end === null || at <= end))
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, 100)
    .map(({ id }) => id);
}

const hour = (h: number) => NEW_YEAR + BigInt(h) * 3600n * SECOND;
const hours = [1, 2, 3, 4, 5].map((h) => ({ id: `${h}`, at: hour(h), project: 'p' }));

describe('logs.all: which entries', () => {
  const served = opened<Served>((action) => withLines(toLines(hours), action));
  const asking = (action: (served: Served) => Promise<void>) => action(served());

  it('takes the start as exclusive and the end as inclusive, newest first', () =>
    asking(async (served) => {
      const check = async (start: string | null, end: string | null, result: string[]) =>
        expect(
          await ids(served, {
            project: 'p',
            ...(start === null ? {} : { iso_timestamp_start: start }),
            ...(end === null ? {} : { iso_timestamp_end: end }),
          }),
          `${start} to ${end}`,
        ).to.deep.equal(result);
      await check(null, null, ['5', '4', '3', '2', '1']);
      await check('', '', ['5', '4', '3', '2', '1']);
      await check('2026-01-01T02:00:00Z', null, ['5', '4', '3']);
      await check('2026-01-01T01:59:59.999999Z', null, ['5', '4', '3', '2']);
      await check(null, '2026-01-01T02:00:00Z', ['2', '1']);
      await check(null, '2026-01-01T01:59:59.999999Z', ['1']);
      await check('2026-01-01T02:00:00Z', '2026-01-01T04:00:00Z', ['4', '3']);
      await check('2026-01-01T02:00:00Z', '2026-01-01T02:00:00Z', []);
      await check('2026-01-01T04:00:00Z', '2026-01-01T02:00:00Z', []);
      await check('2026-01-01T05:00:00Z', null, []);
      await check(null, '2025-12-31T23:59:59Z', []);
      await check('1970-01-01T00:00:00Z', '2200-12-31T23:59:59Z', ['5', '4', '3', '2', '1']);
      await check('2199-01-01T00:00:00Z', null, []);
      await check(null, '1970-01-01T00:00:00Z', []);
    }));

  it('reads every form of a timestamp that a line may have', () =>
    asking(async (served) => {
      // Each form means 02:00 UTC: the entry of 02:00 is the newest one up to it, and is not after it.
      for (const form of [
        '2026-01-01T02:00:00Z',
        '2026-01-01t02:00:00z',
        '2026-01-01 02:00:00',
        '2026-01-01T02:00',
        '2026-01-01T02:00:00.000000000Z',
        '2026-01-01T02:00:00,000Z',
        '2026-01-01T01:59:60,5Z'.replace('01:59:60,5', '02:00:00,0'),
        '2026-01-01T04:00:00+02:00',
        '2026-01-01T04:00:00+0200',
        '2026-01-01T04:00+02:00',
        '2025-12-31T21:00:00-05:00',
        '2026-01-01T07:30:00+05:30',
        '1767232800',
        '1767232800000',
        '1767232800000000',
        '1767232800000000000',
        '1767232800.0',
        '1767232800.000000',
        ' 2026-01-01T02:00:00Z ',
        '2026-01-01T02:00:00.0000000000Z',
        '2026-01-01T03:00:00 CET',
        '01/Jan/2026:02:00:00 +0000',
      ]) {
        expect(await ids(served, { project: 'p', iso_timestamp_end: form }), form).to.deep.equal([
          '2',
          '1',
        ]);
        expect(await ids(served, { project: 'p', iso_timestamp_start: form }), form).to.deep.equal([
          '5',
          '4',
          '3',
        ]);
      }
    }));

  it('reads a + that arrived as a space', () =>
    asking(async (served) => {
      for (const form of [
        '2026-01-01T04:00:00+02:00',
        '2026-01-01T04:00:00%2B02:00',
        '2026-01-01T04:00:00%2002:00',
        '2026-01-01T04:00:00+0200',
        '2026-01-01+04:00:00+02:00',
        '2026-01-01T04:00:00.000+02:00',
        '2026-01-01T04:00+02:00',
        '2026-01-01+02:00:00',
        '2026-01-01+02:00',
        '2026-01-01T03:00:00%20Europe/Berlin',
      ]) {
        const { status, body } = await served.get(`${PATH}?project=p&iso_timestamp_end=${form}`);
        expect(status, form).to.equal(200);
        expect(body.result.map(({ id }: { id: string }) => id)).to.deep.equal(['2', '1']);
      }
    }));

  it('answers 400 for a timestamp that cannot be read, naming it', () =>
    asking(async (served) => {
      for (const name of ['iso_timestamp_start', 'iso_timestamp_end']) {
        for (const value of [
          'yesterday',
          'now',
          'today',
          'infinity',
          '-infinity',
          'epoch',
          '2026-01-01',
          '2026-13-01T00:00:00Z',
          '2026-02-30T00:00:00Z',
          '2026-01-01T25:00:00Z',
          '2026-01-01T00:00:00 Nowhere/City',
          '2026-01-01T00:00:00Z BC',
          '0044-03-15T00:00:00Z',
          '1969-12-31T23:59:59Z',
          '2201-01-01T00:00:00Z',
          '9999-12-31T23:59:59Z',
          '12',
          '-1767232800',
          '99999999999999999999',
          '9999999999999999999',
          '1e10',
          'null',
          "2026-01-01' or '1'='1",
          ' ',
          '٢٠٢٦-01-01T00:00:00Z',
        ]) {
          const response = await served.get(search({ project: 'p', [name]: value }));
          expect(response.status, value).to.equal(400);
          expect(response.body.code).to.equal('PARAMETER_INVALID');
          expect(response.body.errors).to.have.length(1);
          expect(response.body.errors[0].parameter).to.equal(name);
          expect(response.body.detail).to.contain(JSON.stringify(value)).and.to.contain(name);
        }
      }
    }));

  it('answers 400 for an offset that does not exist', () =>
    asking(async (served) => {
      for (const offset of ['+25:99', '+00:60', '-24:00', '+9999'])
        expect(
          (
            await served.get(
              search({ project: 'p', iso_timestamp_end: `2026-01-01T00:00:00${offset}` }),
            )
          ).status,
          offset,
        ).to.equal(400);
    }));

  it('names both timestamps when both are wrong', () =>
    asking(async (served) => {
      const query = { project: 'p', iso_timestamp_start: 'a', iso_timestamp_end: 'b' };
      const { body } = await served.get(search(query));
      expect(body.errors.map((fault: { parameter: string }) => fault.parameter)).to.deep.equal([
        'iso_timestamp_start',
        'iso_timestamp_end',
      ]);
    }));

  it('demands a project', () =>
    asking(async (served) => {
      for (const query of ['', '?project=', '?project=p&project=p', '?project=p%00']) {
        const { status, body } = await served.get(PATH + query);
        expect(status, query).to.equal(400);
        expect(body.errors[0].parameter).to.equal('project');
      }
      const twice = await served.get(
        `${PATH}?project=p&iso_timestamp_end=1767232800&iso_timestamp_end=1767232800`,
      );
      expect(twice.status).to.equal(400);
      expect(twice.body.errors[0].parameter).to.equal('iso_timestamp_end');
    }));

  it('ignores unknown parameters, also those that the server supplies itself', () =>
    asking(async (served) => {
      const all = ['5', '4', '3', '2', '1'];
      for (const name of ['limit', 'newest_from', 'PROJECT', 'interval', '__proto__', 'toString'])
        expect(await ids(served, { project: 'p', [name]: '2026-01-01T04:30:00Z' })).to.deep.equal(
          all,
        );
    }));

  it('answers to its UUID in any letter case and to its name, alike', () =>
    asking(async (served) => {
      const { text } = await served.get(`${PATH}?project=p`);
      for (const name of [UUID, UUID.toUpperCase(), 'logs%2Eall', `${UUID}/`]) {
        const other = await served.get(`/api/endpoints/query/${name}?project=p`);
        expect(other.status, name).to.equal(200);
        expect(other.text).to.equal(text);
      }
    }));
});

describe('logs.all: which entries of those that are stored', () => {
  it('compares the project for equality, to the letter', () => {
    const projects = ['p', 'P', 'p ', 'pp', 'p%', '.', "p'", '"p"', 'ü', 'p\\', '1'];
    const text = projects
      .map(
        (project, i) =>
          `${JSON.stringify({ id: project, timestamp: 1767225600 + i, project, event_message: '' })}\n`,
      )
      .join('');
    return withLines(`${text}{"id":"without","timestamp":1767225600}\n`, async (served) => {
      for (const project of projects)
        expect(await ids(served, { project }), project).to.deep.equal([project]);
      expect(await ids(served, { project: 'other' })).to.deep.equal([]);
      expect(await ids(served, { project: '.*' })).to.deep.equal([]);
      expect(await ids(served, { project: 'without' })).to.deep.equal([]);
    });
  });

  it('gives entries of edge_logs only', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const entry = '{"id":"1","timestamp":1767225600,"project":"p","event_message":"m"}\n';
        const others = [
          'postgres_logs',
          'function_edge_logs',
          'function_logs',
          'auth_logs',
          'realtime_logs',
          'storage_logs',
          'postgrest_logs',
          'pgbouncer_logs',
          'app_logs',
        ] as const;
        for (const source of others) served.write(`${source}/a.ndjson`, entry);
        for (const source of others) await served.lines(1, source);
        expect(await ids(served, { project: 'p' })).to.deep.equal([]);
        served.write('edge_logs/a.ndjson', entry.replace('"1"', '"edge"'));
        await served.lines(1);
        expect(await ids(served, { project: 'p' })).to.deep.equal(['edge']);
      }),
    ));

  it('is never cached: the next answer has the new entry', () =>
    withLines(toLines(hours), async (served) => {
      const first = await served.get(`${PATH}?project=p`);
      expect(first.headers['cache-control']).to.match(/no-cache|no-store/);
      expect(first.headers).not.to.have.property('age');
      for (let n = 6; n < 8; n++) {
        served.write('edge_logs/a.ndjson', toLines([{ id: `${n}`, at: hour(n), project: 'p' }]));
        await served.lines(n);
        expect((await ids(served, { project: 'p' }))[0]).to.equal(`${n}`);
      }
    }));
});

describe('logs.all: the newest 100, wherever they are', () => {
  /** Compares all combinations of the bounds given. */
  async function compare(
    served: Served,
    entries: readonly Entry[],
    project: string,
    bounds: readonly (bigint | null)[],
  ) {
    for (const start of bounds) {
      for (const end of bounds) {
        const parameters = {
          project,
          iso_timestamp_start: start === null ? '' : iso(start),
          iso_timestamp_end: end === null ? '' : iso(end),
        };
        expect(await ids(served, parameters), JSON.stringify(parameters)).to.deep.equal(
          expected(entries, project, start, end),
        );
      }
    }
  }
  const at = (n: number, time: bigint, project = 'p'): Entry => ({
    id: `${project}${n}`,
    at: time,
    project,
  });
  const many = (count: number, make: (n: number) => Entry) =>
    Array.from({ length: count }, (_, n) => make(n));

  it('gives 100 of more, and all of fewer', () => {
    const entries = [
      ...many(100, (n) => at(n, NEW_YEAR + BigInt(n), 'hundred')),
      ...many(99, (n) => at(n, NEW_YEAR + BigInt(n), 'fewer')),
      ...many(101, (n) => at(n, NEW_YEAR + BigInt(n), 'more')),
      ...many(5000, (n) => at(n, NEW_YEAR + BigInt(n), 'many')),
    ];
    return withLines(toLines(entries), async (served) => {
      for (const project of ['hundred', 'fewer', 'more', 'many'])
        await compare(served, entries, project, [null, NEW_YEAR + 50n, NEW_YEAR + 98n]);
    });
  });

  it('finds entries years back, when there are no others', () => {
    const entries = many(150, (n) =>
      at(n, NEW_YEAR - 15n * 365n * DAY - BigInt(n) * 3600n * SECOND),
    );
    return withLines(toLines(entries), (served) =>
      compare(served, entries, 'p', [
        null,
        NEW_YEAR - 15n * 365n * DAY - 7n * DAY,
        NEW_YEAR - 15n * 365n * DAY,
      ]),
    );
  });

  it('finds the few rows of a project among the many of others', () => {
    const entries = [
      ...many(20_000, (n) => at(n, NEW_YEAR + BigInt(n) * SECOND, 'loud')),
      ...many(3, (n) => at(n, NEW_YEAR + BigInt(n) * 5000n * SECOND + 1n, 'quiet')),
      ...many(120, (n) => at(n, NEW_YEAR - 400n * DAY + BigInt(n) * 3n * DAY + 1n, 'old')),
    ];
    return withLines(toLines(entries), async (served) => {
      const bounds = [null, NEW_YEAR - 100n * DAY, NEW_YEAR + 5000n * SECOND];
      for (const project of ['loud', 'quiet', 'old', 'none'])
        await compare(served, entries, project, bounds);
    });
  });

  it('widens over entries that lie ever farther apart', () => {
    // The distances double, from 1 µs to about 35 years: the sum stays within 1970 to 2026.
    const entries: Entry[] = [];
    let time = NEW_YEAR;
    for (let n = 0; n < 50; n++) {
      entries.push(at(n, time));
      time -= 1n << BigInt(n);
    }
    for (let n = 50; n < 150; n++)
      entries.push(at(n, NEW_YEAR - 50n * 365n * DAY - BigInt(n) * 5n * DAY));
    return withLines(toLines(entries), (served) =>
      compare(served, entries, 'p', [
        null,
        NEW_YEAR,
        NEW_YEAR - 1000n * DAY,
        NEW_YEAR - 51n * 365n * DAY,
      ]),
    );
  });

  it('gives entries of the future as the newest, with and without others', () => {
    const entries = [
      ...many(60, (n) => at(n, NEW_YEAR + 60_000n * DAY + BigInt(n))),
      ...many(300, (n) => at(n + 1000, NEW_YEAR - BigInt(n) * DAY)),
      ...many(2, (n) => at(n, NEW_YEAR + 50_000n * DAY + BigInt(n), 'ahead')),
    ];
    return withLines(toLines(entries), async (served) => {
      for (const project of ['p', 'ahead'])
        await compare(served, entries, project, [
          null,
          NEW_YEAR - 200n * DAY,
          NEW_YEAR + 60_000n * DAY + 30n,
        ]);
    });
  });

  it('keeps the first and the last possible timestamp', () => {
    const entries = [
      { id: 'first', at: 0n, project: 'p' },
      { id: 'last', at: 7_289_654_399_999_999n, project: 'p' },
    ];
    const text =
      '{"id":"first","timestamp":"1970-01-01T00:00:00Z","project":"p"}\n' +
      '{"id":"last","timestamp":"2200-12-31T23:59:59.999999Z","project":"p"}\n';
    return withLines(text, async (served) => {
      expect(await ids(served, { project: 'p' })).to.deep.equal(expected(entries, 'p', null, null));
      expect(
        await ids(served, { project: 'p', iso_timestamp_end: '2026-01-01T00:00:00Z' }),
      ).to.deep.equal(['first']);
      expect(
        await ids(served, { project: 'p', iso_timestamp_start: '2026-01-01T00:00:00Z' }),
      ).to.deep.equal(['last']);
    });
  });

  it('finds rows of several files and batches that were not shipped in the order of time', () => {
    const entries = many(3000, (n) => at(n, NEW_YEAR + BigInt((n * 7919) % 3000) * 61n * SECOND));
    return withFolder((data) =>
      withApp(data, async (served) => {
        for (let part = 0; part < 6; part++) {
          served.write(
            `edge_logs/${part % 3}.ndjson`,
            toLines(entries.slice(part * 500, (part + 1) * 500)),
          );
          await served.lines((part + 1) * 500);
        }
        await compare(served, entries, 'p', [
          null,
          NEW_YEAR + 90_000n * SECOND,
          NEW_YEAR + 91_000n * SECOND,
        ]);
      }),
    );
  });

  /** Entries of four projects, clustered and scattered over 50 years, no two at the same time. */
  const randomEntries = fc.sample(
    fc.tuple(
      fc.oneof(
        { weight: 6, arbitrary: fc.constant(0) },
        { weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 18_000 }) },
      ),
      fc.integer({ min: 0, max: 86_399_999 }),
      fc.constantFrom('a', 'a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'),
    ),
    { numRuns: 4000, seed: 20261121 },
  );
  const entries = randomEntries.map(([days, ms, project], n) => ({
    id: String(n),
    project: n % 1500 === 7 ? 'rare' : project,
    at: NEW_YEAR - BigInt(days) * DAY + BigInt(ms) * 1000n + BigInt(n % 1000),
  }));
  const unique = [...new Map(entries.map((entry) => [entry.at, entry])).values()];

  it('agrees with a filter and a sort, for random entries and bounds', () =>
    withLines(toLines(unique), async (served) => {
      const bound = fc.oneof(
        fc.constant(null),
        fc.constantFrom(...unique.map((entry) => entry.at)),
        fc.bigInt(NEW_YEAR - 19_000n * DAY, NEW_YEAR + 2n * DAY),
        fc.bigInt(NEW_YEAR - 40n * DAY, NEW_YEAR + 2n * DAY),
      );
      const project = fc.constantFrom('a', 'b', 'c', 'rare', 'none');
      await fc.assert(
        fc.asyncProperty(project, bound, bound, async (name, start, end) => {
          const text = (moment: bigint | null) => (moment === null ? '' : iso(moment));
          const result = await ids(served, {
            project: name,
            iso_timestamp_start: text(start),
            iso_timestamp_end: text(end),
          });
          expect(result).to.deep.equal(expected(unique, name, start, end));
        }),
        { numRuns: LONG ? 300 : 100, seed: 7 },
      );
    }));
});

describe('logs.all: what an entry looks like', () => {
  /** The text of `metadata` in the answer, for the text of `metadata` in the line. */
  async function metadataOf(served: Served, project: string): Promise<string> {
    const { status, text } = await served.get(search({ project }));
    expect(status, text.slice(0, 300)).to.equal(200);
    const [, metadata] =
      /^\{"result":\[\{"id":"1","timestamp":1767225600000000,"event_message":"m","metadata":(.*)\}\]\}$/s.exec(
        text,
      ) ?? [];
    expect(metadata, text.slice(0, 300)).to.be.a('string');
    return metadata ?? '';
  }
  const line = (metadata: string, project: string) =>
    `{"id":"1","timestamp":1767225600,"project":"${project}","event_message":"m","metadata":${metadata}}\n`;

  it('has id, timestamp, event_message and metadata, in this order', () =>
    withLines(line('{"a":1}', 'p'), async ({ get }) => {
      const { text, headers } = await get(`${PATH}?project=p`);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(text).to.equal(
        '{"result":[{"id":"1","timestamp":1767225600000000,"event_message":"m","metadata":[{"a":1}]}]}',
      );
    }));

  it('gives timestamps as microseconds, to the last digit', () => {
    const stamps = [
      '1767225600123456',
      '"2026-01-01T00:00:00.000001Z"',
      '"2199-12-31T23:59:59.999999Z"',
    ];
    const text = stamps.map((stamp, i) => `{"id":"${i}","timestamp":${stamp},"project":"p"}\n`);
    return withLines(text.join(''), async ({ get }) => {
      const { body } = await get(`${PATH}?project=p`);
      expect(body.result.map(({ timestamp }: { timestamp: number }) => timestamp)).to.deep.equal([
        7258118399999999, 1767225600123456, 1767225600000001,
      ]);
    });
  });

  it('gives metadata as records, whichever shape was shipped', () => {
    const shapes: [string, string][] = [
      ['{"a":{"b":1}}', '[{"a":[{"b":1}]}]'],
      ['[{"a":{"b":1}}]', '[{"a":[{"b":1}]}]'],
      ['[{"a":[{"b":1}]}]', '[{"a":[{"b":1}]}]'],
      [
        '{"request":{"path":"/rest/v1/x","headers":{"h":"v"}}}',
        '[{"request":[{"path":"/rest/v1/x","headers":[{"h":"v"}]}]}]',
      ],
      ['{"a":[1,"x",true,null,1.5]}', '[{"a":[1,"x",true,null,1.5]}]'],
      ['{"a":null,"b":[],"c":""}', '[{"a":null,"b":[],"c":""}]'],
      ['[{"a":1},{"b":{"c":2}}]', '[{"a":1},{"b":[{"c":2}]}]'],
      ['{"a":[{"b":{"c":1}},{"b":2}]}', '[{"a":[{"b":[{"c":1}]},{"b":2}]}]'],
      ['{"n":9007199254740993}', '[{"n":9007199254740993}]'],
      ['{"n":-9223372036854775808}', '[{"n":-9223372036854775808}]'],
      ['{"n":18446744073709551615}', '[{"n":18446744073709551615}]'],
      ['{"n":123456789012345678901234567890}', '[{"n":123456789012345678901234567890}]'],
      ['{"a":1,"a":2}', '[{"a":1,"_a":2}]'],
      ['{"a":{"b":1,"b":2},"a":3}', '[{"a":[{"b":1,"_b":2}],"_a":3}]'],
      // Repaired: JSON has no such numbers.
      ['{"a":NaN}', '[{"a":null}]'],
      ['{"a":[Infinity,-Infinity]}', '[{"a":[null,null]}]'],
      ['{"__proto__":{"x":1},"constructor":2}', '[{"__proto__":[{"x":1}],"constructor":2}]'],
      ['{"2":"b","1":"a"}', '[{"2":"b","1":"a"}]'],
      ['{"":1}', '[{"":1}]'],
    ];
    const text = shapes.map(([metadata], i) => line(metadata, `p${i}`)).join('');
    return withLines(text, async (served) => {
      for (const [i, [shipped, records]] of shapes.entries())
        expect(await metadataOf(served, `p${i}`), shipped).to.equal(records);
    });
  });

  it('returns every character unchanged', () => {
    const texts = ['"', '\\', '\n\t\u0001', '\u2028', 'ü€😀', '</script>', '$1 @x', '\ufffd'];
    const lines = texts.map((text, i) =>
      JSON.stringify({
        id: text,
        timestamp: 1767225600 - i,
        project: 'p',
        event_message: text,
        metadata: { [text]: text },
      }),
    );
    return withLines(`${lines.join('\n')}\n`, async ({ get }) => {
      const { body } = await get(`${PATH}?project=p`);
      expect(body.result).to.deep.equal(
        texts.map((text, i) => ({
          id: text,
          timestamp: (1767225600 - i) * 1_000_000,
          event_message: text,
          metadata: [{ [text]: text }],
        })),
      );
    });
  });

  it('gives null for an entry without metadata', () =>
    withLines(
      '{"id":"1","timestamp":1767225600,"project":"p","event_message":"m"}\n',
      async (served) => {
        expect(await metadataOf(served, 'p')).to.be.oneOf(['null', '[]', '[{}]']);
      },
    ));

  for (const [what, open, close] of [
    ['objects', '{"a":', '}'],
    ['arrays', '[', ']'],
  ] as const) {
    it(`survives ${what} that are as deep as a line may be, beside entries that are not`, () => {
      // The line and its metadata are two levels.
      const depth = MAX_DEPTH - 2;
      const deep = `{"d":${open.repeat(depth)}1${close.repeat(depth)}}`;
      return withLines(line(deep, 'deep') + line('{"a":1}', 'flat'), async (served) => {
        const given = await metadataOf(served, 'deep');
        const records =
          what === 'arrays'
            ? `[${deep}]`
            : `[{"d":${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}}]`;
        // One JSON string with the whole metadata is allowed as well.
        if (given.startsWith('"')) expect(JSON.parse(given)).to.equal(deep);
        else expect(given === records, given.slice(0, 100)).to.equal(true);
        expect(await metadataOf(served, 'flat')).to.equal('[{"a":1}]');
        const redacted = await served
          .get(search({ project: 'deep' }))
          .set('SVC-ENDPOINT-REDACT-PII', 'true');
        expect(redacted.status).to.equal(200);
      });
    });
  }

  it('redacts the values at any depth when the request asks for it, and only then', () => {
    const entry = {
      id: '1',
      timestamp: 1767225600,
      project: 'p',
      event_message: 'from 192.0.2.17 by ann@example.org',
      metadata: [{ request: [{ headers: [{ cf: '192.0.2.17', list: ['ann@example.org'] }] }] }],
    };
    return withLines(`${JSON.stringify(entry)}\n`, async ({ get }) => {
      for (const name of ['SVC-ENDPOINT-REDACT-PII', 'LF-ENDPOINT-REDACT-PII']) {
        const { body, text } = await get(`${PATH}?project=p`).set(name, 'true');
        expect(text).not.to.contain('192.0.2.17').and.not.to.contain('ann@');
        expect(body.result[0].event_message).to.equal('from REDACTED by REDACTED');
        expect(body.result[0].metadata).to.deep.equal([
          { request: [{ headers: [{ cf: 'REDACTED', list: ['REDACTED'] }] }] },
        ]);
      }
      expect((await get(`${PATH}?project=p`)).body.result[0].metadata).to.deep.equal(
        entry.metadata,
      );
    });
  });
});
