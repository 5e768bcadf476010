import { expect } from 'chai';
import { createFieldTable, createReader, LINE_FORMATS, UTC } from '../../../server/lines/index.ts';

const reader = createReader({
  table: createFieldTable(),
  offsetOf: UTC,
  formats: LINE_FORMATS.auto,
  isSupabase: false,
  now: () => Date.UTC(2026, 11, 1),
});

/** An entry, its moment in UTC, its severity, and its message. `=`: the message is all of the entry. */
type Row = readonly [entry: string, time: string | null, severity: string | null, message: string];

function check(rows: readonly Row[]): void {
  for (const [entry, time, severity, message] of rows) {
    const read = reader.read(entry);
    const row = read.kind === 'row' ? JSON.parse(read.text) : {};
    const micros = row['~at'];
    const found = micros === undefined ? null : new Date(micros / 1000).toISOString().slice(0, 19);
    expect([found, row['~severity'] ?? null, row.event_message], entry).to.deep.equal([
      time,
      severity,
      message === '=' ? entry : message,
    ]);
  }
}

const T = '2026-11-20T10:00:00';
const D = '2026-11-20 10:00:00';

describe('the text before a colon', () => {
  it('is a logger once, directly behind the moment and the severity', () => {
    check([
      [`${D} ERROR db: connection: refused`, T, 'error', 'connection: refused'],
      [`${D} [INFO]  vault: core: unsealed: node=a`, T, 'info', 'core: unsealed'],
      [`${D} WARN rs: slow: 1200 ms`, T, 'warn', 'slow: 1200 ms'],
      [`${D} WARN app: retrying: attempt=3`, T, 'warn', 'retrying'],
      [`${D} ERROR [main] com.example.Db: connection: refused`, T, 'error', 'connection: refused'],
      [`${D} INFO shop::cart: order: paid`, T, 'info', 'order: paid'],
      [`${D} INFO checkout{id=1}: shop: order: paid`, T, 'info', 'order: paid'],
      // tracing's compact form.
      ['2026-11-20T10:00:00.123456Z  INFO checkout: shop: order: paid', T, 'info', 'order: paid'],
    ]);
  });

  it('is a part of the message behind anything else', () => {
    check([
      ['ERROR db: connection: refused', null, 'error', 'db: connection: refused'],
      [`${D}.437656+00:00 [info] <0.223.0> ra: starting`, T, 'info', 'ra: starting'],
      [`${D} 0 [Note] mariadbd: ready`, T, 'info', 'mariadbd: ready'],
      [`${D} ERROR [main] db: refused`, T, 'error', 'db: refused'],
    ]);
  });

  it('is a part of the message if that would be empty, a number or a pair without it', () => {
    check([
      [`${D} ERROR exit: 1`, T, 'error', 'exit: 1'],
      [`${D} WARN took: 1200 ms`, T, 'warn', 'took: 1200 ms'],
      [`${D} INFO app: attempt=3`, T, 'info', 'app'],
      [`${D} INFO shop: {"a":1}`, T, 'info', 'shop:'],
      [`${D} INFO body: {\n "b": 1\n}`, T, 'info', 'body: {\n "b": 1\n}'],
    ]);
  });

  it('is a part of the message if it is an address, a host or a file', () => {
    for (const message of [
      'https://example.org/a: fetched',
      'user@example.com: login failed',
      'db.example.com: timed out',
      'config/app.yml: no such file',
    ])
      check([[`${D} ERROR ${message}`, T, 'error', message]]);
  });
});

describe("a line of Serilog's console", () => {
  it('says its severity in the brackets of its clock or moment', () => {
    check([
      ['[10:00:03 INF] console default', null, 'info', 'console default'],
      ['[10:00:03 VRB] console default', null, 'trace', 'console default'],
      [`[${D} WRN] careful`, T, 'warn', 'careful'],
      [`[${D}.123 +00:00 ERR] it broke`, T, 'error', 'it broke'],
      ['[10:00:03 xyz] text', null, null, '='],
    ]);
  });
});
