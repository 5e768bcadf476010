import { expect } from 'chai';
import { pattern } from '../../../../server/lines/formats/pattern.ts';
import { saidBy } from '../../../support/members.ts';

describe('a pattern', () => {
  it('makes a member of each named group that matched', () => {
    const format = pattern(
      '^(?<time>\\S+ \\S+) (?<level>[A-Z]+)(?: <(?<user>\\w+)>)? (?<status>\\d+) (?<message>.*)$',
    );
    expect(format.parse('2026-11-20 10:00:00 WARN 502 slow 12')).to.deep.equal([
      { name: 'time', json: '"2026-11-20 10:00:00"' },
      { name: 'level', json: '"WARN"' },
      { name: 'status', json: '502' },
      { name: 'message', json: '"slow 12"' },
    ]);
    expect(format.parse('not so')).to.equal(null);
  });

  it('keeps numbers as they were written, and a message as a text', () => {
    expect(pattern('^(?<a>\\S+) (?<b>\\S+) (?<message>\\d+)$').parse('1.10 007 5')).to.deep.equal([
      { name: 'a', json: '1.10' },
      { name: 'b', json: '"007"' },
      { name: 'message', json: '"5"' },
    ]);
  });

  it('loses nothing around the match', () => {
    expect(saidBy(pattern('user=(?<user>\\w+)'), 'hello user=bob bye')).to.deep.equal({
      user: 'bob',
      message: 'hello user=bob bye',
    });
    expect(saidBy(pattern('\\[(?<message>[^\\]]*)\\]'), 'a [b] c')).to.deep.equal({
      message: 'b',
      extra: 'a  c',
    });
  });

  it("may be written as Python's, and reads an entry of several lines", () => {
    expect(saidBy(pattern('^(?P<level>\\w+): (?P<message>.*)$'), 'ERROR: a\n  b')).to.deep.equal({
      level: 'ERROR',
      message: 'a\n  b',
    });
  });

  it('does not look at a line of more than 16,384 characters', () => {
    expect(pattern('(?<a>x)').parse('x'.repeat(16_384))).to.not.equal(null);
    expect(pattern('(?<a>x)').parse('x'.repeat(16_385))).to.equal(null);
  });

  it('is refused with a reason', () => {
    expect(() => pattern('^\\S+ (.*)$')).to.throw('has no named group');
    expect(() => pattern('(?<a>x')).to.throw('is not a regular expression of JavaScript');
    for (const source of [
      '(?<a>(x+)+)',
      '(?<a>(?:x*)*y)',
      '(?<a>(?:\\w+\\s?)*)$',
      '(?<a>x{2,})+',
      '(?<a>(?:(?:x+)?y?)+)',
      '(?<a>(?:x+){9,20})',
    ])
      expect(() => pattern(source), source).to.throw('which repeats by itself');
    for (const source of [
      '(?<ip>(?:\\d+\\.){3}\\d+)',
      '(?<a>[(+]+)(?<b>x)',
      '(?<a>\\(\\w+\\)+)',
      '(?<a>(?:ab)+)',
      '(?<a>(?:x+)?)',
      '(?<a>[^)]+) (?<b>.*)',
    ])
      expect(() => pattern(source), source).to.not.throw();
  });
});
