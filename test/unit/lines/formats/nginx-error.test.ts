import { expect } from 'chai';
import { nginxError } from '../../../../server/lines/formats/nginx-error.ts';
import { saidBy } from '../../../support/members.ts';

describe("a line of nginx's error log", () => {
  it('says the facts of the request as members', () => {
    expect(
      saidBy(
        nginxError,
        '2026/11/30 14:46:43 [error] 22986#22987: *3 connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1, server: shop, request: "GET /up HTTP/1.1", upstream: "http://127.0.0.1:1/up", host: "127.0.0.1:18781", referrer: "http://r/?q=1"',
      ),
    ).to.deep.equal({
      time: '2026/11/30 14:46:43',
      level: 'error',
      pid: 22986,
      tid: 22987,
      connection: 3,
      message:
        'connect() failed (111: Connection refused) while connecting to upstream, client: 127.0.0.1, server: shop, request: "GET /up HTTP/1.1", upstream: "http://127.0.0.1:1/up", host: "127.0.0.1:18781", referrer: "http://r/?q=1"',
      client: '127.0.0.1',
      server: 'shop',
      request: 'GET /up HTTP/1.1',
      upstream: 'http://127.0.0.1:1/up',
      host: '127.0.0.1:18781',
      referrer: 'http://r/?q=1',
    });
  });

  it('may have no connection and no facts', () => {
    expect(
      saidBy(
        nginxError,
        '2026/11/30 14:46:41 [notice] 22985#22985: using the "epoll" event method',
      ),
    ).to.deep.equal({
      time: '2026/11/30 14:46:41',
      level: 'notice',
      pid: 22985,
      tid: 22985,
      message: 'using the "epoll" event method',
    });
    expect(
      saidBy(
        nginxError,
        '2026/11/30 14:46:43 [info] 22986#22986: *1 client 127.0.0.1 closed keepalive connection',
      ),
    ).to.include({ connection: 1, message: 'client 127.0.0.1 closed keepalive connection' });
  });

  it('keeps a request with quotes, and all of an end that is not facts', () => {
    const head = '2026/11/30 14:46:43 [error] 1#1: *1 x, client: 1.2.3.4';
    expect(saidBy(nginxError, `${head}, request: "GET /"a", b HTTP/1.1", host: "h"`)).to.include({
      message: 'x, client: 1.2.3.4, request: "GET /"a", b HTTP/1.1", host: "h"',
      request: 'GET /"a", b HTTP/1.1',
      host: 'h',
    });
    expect(saidBy(nginxError, `${head}, request: "GET / and so on`)).to.include({
      message: 'x, client: 1.2.3.4, request: "GET / and so on',
    });
  });

  it('is not another line', () => {
    for (const line of ['2026/11/30 14:46:43 started', '2026/11/30 14:46:43 [error] started'])
      expect(nginxError.parse(line), line).to.equal(null);
  });
});
