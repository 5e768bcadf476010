import { expect } from 'chai';
import { text } from '../../../../server/lines/formats/text.ts';
import { saidBy } from '../../../support/members.ts';

type Row = readonly [line: string, time: string | null, level: string | null, message: string];

function check(rows: readonly Row[]): void {
  for (const [line, time, level, message] of rows) {
    const { time: t = null, level: l = null, message: m } = saidBy(text, line) ?? {};
    expect([t, l, m], line).to.deep.equal([time, level, message]);
  }
}

describe('a line of text', () => {
  it('of Python says its moment and severity', () => {
    check([
      ['ERROR:shop.cart:card declined', null, 'ERROR', 'card declined'],
      [
        '2026-11-30 14:39:40,943 - shop.cart - ERROR - failed to charge',
        '2026-11-30 14:39:40,943',
        'ERROR',
        'failed to charge',
      ],
      [
        '2026-11-30 14:39:40,944 CRITICAL shop.cart: stop',
        '2026-11-30 14:39:40,944',
        'CRITICAL',
        'stop',
      ],
      [
        'INFO     2026-11-30 14:39:40,944 [MainThread] level first',
        '2026-11-30 14:39:40,944',
        'INFO',
        'level first',
      ],
      [
        '[2026-11-30 14:39:40 +0000] [123] [INFO] Booting worker with pid: 123',
        '2026-11-30 14:39:40 +0000',
        'INFO',
        'Booting worker with pid: 123',
      ],
      [
        '2026-11-30 14:39:41.217 | INFO     | __main__:<module>:17 - started 1',
        '2026-11-30 14:39:41.217',
        'INFO',
        'started 1',
      ],
      [
        'INFO:     127.0.0.1:60686 - "GET /a?b=1 HTTP/1.1" 200 OK',
        null,
        'INFO',
        '127.0.0.1:60686 - "GET /a?b=1 HTTP/1.1" 200 OK',
      ],
    ]);
    expect(saidBy(text, '[2026-11-30 14:39:40,944: INFO/MainProcess] celery style')).to.deep.equal({
      time: '2026-11-30 14:39:40,944',
      level: 'INFO',
      logger: 'MainProcess',
      message: 'celery style',
    });
  });

  it('of Java says its moment and severity', () => {
    check([
      [
        '2026-11-20 10:00:00,123 [main] INFO  com.example.Shop - took it',
        '2026-11-20 10:00:00,123',
        'INFO',
        'took it',
      ],
      [
        '2026-11-20T10:00:00.123+01:00  INFO 1 --- [shop] [main] c.e.Shop : Started',
        '2026-11-20T10:00:00.123+01:00',
        'INFO',
        'Started',
      ],
      ['10:00:00.123 [main] INFO com.example.Shop -- took it', null, 'INFO', 'took it'],
      [
        'Nov 20, 2026 10:00:00 AM org.apache.catalina.core start',
        'Nov 20, 2026 10:00:00 AM',
        null,
        'org.apache.catalina.core start',
      ],
    ]);
  });

  it('of Go says its moment and severity', () => {
    check([
      ['2026/11/30 14:40:09 listening on :8080', '2026/11/30 14:40:09', null, 'listening on :8080'],
      [
        '2026/11/30 14:40:09.599647 main.go:8: with file',
        '2026/11/30 14:40:09.599647',
        null,
        'main.go:8: with file',
      ],
      [
        '2026-11-20T10:00:00.123Z\tinfo\ttook it\t{"a":1}',
        '2026-11-20T10:00:00.123Z',
        'info',
        'took it',
      ],
    ]);
    expect(
      saidBy(text, 'E1120 10:00:00.123456   12345 reflector.go:138] Failed to watch'),
    ).to.deep.equal({
      time: '1120 10:00:00.123456',
      level: 'E',
      pid: 12345,
      caller: 'reflector.go:138',
      message: 'Failed to watch',
    });
  });

  it('of Ruby, Rust, PHP, MySQL, Redis and MongoDB says its moment and severity', () => {
    check([
      [
        '2026-11-20T10:00:00.123456Z  INFO shop::cart: took it id=4',
        '2026-11-20T10:00:00.123456Z',
        'INFO',
        'took it',
      ],
      [
        '[2026-11-20 10:00:00] local.ERROR: it broke {"a":1}',
        '2026-11-20 10:00:00',
        'ERROR',
        'it broke',
      ],
      [
        '2026-11-20T10:00:00.123456Z 0 [Warning] [MY-010068] [Server] self signed',
        '2026-11-20T10:00:00.123456Z',
        'Warning',
        'self signed',
      ],
      [
        '1:M 20 Nov 2026 10:00:00.123 * Ready to accept connections',
        '20 Nov 2026 10:00:00.123',
        'notice',
        'Ready to accept connections',
      ],
      [
        '2026-11-20T10:00:00.123+0000 I NETWORK  [listener] connection accepted',
        '2026-11-20T10:00:00.123+0000',
        'I',
        'NETWORK  [listener] connection accepted',
      ],
    ]);
    expect(
      saidBy(text, 'I, [2026-11-20T10:00:00.123456 #1]  INFO -- : Started GET "/"'),
    ).to.deep.equal({
      time: '2026-11-20T10:00:00.123456',
      level: 'INFO',
      pid: 1,
      message: 'Started GET "/"',
    });
    expect(saidBy(text, '[2026-11-20T10:00:00Z INFO  shop::cart] took it')).to.deep.equal({
      time: '2026-11-20T10:00:00Z',
      level: 'INFO',
      logger: 'shop::cart',
      message: 'took it',
    });
  });

  it('says a word of severity in each form', () => {
    check([
      ['[warn] careful', null, 'warn', 'careful'],
      ['<error> careful', null, 'error', 'careful'],
      ['[E] careful', null, 'E', 'careful'],
      ['ERROR: careful', null, 'ERROR', 'careful'],
      ['info: careful', null, 'info', 'careful'],
      ['DEBUG-4 careful', null, 'DEBUG-4', 'careful'],
      ['level=warn careful', null, 'warn', 'level=warn careful'],
      ['2026-11-20 10:00:00|ERROR|careful', '2026-11-20 10:00:00', 'ERROR', 'careful'],
    ]);
  });

  it('takes a zone into the moment, and no word of the message', () => {
    check([
      ['2026-11-20 10:00:00 UTC done', '2026-11-20 10:00:00 UTC', null, 'done'],
      ['2026-11-20 10:00:00Z INFO done', '2026-11-20 10:00:00Z', 'INFO', 'done'],
      ['2026-11-20 10:00:00 est tombé', '2026-11-20 10:00:00', null, 'est tombé'],
      [
        '2026-11-20 10:00:00 +0000 UTC m=+0.01 done',
        '2026-11-20 10:00:00 +0000 UTC m=+0.01',
        null,
        'done',
      ],
      [
        '2026-11-20T10:00:00+01:00[Europe/Paris] WARN done',
        '2026-11-20T10:00:00+01:00[Europe/Paris]',
        'WARN',
        'done',
      ],
      ['Fri Nov 20 10:00:00 UTC 2026 done', 'Fri Nov 20 10:00:00 UTC 2026', null, 'done'],
      ['Nov 20 10:00:00 done', 'Nov 20 10:00:00', null, 'done'],
      ['1795168800.123    200 10.0.0.1', '1795168800.123', null, '200 10.0.0.1'],
    ]);
  });

  it('names a logger, a thread and the like as members, and what stands behind the message', () => {
    const rows: readonly (readonly [line: string, members: object])[] = [
      [
        '2026-11-20 10:00:00,123 INFO  [main] com.example.Shop - took it',
        { tag: 'main', logger: 'com.example.Shop', message: 'took it' },
      ],
      [
        '2026-11-20T10:00:00.123Z\tinfo\tshop\tshop/cart.go:87\ttook it\t{"order":"A-1"}',
        { logger: 'shop', caller: 'shop/cart.go:87', message: 'took it', order: 'A-1' },
      ],
      [
        '2026-11-20T10:00:00Z  INFO checkout{order="A-1"}: shop: took it amount=4.5 user="jo"',
        {
          span: 'checkout{order="A-1"}',
          logger: 'shop',
          message: 'took it',
          amount: 4.5,
          user: 'jo',
        },
      ],
      ['[2026-11-20 10:00:00] shop.WARNING: full {"used":91} []', { channel: 'shop', used: 91 }],
      [
        'INFO:     127.0.0.1:5 - "GET /a?b=1 HTTP/1.1" 404 Not Found',
        { method: 'GET', path: '/a?b=1', status: 404 },
      ],
      ['GET /a 200 - - 0.5 ms', { message: 'GET /a 200 - - 0.5 ms', status: 200 }],
      [
        'info: Shop.Orders[7]\n      took it',
        { logger: 'Shop.Orders', event_id: 7, message: 'took it' },
      ],
    ];
    for (const [line, members] of rows) expect(saidBy(text, line), line).to.include(members);
  });

  it('keeps what may be a part of its sentence', () => {
    for (const message of [
      'request failed with code=5',
      'SELECT * FROM t WHERE a=1',
      'Connection: closed',
      'timeout: no answer',
      'failed - retrying',
      '[1, 2, 3]',
      'user=7 logged in',
      'msg {"a":1',
    ])
      check([[`2026-11-20 10:00:00 INFO ${message}`, '2026-11-20 10:00:00', 'INFO', message]]);
  });

  it('stays whole in doubt', () => {
    for (const line of [
      '10:00:00 only a clock',
      '1795168800 bytes written',
      '2026-11-20 error while reading',
      'info about it',
      'the ERROR page was seen',
      'INFO, WARN and ERROR are levels',
      'TypeError: x is not a function',
      '{"a":1',
      '   indented',
      '\ufeff',
    ])
      expect(saidBy(text, line), line).to.deep.equal({ message: line });
    check([
      ['Error: timeout', null, 'Error', 'Error: timeout'],
      ['2026-11-20 10:00:00', '2026-11-20 10:00:00', null, '2026-11-20 10:00:00'],
      ['ERROR', null, 'ERROR', 'ERROR'],
    ]);
  });

  it('keeps the lines that were joined to it', () => {
    const line = 'ERROR:root:it broke\nTraceback (most recent call last):\nValueError: x';
    check([[line, null, 'ERROR', line.slice('ERROR:root:'.length)]]);
  });
});
