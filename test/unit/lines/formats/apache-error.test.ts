import { expect } from 'chai';
import { apacheError } from '../../../../server/lines/formats/apache-error.ts';
import { saidBy } from '../../../support/members.ts';

describe("a line of Apache's error log", () => {
  it('says its module, process, client, code and referer', () => {
    expect(
      saidBy(
        apacheError,
        '[Mon Nov 30 14:41:39.331721 2026] [authz_core:error] [pid 19936:tid 19946] [client 127.0.0.1:35138] AH01630: client denied by server configuration: /srv/no, referer: http://r/?q=1',
      ),
    ).to.deep.equal({
      time: 'Mon Nov 30 14:41:39.331721 2026',
      module: 'authz_core',
      level: 'error',
      pid: 19936,
      tid: 19946,
      client: '127.0.0.1:35138',
      code: 'AH01630',
      message: 'AH01630: client denied by server configuration: /srv/no, referer: http://r/?q=1',
      referer: 'http://r/?q=1',
    });
  });

  it('keeps the fault of the system before the code', () => {
    expect(
      saidBy(
        apacheError,
        '[Mon Nov 30 14:41:35.649273 2026] [proxy:error] [pid 19937:tid 19955] (111)Connection refused: AH00957: http: attempt to connect to 127.0.0.1:1 (127.0.0.1:1) failed',
      ),
    ).to.include({
      code: 'AH00957',
      message:
        '(111)Connection refused: AH00957: http: attempt to connect to 127.0.0.1:1 (127.0.0.1:1) failed',
    });
  });

  it('of 2.2 has no module and no process', () => {
    expect(
      saidBy(
        apacheError,
        '[Wed Oct 11 14:32:52 2000] [error] [client 127.0.0.1] client denied by server configuration',
      ),
    ).to.deep.equal({
      time: 'Wed Oct 11 14:32:52 2000',
      level: 'error',
      client: '127.0.0.1',
      message: 'client denied by server configuration',
    });
  });

  it('is not another line', () => {
    for (const line of ['[error] x', '[2026-11-20 10:00:00] [error] x'])
      expect(apacheError.parse(line), line).to.equal(null);
  });
});
