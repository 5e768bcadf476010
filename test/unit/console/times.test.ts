import { expect } from 'chai';
import { boundsOf, fixedRange, readRange } from '../../../server/console/browser/data/range.ts';
import { dateTime, duration, justAfter } from '../../../server/console/browser/data/times.ts';

describe('times and ranges of the console', () => {
  it('goes on a microsecond after a timestamp, whatever its digits', () => {
    const check = (timestamp: string, after: string) =>
      expect(justAfter(timestamp), timestamp).to.equal(after);
    check('2026-11-20T14:00:00.123456Z', '2026-11-20T14:00:00.123457Z');
    check('2026-12-31T23:59:59.999999Z', '2027-01-01T00:00:00.000000Z');
    check('2026-11-20T14:00:00.123Z', '2026-11-20T14:00:00.123001Z');
    check('2026-11-20T14:00:00Z', '2026-11-20T14:00:00.000001Z');
  });

  it('writes times and lengths of time', () => {
    expect(dateTime(Date.UTC(2026, 10, 20, 14, 0, 0, 7), 'utc')).to.equal(
      '2026-11-20 14:00:00.007',
    );
    const lengths = [0, 0.2, 1, 89, 120, 5400, 172_800].map(duration);
    expect(lengths).to.eql(['0 s', '< 1 s', '1 s', '89 s', '2 min', '2 h', '2 d']);
  });

  it('reads a range from an address, and nothing else', () => {
    const read = (text: string) => readRange(new URLSearchParams(text));
    expect(read('last=15m')).to.eql({ last: '15m' });
    expect(boundsOf({ last: '2d' }, 172_800_000)).to.eql({ from: 0, to: 172_800_000 });
    const [from, to] = ['2026-11-20T14:00:00.000Z', '2026-11-20T15:00:00.000Z'];
    expect(read(`from=${from}&to=${to}`)).to.eql({ from, to });
    for (const text of [
      '',
      'last=0m',
      'last=15s',
      `from=${from}`,
      `from=${to}&to=${from}`,
      'from=a&to=b',
    ])
      expect(read(text), text).to.equal(null);
    expect(fixedRange(0, 0)).to.eql({
      from: '1970-01-01T00:00:00.000Z',
      to: '1970-01-01T00:00:01.000Z',
    });
  });
});
