import { expect } from 'chai';
import { syslog } from '../../../../server/lines/formats/syslog.ts';
import { saidBy } from '../../../support/members.ts';

describe('a line of syslog', () => {
  it('of RFC 5424 says its header and its structured data', () => {
    expect(
      saidBy(
        syslog,
        '<34>1 2026-11-30T14:46:41.185851+00:00 vm app 77 ID47 [timeQuality tzKnown="1" isSynced="0"][x@1 a="b \\"c\\" \\]"][empty] hello there',
      ),
    ).to.deep.equal({
      facility: 'auth',
      level: 'crit',
      time: '2026-11-30T14:46:41.185851+00:00',
      host: 'vm',
      app: 'app',
      pid: 77,
      msgid: 'ID47',
      'sd.timeQuality.tzKnown': '1',
      'sd.timeQuality.isSynced': '0',
      'sd.x@1.a': 'b "c" ]',
      'sd.empty': {},
      message: 'hello there',
    });
  });

  it('of RFC 5424 leaves out each part that is nothing', () => {
    expect(saidBy(syslog, '<165>1 - - - - - -')).to.deep.equal({
      facility: 'local4',
      level: 'notice',
      message: '',
    });
    expect(
      saidBy(
        syslog,
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed",
      ),
    ).to.deep.equal({
      facility: 'auth',
      level: 'crit',
      time: '2003-10-11T22:14:15.003Z',
      host: 'mymachine.example.com',
      app: 'su',
      msgid: 'ID47',
      message: "'su root' failed",
    });
  });

  it('of RFC 3164 keeps its time as it was written', () => {
    expect(saidBy(syslog, '<12>Nov 30 14:46:41 vm app[22977]: old style')).to.deep.equal({
      facility: 'user',
      level: 'warning',
      time: 'Nov 30 14:46:41',
      host: 'vm',
      app: 'app',
      pid: 22977,
      message: 'old style',
    });
    expect(saidBy(syslog, '<34>Oct  1 22:14:15 app: there is no host on /dev/log')).to.deep.equal({
      facility: 'auth',
      level: 'crit',
      time: 'Oct  1 22:14:15',
      app: 'app',
      message: 'there is no host on /dev/log',
    });
    expect(saidBy(syslog, '<13>hello')).to.deep.equal({
      facility: 'user',
      level: 'notice',
      message: 'hello',
    });
  });

  it('of /var/log says the same without a priority', () => {
    const said = { host: 'vm', app: 'app', pid: 23192, message: 'old style: é' };
    expect(saidBy(syslog, 'Nov 30 14:46:54 vm app[23192]: old style: é')).to.deep.equal({
      time: 'Nov 30 14:46:54',
      ...said,
    });
    expect(saidBy(syslog, '2026-11-30T14:46:54+00:00 vm app[23192]: old style: é')).to.deep.equal({
      time: '2026-11-30T14:46:54+00:00',
      ...said,
    });
    // rsyslog writes this of a message that came as RFC 5424.
    expect(saidBy(syslog, '2026-11-30T14:46:54.040165+00:00 vm app[77] hello there')).to.deep.equal(
      {
        time: '2026-11-30T14:46:54.040165+00:00',
        host: 'vm',
        app: 'app',
        pid: 77,
        message: 'hello there',
      },
    );
    expect(saidBy(syslog, 'Nov  3 10:00:00 vm kernel: [ 12.3] eth0: up')).to.include({
      app: 'kernel',
      message: '[ 12.3] eth0: up',
    });
    expect(saidBy(syslog, 'Nov  3 10:00:00 vm last message repeated 3 times')).to.deep.equal({
      time: 'Nov  3 10:00:00',
      host: 'vm',
      message: 'last message repeated 3 times',
    });
  });

  it('is not a line of another program', () => {
    for (const line of [
      '2026-11-20T10:00:00Z  INFO mod: msg',
      '2026-11-20T10:00:00Z INFO mod: msg',
      '2026-11-20T10:00:00Z the server is up',
      'Fri Nov 20 10:00:00 UTC 2026 done',
      '<192>1 - - - - - -',
      '<error> x',
      'x',
    ])
      expect(syslog.parse(line), line).to.equal(null);
  });
});
