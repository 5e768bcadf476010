import { expect } from 'chai';
import { faultOf, readJson } from '../../../server/lines/json.ts';
import { membersOf, validMembers } from '../../../server/lines/members.ts';
import { randomOf } from '../../support/random.ts';

const BROKEN: [string, string][] = [
  ['{"a":1', 'it is not JSON: it ends early, at byte 6'],
  ['{"a":"b', 'it is not JSON: it ends early, at byte 7'],
  ['{"a":', 'it is not JSON: it ends early, at byte 5'],
  ['{"id":}', 'it is not JSON: unexpected "}" at byte 6'],
  ['{"é":b}', 'it is not JSON: unexpected "b" at byte 6'],
  ['{"a":1]', 'it is not JSON: unexpected "]" at byte 6'],
  ['{"a":1}{"b":2}', 'it is not JSON: unexpected "{" at byte 7'],
  ['{"a" 1}', 'it is not JSON: unexpected "1" at byte 5'],
  ['{a:1}', 'it is not JSON: unexpected "a" at byte 1'],
  ['{"a":01}', 'it is not JSON: unexpected "0" at byte 5'],
  ['{"a":[1 2]}', 'it is not JSON: unexpected "2" at byte 8'],
  ["{'a':1}", `it is not JSON: unexpected "'" at byte 1`],
  [
    String.raw`{"a":"\x"}`,
    String.raw`it is not JSON: bad escape \x at byte 6; nginx needs escape=json in its log_format`,
  ],
  [String.raw`{"a":"\u12"}`, String.raw`it is not JSON: bad escape \u at byte 6`],
  ['{"a":"\t"}', 'it is not JSON: a control character (0x09) stands in a text at byte 6'],
  ['[1]', 'it is an array, not a JSON object'],
  ['7', 'it is a number, not a JSON object'],
];

describe('a line of JSON', () => {
  it('that is broken is rejected with what is wrong, and where', () => {
    for (const [line, reason] of BROKEN) expect(faultOf(line), line).to.equal(reason);
  });

  it('has its members in their order, as they were written', () => {
    expect(readJson('{"a": 1.10, "b":[1, 2],"a":-0}')).to.deep.equal({
      members: [
        { name: 'a', json: '1.10' },
        { name: 'b', json: '[1, 2]' },
        { name: 'a', json: '-0' },
      ],
      repaired: false,
    });
  });

  it('is repaired where it has one meaning', () => {
    for (const [line, json] of [
      [String.raw`{"a":"\x22"}`, String.raw`"\u0022"`],
      ['{"a":"x\ty"}', String.raw`"x\ty"`],
      ['{"a":-}', 'null'],
      ['{"a":None}', 'null'],
      ['{"a":True}', 'true'],
      ['{"a":NaN}', 'null'],
      ['{"a":[1,],}', '[1]'],
      ['\ufeff{"a":1}', '1'],
    ] as const)
      expect(readJson(line), line).to.deep.equal({
        members: [{ name: 'a', json }],
        repaired: true,
      });
  });

  it('is valid to the quick look only where it is valid JSON', () => {
    const { below, pick } = randomOf(7);
    const line = '{"a":"x","b": -1.5e3 ,"c":[1,{"d":"\\u00e9"}],"e":true,"f":{} , "a":null}';
    const parts = [
      '"',
      '\\',
      ',',
      ':',
      '{',
      '}',
      '[',
      ']',
      ' ',
      '\t',
      '\u0001',
      '0',
      '-',
      '.',
      'e',
      'NaN',
    ];
    let valid = 0;
    for (let n = 0; n < 5000; n++) {
      const at = below(line.length);
      const changed = line.slice(0, at) + pick(parts) + line.slice(at + below(3));
      const members = validMembers(changed);
      if (members === null) continue;
      valid++;
      expect(faultOf(changed), changed).to.equal(null);
      expect(members, changed).to.deep.equal(membersOf(changed));
    }
    expect(valid).to.be.greaterThan(200);
  });
});
