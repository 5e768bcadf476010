import { expect } from 'chai';
import { Continuation } from '../../../../server/lines/continuation.ts';
import { apacheError } from '../../../../server/lines/formats/apache-error.ts';
import { combined } from '../../../../server/lines/formats/combined.ts';
import { cri } from '../../../../server/lines/formats/cri.ts';
import { logfmt } from '../../../../server/lines/formats/logfmt.ts';
import { nginxError } from '../../../../server/lines/formats/nginx-error.ts';
import { pattern } from '../../../../server/lines/formats/pattern.ts';
import { postgres } from '../../../../server/lines/formats/postgres.ts';
import { syslog } from '../../../../server/lines/formats/syslog.ts';
import { text } from '../../../../server/lines/formats/text.ts';
import { randomOf } from '../../../support/random.ts';

const FORMATS = [
  ...[text, logfmt, combined, nginxError, apacheError, syslog, postgres, cri],
  pattern('(?<time>\\S+) .*(?<level>[A-Z]+): (?<message>.*)'),
];
/** Pieces of lines of every format, and signs that begin or end a part of one. */
const PIECES = [
  ...[
    '2026-11-20T10:00:00Z',
    '2026/11/20 10:00:00',
    'Nov 20 10:00:00',
    '20/Nov/2026:10:00:00 +0000',
  ],
  ...[
    'INFO',
    'ERROR:',
    '[warn]',
    'level=',
    'LOG:  ',
    '<34>',
    '1 ',
    '[error] 1#1: *1 ',
    ', client: ',
  ],
  ...[
    '[x@1 a="',
    '"]',
    'a="',
    'b=',
    '\\',
    '"',
    '[',
    ']',
    '(',
    '{',
    '}',
    ' ',
    '\t',
    '\n',
    '-',
    ':',
    '|',
  ],
  ...[
    '\u001b[32m',
    '\u001b[',
    'é',
    '\ud800',
    '\0',
    '\ufeff',
    '\\x',
    '\\xC3',
    'AH00124: ',
    ' stdout F ',
  ],
  ...[
    '127.0.0.1',
    ' - - [',
    '] "GET / HTTP/1.1" 200 1',
    ' "-"',
    'goroutine 1 [',
    'a.b.',
    'main.main(',
  ],
];
/** Work of a slow machine for a line of a megabyte, milliseconds. A quadratic expression would need hours. */
const MOST_MS = 10_000;

describe('any text', () => {
  it('is parsed by every format without a throw, into values of JSON', () => {
    const random = randomOf(20_261_120);
    const continuation = new Continuation();
    for (let round = 0; round < 3000; round++) {
      let line = '';
      for (let parts = random.below(16) + 1; parts > 0; parts--) line += random.pick(PIECES);
      continuation.next(line);
      for (const format of FORMATS)
        for (const { name, json } of format.parse(line) ?? []) {
          expect(name, line).to.not.equal('');
          JSON.parse(json);
        }
      expect(text.parse(line), line).to.not.equal(null);
    }
  });

  it('of 32 megabytes is parsed without a throw, quoted or not', () => {
    const long = 'a'.repeat(32_000_000);
    for (const line of [
      long,
      `a="${long}" b=1`,
      `127.0.0.1 - - [30/Nov/2026:14:46:43 +0000] "GET /${long} HTTP/1.1" 200 1`,
      `2026/11/30 14:46:43 [error] 1#1: *1 x, client: 1, request: "${long}"`,
      `<34>1 - - - - - [x a="${long}"] x`,
    ])
      for (const format of FORMATS) format.parse(line);
  });

  it('of a megabyte needs work in proportion to its length', () => {
    const heads = [
      '',
      '2026-11-20 10:00:00 ',
      '<34>1 - - - - - ',
      '127.0.0.1 - - [30/Nov/2026:14:46:43 +0000] "GET / HTTP/1.1" 200 1 ',
      '2026/11/30 14:46:43 [error] 1#1: *1 x, client: ',
      '[Mon Nov 30 14:41:39 2026] [error] ',
      '2026-11-30 15:46:46.428 UTC [1] ',
      'a="',
    ];
    for (const piece of PIECES) {
      const body = piece.repeat(1_000_000 / piece.length);
      for (const head of heads) {
        const line = head + body;
        for (const format of FORMATS) {
          const start = performance.now();
          format.parse(line);
          const ms = performance.now() - start;
          expect(ms, `${format.name}: ${head}${piece}…`).to.be.below(MOST_MS);
        }
        new Continuation().next(line);
      }
    }
  });
});
