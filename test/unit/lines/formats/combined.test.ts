import { expect } from 'chai';
import { combined } from '../../../../server/lines/formats/combined.ts';
import { saidBy } from '../../../support/members.ts';

describe('an access line', () => {
  it('of nginx says its fields, in its order', () => {
    expect(
      combined.parse(
        '127.0.0.1 - bob [30/Nov/2026:14:46:43 +0000] "GET /missing.png?a=b&c=%20d HTTP/1.1" 404 153 "http://r/?q=1" "say \\x22hi\\x22 \\x5C \\xC3\\xA9"',
      ),
    ).to.deep.equal([
      { name: 'remote_addr', json: '"127.0.0.1"' },
      { name: 'remote_user', json: '"bob"' },
      { name: 'time', json: '"30/Nov/2026:14:46:43 +0000"' },
      { name: 'message', json: '"GET /missing.png?a=b&c=%20d HTTP/1.1"' },
      { name: 'method', json: '"GET"' },
      { name: 'path', json: '"/missing.png?a=b&c=%20d"' },
      { name: 'protocol', json: '"HTTP/1.1"' },
      { name: 'status', json: '404' },
      { name: 'bytes', json: '153' },
      { name: 'referer', json: '"http://r/?q=1"' },
      { name: 'user_agent', json: '"say \\"hi\\" \\\\ é"' },
    ]);
  });

  it('of Apache says its fields: common, and with a virtual host', () => {
    expect(
      saidBy(combined, '127.0.0.1 - - [30/Nov/2026:14:41:39 +0000] "HEAD /a.conf HTTP/1.1" 200 -'),
    ).to.deep.equal({
      remote_addr: '127.0.0.1',
      time: '30/Nov/2026:14:41:39 +0000',
      message: 'HEAD /a.conf HTTP/1.1',
      method: 'HEAD',
      path: '/a.conf',
      protocol: 'HTTP/1.1',
      status: 200,
    });
    expect(
      saidBy(
        combined,
        'shop:80 ::1 - - [30/Nov/2026:14:41:35 +0000] "GET /missing?a=b HTTP/1.1" 404 397 "http://r/?q=1" "say \\"hi\\" \\\\ \\xc3\\xa9"',
      ),
    ).to.include({ vhost: 'shop:80', remote_addr: '::1', user_agent: 'say "hi" \\ é' });
  });

  it('keeps fields that were added at its end', () => {
    const check = (end: string, extra: string | undefined) =>
      expect(
        saidBy(
          combined,
          `1.2.3.4 - - [30/Nov/2026:14:46:43 +0000] "GET /up HTTP/1.1" 502 157 "-" "curl/7.88.1"${end}`,
        )?.extra,
      ).to.equal(extra);
    check(' "1.2.3.4, 5.6.7.8"', '1.2.3.4, 5.6.7.8');
    check(' "-"', undefined);
    check(' 0.005 0.004 .', '0.005 0.004 .');
    check(' "a" rt=0.005', '"a" rt=0.005');
    expect(
      saidBy(combined, '1.2.3.4 - - [30/Nov/2026:14:46:43 +0000] "GET / HTTP/1.1" 200 157 0.005'),
    ).to.include({ bytes: 157, extra: '0.005' });
  });

  it('of a broken request keeps it as it was written', () => {
    expect(
      saidBy(
        combined,
        '127.0.0.1 - - [30/Nov/2026:14:46:45 +0000] "\\x16\\x03\\x01bad" 400 157 "-" "\\xff"',
      ),
    ).to.deep.equal({
      remote_addr: '127.0.0.1',
      time: '30/Nov/2026:14:46:45 +0000',
      message: '\\x16\\x03\\x01bad',
      status: 400,
      bytes: 157,
      user_agent: '\\xff',
    });
    expect(
      saidBy(combined, '1.2.3.4 - - [30/Nov/2026:14:46:45 +0000] "-" 408 0 "-" "-"'),
    ).to.include({ message: '-', status: 408, bytes: 0 });
  });

  it('is not another line', () => {
    for (const line of ['GET / 200', '127.0.0.1 - - [30/Nov/2026', 'a b c d "e" 200 1'])
      expect(combined.parse(line), line).to.equal(null);
  });
});
