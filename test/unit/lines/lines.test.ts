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
      [`[${D}] production.ERROR: db: gone`, T, 'error', 'db: gone'],
      [`${D} INFO 1 --- [main] c.e.Shop : com.example: paid`, T, 'info', 'com.example: paid'],
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

describe('a moment behind the first words', () => {
  it('dates a line, whose message stays whole', () => {
    check([
      [`update-alternatives ${D}: run`, T, null, '='],
      ['http 2026-11-20T10:00:00.186641Z app/lb/50dc 10.0.0.1:28', T, null, '='],
      [`Started GET "/x" for 127.0.0.1 at ${D} +0000`, T, null, '='],
      [
        'http 2026-11-20T10:00:00.123456Z app/a/5 10.0.0.2:2 10.0.0.1:80 0.1 0.1 0.1 503 - 34 366 "GET http://x/ HTTP/1.1" "curl"',
        T,
        'error',
        'GET http://x/ HTTP/1.1',
      ],
      ['79a5 bucket [20/Nov/2026:10:00:00 +0000] 10.0.0.1 79a5 REST.GET', T, null, '='],
      ['Start-Date: 2026-11-20  10:00:00', T, null, '='],
      ['L 11/20/2026 - 10:00:00: World triggered', T, null, '='],
      ['type=SYSCALL msg=audit(1795168800.243:24287): arch=c000003e', T, null, '='],
      [`ERROR db (${D}) is down`, T, 'error', `db (${D}) is down`],
    ]);
  });

  it('is none of the line where it is of something else', () => {
    check([
      [`INFO retry at ${D}`, null, 'info', `retry at ${D}`],
      [`token expires ${D}`, null, null, '='],
      [`valid until: ${D}`, null, null, '='],
      [`GET /?from=${D}`, null, null, '='],
      [
        `${D} INFO job of 2026-11-25 11:00:00 is done`,
        T,
        'info',
        'job of 2026-11-25 11:00:00 is done',
      ],
      [`${'word '.repeat(21)}${D}`, null, null, '='],
      ['made on 2026-11-20, at noon', null, null, '='],
    ]);
  });

  it('stands behind the name that docker compose writes', () => {
    check([
      ['web-1  | 2026-11-20T10:00:00Z INFO started', T, 'info', 'started'],
      ['web-1  | listening', null, null, '='],
    ]);
  });
});

describe('a moment of a further form', () => {
  it('dates its line', () => {
    check([
      [`${D},ERROR,"failed"`, T, 'error', '"failed"'],
      ['2026-11-20,10:00:00,ERROR,failed', T, 'error', 'failed'],
      ['2026-11-20\t10:00:00\tERROR\tfailed', T, 'error', 'failed'],
      ['2026-11-20 - 10:00:00 INFO hi', T, 'info', 'hi'],
      ['1795168800: New connection', T, null, 'New connection'],
      ['20033:signal-handler (1795168800) Received SIGTERM', T, null, 'Received SIGTERM'],
      ['*Nov 20 10:00:00.123: %LINK-3-UPDOWN: up', T, null, '%LINK-3-UPDOWN: up'],
      ['261120 10:00:00 [Note] ready', T, 'info', 'ready'],
      ['261120  1:00:00 [Note] ready', '2026-11-20T01:00:00', 'info', 'ready'],
      ['261120 100000 148 INFO dfs.DataNode$P: ended', T, 'info', 'ended'],
      ['I261120 10:00:00.123456 1 cli/start.go:10 started', T, 'info', 'started'],
      ['[11/20/26 10:00:00:123 UTC] 0001 started', T, null, '0001 started'],
      ['26/11/20 10:00:00 INFO SecurityManager: Changing', T, 'info', 'Changing'],
      ['Nov 20, 2026 10:00:00,123 AM UTC started', T, null, 'started'],
      ['11-20 10:00:00.123  1234  5678 E Activity: crashed', T, 'error', 'crashed'],
      ['11-20 10:00:00.123  1234  5678 V Activity: asked', T, 'trace', 'asked'],
      ['I1120 10:00:00.859538 140060410473344 p.py:33] hi', T, 'info', 'hi'],
      ['[20-Nov-2026 11:00:00 Europe/Berlin] started', T, null, 'started'],
      ['2026-11-20T11:00:00 Europe/Berlin started', T, null, 'started'],
      ['[20Nov2026 10:00:00.123] [main/INFO] hi', T, 'info', 'hi'],
      ['[2026.11.20-10.00.00:123][  0]LogInit: x', T, null, '[  0]LogInit: x'],
      ['11/20-10:00:00.123456  [**] ICMP [**]', T, null, '[**] ICMP [**]'],
      ['11/20/2026 10:00:00 AM started', T, null, 'started'],
      [
        '[GIN] 2026/11/20 - 10:00:00 | 500 | 1ms | ::1 | GET  "/"',
        T,
        'error',
        '| 500 | 1ms | ::1 | GET  "/"',
      ],
    ]);
  });

  it('stays unread if it may be of another day, or no moment', () => {
    check([
      ['[11/10/26 10:00:00:123 UTC] started', null, null, '='],
      ['11/10/2026 1:00:01 PM started', null, null, '='],
      ['26/11/20 10:00:00 started', null, null, '='],
      ['261120 100000 bytes', null, null, '='],
      ['123456 10:00:04 x', null, null, '='],
      ['1795168800 bytes written', null, null, '='],
      [`${D} UTC Started/Done it`, T, null, 'Started/Done it'],
    ]);
  });
});

describe('pairs behind the head of syslog', () => {
  it('are read, with the moment and the severity of the program', () => {
    check([
      ['Nov 20 10:00:00 vm app[1]: level=error msg="it broke" code=5', T, 'error', 'it broke'],
      ['<134>Nov 20 10:00:00 vm app[1]: level=error msg="it broke"', T, 'error', 'it broke'],
      [
        '<189>date=2026-11-20 time=10:00:00 level="warning" action="deny"',
        T,
        'warn',
        'date=2026-11-20 time=10:00:00 level="warning" action="deny"',
      ],
      ['Nov 20 10:00:00 vm kernel: IN=eth0 OUT= MAC=00', T, null, 'IN=eth0 OUT= MAC=00'],
      [
        'Nov 20 10:00:00 vm app: level=error is what it said',
        T,
        null,
        'level=error is what it said',
      ],
    ]);
  });
});

describe('an object of a cloud', () => {
  it('says its moment, its severity and its message', () => {
    check([
      [
        '{"kind":"Event","requestReceivedTimestamp":"2026-11-20T10:00:00Z","responseStatus":{"code":404}}',
        T,
        'warn',
        '',
      ],
      ['{"lastTimestamp":"2026-11-20T10:00:00Z","message":"Back-off"}', T, null, 'Back-off'],
      [
        '{"TimeGenerated":"2026-11-20T10:00:00Z","resultDescription":"denied","level":"Error"}',
        T,
        'error',
        'denied',
      ],
      ['{"requestTime":"20/Nov/2026:10:00:00 +0000","status":"502"}', T, 'error', ''],
      [
        '{"timeUnixNano":"1795168800000000000","severityText":"WARN","body":{"stringValue":"full"}}',
        T,
        'warn',
        'full',
      ],
      [
        '{"timestamp":"2026-11-20T10:00:00Z","protoPayload":{"status":{"message":"denied"}}}',
        T,
        null,
        'denied',
      ],
    ]);
  });
});

describe('a line without a word of severity at its beginning', () => {
  it('has that of its program', () => {
    check([
      ['PHP Fatal error:  Uncaught Exception: x', null, 'fatal', '='],
      [`[20-Nov-2026 10:00:00 UTC] PHP Warning:  x`, T, 'warn', 'PHP Warning:  x'],
      ['PHP Notice:  x', null, 'info', '='],
      ['##[error]Process completed', null, 'error', '='],
      ['##[warning]careful', null, 'warn', '='],
      ['error[E0308]: mismatched types', null, 'error', '='],
      ['npm ERR! code E404', null, 'error', '='],
      ['npm WARN deprecated x', null, 'warn', '='],
      ["[10:00:00] [Server thread/WARN]: can't keep up", null, 'warn', "can't keep up"],
      ['[10:00:00] [Server thread/INFO] [minecraft/Server]: hi', null, 'info', 'hi'],
      ['Nov 20 10:00:00 vm postfix/smtpd[1]: warning: no name', T, 'warn', 'warning: no name'],
      ['2026.11.20 10:00:00.123456 [ 1 ] {} <Error> App: it broke', T, 'error', 'App: it broke'],
      ['2026.11.20 10:00:00.123456 [ 1 ] {a-b} <Debug> App: x', T, 'debug', 'App: x'],
      [`[${D}.123+0000] {dag.py:12} ERROR - it broke`, T, 'error', 'it broke'],
      ['2026-11-20T10:00:00.123Z pid=1 tid=abc class=X INFO: start', T, 'info', 'start'],
      ['x.py:143: UserWarning: old way\n  warnings.warn()', null, 'warn', '='],
      [
        '1795168800.243      5 10.0.0.1 TCP_MISS/503 1234 GET http://x/ - DIRECT text/html',
        T,
        'error',
        '5 10.0.0.1 TCP_MISS/503 1234 GET http://x/ - DIRECT text/html',
      ],
    ]);
  });

  it('is an error if it is one that nothing caught', () => {
    check([
      ["thread 'main' (22138) panicked at m.rs:1:54:\nindex", null, 'error', '='],
      ['Exception in thread "main" MyEx: y\n\tat A', null, 'error', '='],
      ['Unhandled exception. System.X: y\n   at A', null, 'error', '='],
      ['Traceback (most recent call last):\n  File "x"\nValueError: bad', null, 'error', '='],
      ['TypeError: x is not a function\n    at /srv/n.js:1:9', null, 'error', '='],
      ['Uncaught TypeError: x\n    at /srv/n.js:1:9', null, 'error', '='],
      ['/srv/n.js:3\nthrow e;\n^\n\nError: outer\n    at f (/srv/n.js:1:9)', null, 'error', '='],
    ]);
  });

  it('has none if such words are a part of its text', () => {
    check([
      ['npm install is done', null, null, '='],
      ['PHP 8.3 started', null, null, '='],
      ['TypeError: x is not a function', null, null, '='],
      ['thread pool is full', null, null, '='],
      [`${D} {a} b`, T, null, '{a} b'],
      [`${D} a=1 b=2 done`, T, null, 'a=1 b=2 done'],
      [
        `${D} INFO Traceback (most recent call last): x`,
        T,
        'info',
        'Traceback (most recent call last): x',
      ],
      ['<13>Nov 20 10:00:00 vm app: warning: no', T, 'info', 'warning: no'],
    ]);
  });
});
