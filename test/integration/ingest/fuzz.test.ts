import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { isDocument } from '../../../ingest/files/document.ts';
import {
  type Batch,
  type Ingest,
  originOf,
  type Sink,
  startIngest,
} from '../../../ingest/index.ts';
import type { Plain } from '../../../server/store/index.ts';
import { LONG } from '../../faults/case.ts';
import { eventually, type TestStore, withFolder, withStore } from '../../support/helpers.ts';
import { lineReaders } from '../../support/line-readers.ts';

/** Every line of a run in one file, stored as one batch. */
const TOGETHER = 'postgres_logs';
/** Every line in a file of its own, stored as a batch of its own. */
const ALONE = 'auth_logs';
const MAX_LINE = 1024 * 1024;
/** Each run draws others. */
const RUNS = LONG ? 60 : 4;
const LINES = 40;

const silent = pino({ level: 'silent' });

describe('a batch of any lines', () => {
  it(`is stored as its lines are one by one: up to ${RUNS * LINES} lines`, () => fuzz(RUNS));

  function fuzz(runs: number) {
    return withFolder((data) =>
      withStore(data, async (store) => {
        const logs = join(data, 'logs');
        const ingest = await startIngest(
          { logs, staging: store.staging, maxLine: MAX_LINE, readerOf: lineReaders, log: silent },
          oneByOne(store),
        );
        try {
          let run = 0;
          await fc.assert(
            fc.asyncProperty(
              fc.array(mutated().filter(isNoDocument), {
                minLength: 1,
                maxLength: LINES,
                size: 'max',
              }),
              (lines) => compare(store, ingest, logs, lines, run++),
            ),
            { numRuns: runs, endOnFailure: true },
          );
        } finally {
          await ingest.close();
        }
      }),
    );
  }
}).timeout(300_000);

/** Wraps the store's sink so that it stores a batch of `ALONE` line by line. */
function oneByOne({ sink, staging }: TestStore): Sink {
  const apart = async (batch: Batch) => {
    if (batch.source !== ALONE) return sink.append([batch]);
    const path = join(staging, 'alone.ndjson');
    const bytes = await readFile(batch.staging);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(10, start) + 1;
      const line = bytes.subarray(start, end);
      if (!/^[\t\v\f\r\n ]*$/.test(line.toString('latin1'))) {
        await writeFile(path, line);
        const slices = [{ ...originOf(batch, start), staged: 0 }];
        const nothing = { rejected: [], files: [], bytes: 0, repaired: 0 };
        await sink.append([{ ...batch, ...nothing, staging: path, lines: 1, slices }]);
      }
      start = end;
    }
    await writeFile(path, '');
    await sink.append([{ ...batch, staging: path, lines: 0, slices: [] }]);
  };
  return {
    ...sink,
    async append(batches) {
      for (const batch of batches) await apart(batch);
    },
  };
}

async function compare(
  store: TestStore,
  ingest: Ingest,
  logs: string,
  lines: readonly Buffer[],
  run: number,
): Promise<void> {
  const before = await bytes(store);
  // A blank line first, because the beginning of a file differs: it may have a byte-order mark.
  const whole = Buffer.concat([Buffer.from('\n'), ...lines.flatMap((line) => [line, NEWLINE])]);
  const files = [join(logs, TOGETHER, `run${run}.log`)];
  await writeFile(files[0] ?? '', whole);
  const offsets = new Map<string, number>();
  let at = 1;
  let alone = 0;
  for (const [i, line] of lines.entries()) {
    const name = `${ALONE}/run${run}x${i}.log`;
    // Each file has another first line: the inode of a removed file may come again, with the same short content.
    const first = blank(run * LINES + i);
    offsets.set(name, at - first.length);
    at += line.length + 1;
    alone += first.length + line.length + 1;
    files.push(join(logs, name));
    await writeFile(join(logs, name), Buffer.concat([first, line, NEWLINE]));
  }
  await eventually(async () => {
    const now = await bytes(store);
    const done = [now.together - before.together, now.alone - before.alone];
    const { lastError: trouble } = ingest.status();
    expect(done, trouble ?? 'bytes').to.deep.equal([whole.length, alone]);
  }, 60_000);
  expect(await rows(store, TOGETHER)).to.deep.equal(await rows(store, ALONE));
  const expected = (await rejected(store, ALONE)).map(([file, offset, ...rest]) => [
    (offsets.get(String(file)) ?? Number.NaN) + Number(offset),
    ...rest,
  ]);
  const together = (await rejected(store, TOGETHER)).map(([, offset, ...rest]) => [
    Number(offset),
    ...rest,
  ]);
  expect(together).to.deep.equal(expected.sort((a, b) => Number(a[0]) - Number(b[0])));
  seen = await ends(store);
  for (const file of files) await rm(file);
}

/** A file of such a line alone would be refused as a document. */
function isNoDocument(line: Buffer): boolean {
  return isDocument(line) === false;
}

const NEWLINE = Buffer.from('\n');

/** A blank line that no other number has. */
function blank(n: number): Buffer {
  return Buffer.from(`${n.toString(2).replaceAll('0', ' ').replaceAll('1', '\t')}\n`);
}

/** Row ids up to which earlier runs have been compared. */
let seen = { together: -1, alone: -1, rejected: -1 };

async function ends(store: TestStore) {
  const last = async (table: string) =>
    Number((await query(store, `select coalesce(max(rowid), -1) from ${table}`))[0]?.[0]);
  return {
    together: await last(TOGETHER),
    alone: await last(ALONE),
    rejected: await last('rejected'),
  };
}

async function bytes(store: TestStore) {
  const ledger = await store.ledger();
  const of = (source: string) => {
    const entry = ledger.find((candidate) => candidate.source === source);
    expect(entry?.lines).to.equal(Number(entry?.rows) + Number(entry?.rejected));
    expect(entry?.stored).to.equal(entry?.rows);
    return Number(entry?.bytes);
  };
  return { together: of(TOGETHER), alone: of(ALONE) };
}

/** The new rows of a source, without ids that were made and times of ingestion, in an order of their own. */
async function rows(store: TestStore, source: typeof TOGETHER | typeof ALONE): Promise<string[]> {
  const after = source === TOGETHER ? seen.together : seen.alone;
  const made = '[\\da-f]{8}-[\\da-f]{4}-4[\\da-f]{3}-[\\da-f]{4}-[\\da-f]{12}';
  const found = await query(
    store,
    `select
      case when regexp_full_match(id, '${made}') then null else id end,
      case when timestamp = ingested_at then null else timestamp end,
      project, event_message, metadata::varchar
    from ${source} where rowid > ${after}`,
  );
  return found.map((row) => JSON.stringify(row)).sort();
}

function rejected(store: TestStore, source: string) {
  return query(
    store,
    `select file, "offset", length, reason, hex(line) from rejected
      where source = '${source}' and rowid > ${seen.rejected} order by "offset"`,
  );
}

async function query(store: TestStore, sql: string): Promise<readonly (readonly Plain[])[]> {
  return (await store.query(sql, {}, { maxRows: 100_000 })).rows;
}

type Kind = 'insert' | 'replace' | 'cut' | 'drop' | 'field';

/** Lines as they are shipped, and what a cut, a flipped byte or a careless writer makes of them. */
function mutated(): fc.Arbitrary<Buffer> {
  const piece = fc.constantFrom(
    ...['"', '""', '{', '}', '[', ']', '{}', '[]', ',', ':', '\\', '\\u', '\\ud800', '\\u0000'],
    ...['\0', '\t', '\r', '\v', ' ', '\x01', '\x7f', '\ufeff', '\u2028', '\u{1f600}', 'e\u0301'],
    ...['null', 'true', 'NaN', '-Infinity', '1e400', '-0', '9007199254740993', '1.0', '01', '"":'],
    ...['/*', '//', "'", '"a":1,', '"metadata":{},', '"metadata":[],', '"metadata":null,'],
    ...['"timestamp":"x",', '"timestamp":null,', '"time":1763632800,', '"msg":7,', '"id":{},'],
    ...['"ID":1,', '"Metadata":{},', '"MESSAGE":"j",', '"project":["p"],', '}{', '} {', '},{'],
  );
  const bytes = fc.oneof(
    { weight: 4, arbitrary: piece.map((text) => Buffer.from(text)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }).map((some) => Buffer.from(some)),
    },
  );
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const mutation = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant<Kind>('insert'), at: place, bytes }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant<Kind>('replace'), at: place, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant<Kind>('cut'), at: place, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant<Kind>('drop'), at: place, bytes }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant<Kind>('field'), at: place, bytes }) },
  );
  return fc
    .tuple(realistic(), fc.oneof(fc.constant([]), fc.array(mutation, { maxLength: 3 })))
    .map(([text, mutations]) => {
      let line = Buffer.from(text);
      for (const { kind, at, bytes: some } of mutations) {
        let from = Math.floor(at * line.length);
        // Where a field may begin, so that keys come twice.
        if (kind === 'field') from = Math.max(line.indexOf('{', from), line.indexOf(',', from)) + 1;
        const length = { insert: 0, field: 0, replace: some.length, cut: line.length, drop: 1 }[
          kind
        ];
        const put = kind === 'cut' || kind === 'drop' ? Buffer.alloc(0) : some;
        line = Buffer.concat([line.subarray(0, from), put, line.subarray(from + length)]);
      }
      return Buffer.from(line.map((byte) => (byte === 10 ? 32 : byte)));
    });
}

function realistic(): fc.Arbitrary<string> {
  const string = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const depth = fc.oneof(
    { weight: 20, arbitrary: fc.nat(4) },
    { weight: 1, arbitrary: fc.constantFrom(100, 1000, 3000) },
  );
  const nested = fc
    .tuple(depth, fc.boolean())
    .map(([n, array]) =>
      array ? '['.repeat(n) + ']'.repeat(n) || '0' : `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`,
    );
  const value = fc.oneof(
    string.map((text) => JSON.stringify(text)),
    fc.jsonValue({ maxDepth: 2 }).map((any) => JSON.stringify(any)),
    nested,
    fc.constantFrom('null', 'true', '0', '-1.5e3', '12345678901234567890', '1e400', 'NaN', '{}'),
  );
  const time = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ...[
          '"2026-11-20T10:00:00Z"',
          '"2026-11-20 10:00:60,5+0200"',
          '1763632800123',
          '"1763632800"',
        ],
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('"infinity"', '""', '1', '"2026-02-30T10:00:00Z"', '[]'),
    },
    { weight: 1, arbitrary: value },
  );
  const field = fc.oneof(
    fc.tuple(fc.constantFrom('timestamp', '@timestamp', 'time', 'ts', 'date'), time),
    fc.tuple(fc.constantFrom('event_message', 'message', 'msg', 'log', 'MESSAGE'), value),
    fc.tuple(fc.constantFrom('id', 'project', 'level', 'Message', 'pid', ''), value),
    fc.tuple(string, value),
  );
  const metadata = fc.oneof(
    nested,
    value,
    fc
      .array(fc.tuple(fc.constantFrom('project', 'project_ref', 'request', 'a', 'b'), value), {
        maxLength: 3,
      })
      .map((fields) => object(fields)),
  );
  const full = fc
    .tuple(time, value, metadata, fc.array(field, { maxLength: 3 }))
    .map(([timestamp, message, data, more]) =>
      object([['timestamp', timestamp], ['event_message', message], ...more, ['metadata', data]]),
    );
  const usual = fc.tuple(fc.nat(), string, metadata).map(([id, message, data]) =>
    object([
      ['id', `"${id}"`],
      ['timestamp', '"2026-11-20T10:00:00Z"'],
      ['event_message', JSON.stringify(message)],
      ['metadata', data.startsWith('{') ? data : '{"a":1}'],
    ]),
  );
  const flat = fc.array(field, { maxLength: 6 }).map((fields) => object(fields));
  const other = fc.constantFrom('', ' ', 'null', '7', '[1]', '"x"', '{}', '{ }', '{}{}', '[', '{');
  return fc.oneof(
    { weight: 4, arbitrary: usual },
    { weight: 4, arbitrary: full },
    { weight: 3, arbitrary: flat },
    { weight: 1, arbitrary: other },
  );
}

function object(fields: readonly (readonly [string, string])[]): string {
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}
