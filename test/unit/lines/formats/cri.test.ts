import { expect } from 'chai';
import { cri } from '../../../../server/lines/formats/cri.ts';
import { saidBy } from '../../../support/members.ts';

const AT = '2026-11-20T10:00:00.123456789Z';

describe('a line of a container runtime', () => {
  it('says the members of the object that Docker writes', () => {
    for (const [line, members] of [
      [`${AT} stdout F {"a":1}`, { time: AT, stream: 'stdout', log: '{"a":1}' }],
      [
        '2026-11-20T10:00:00.1+01:00 stderr P  a piece ',
        {
          time: '2026-11-20T10:00:00.1+01:00',
          stream: 'stderr',
          partial: true,
          log: ' a piece ',
        },
      ],
      [`${AT} stdout F`, { time: AT, stream: 'stdout', log: '' }],
      [`${AT} stdout F `, { time: AT, stream: 'stdout', log: '' }],
      [`${AT} stdout F a\nb`, { time: AT, stream: 'stdout', log: 'a\nb' }],
    ] as const)
      expect(saidBy(cri, line), line).to.deep.equal(members);
  });

  it('keeps further tags', () => {
    expect(saidBy(cri, '2026-11-20T10:00:00.1Z stdout P:a:b x')).to.deep.equal({
      time: '2026-11-20T10:00:00.1Z',
      stream: 'stdout',
      partial: true,
      tags: 'a:b',
      log: 'x',
    });
  });

  it('is not another line', () => {
    for (const line of [
      '2026-11-20T10:00:00.1Z stdin F x',
      '2026-11-20T10:00:00.1Z stdout X x',
      'x',
    ])
      expect(cri.parse(line), line).to.equal(null);
  });
});
