import { expect } from 'chai';
import { logfmt } from '../../../../server/lines/formats/logfmt.ts';
import { saidBy } from '../../../support/members.ts';

describe('a line of logfmt', () => {
  it("of Go's slog says its pairs, with numbers as they were written", () => {
    expect(
      logfmt.parse(
        'time=2026-11-30T14:40:09.599Z level=INFO msg="request done" path="/a b?c=d" status=200 took=1.10 err="he said \\"no\\"" empty="" multi="a\\nb"',
      ),
    ).to.deep.equal([
      { name: 'time', json: '"2026-11-30T14:40:09.599Z"' },
      { name: 'level', json: '"INFO"' },
      { name: 'msg', json: '"request done"' },
      { name: 'path', json: '"/a b?c=d"' },
      { name: 'status', json: '200' },
      { name: 'took', json: '1.10' },
      { name: 'err', json: '"he said \\"no\\""' },
      { name: 'empty', json: '""' },
      { name: 'multi', json: '"a\\nb"' },
    ]);
  });

  it('of Heroku says its pairs', () => {
    expect(
      saidBy(
        logfmt,
        'at=info method=GET path="/" host=shop.example fwd="10.0.0.1" dyno=web.1 connect=0ms service=18ms status=200 bytes=13',
      ),
    ).to.include({ at: 'info', path: '/', fwd: '10.0.0.1', service: '18ms', status: 200 });
  });

  it('may have bare keys, empty values, signs in a value, and a key twice', () => {
    expect(
      logfmt.parse('level=info debug url=/a?b=c id=12e5 zero=007 a= ok=true a=2'),
    ).to.deep.equal([
      { name: 'level', json: '"info"' },
      { name: 'debug', json: 'true' },
      { name: 'url', json: '"/a?b=c"' },
      { name: 'id', json: '"12e5"' },
      { name: 'zero', json: '"007"' },
      { name: 'a', json: '""' },
      { name: 'ok', json: 'true' },
      { name: 'a', json: '2' },
    ]);
    expect(saidBy(logfmt, 'level=error')).to.deep.equal({ level: 'error' });
    expect(saidBy(logfmt, 'a="\\u00e9\\x41\\\\" b=1')).to.deep.equal({ a: 'éA\\', b: 1 });
  });

  it('is not prose, nor a line that is broken', () => {
    for (const line of [
      'the user logged in',
      'user logged in id=4 name=bob',
      'level=info took the order of a customer',
      'x=1',
      'a="unterminated b=1',
      'a=1 b="x"y',
      '1=2 3=4',
      '{"level":"info"}',
      'GET /a?b=1&c=2 HTTP/1.1',
    ])
      expect(logfmt.parse(line), line).to.equal(null);
  });
});
