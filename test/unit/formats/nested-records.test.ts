import { expect } from 'chai';
import fc from 'fast-check';
import { strictJson } from '../../../server/formats/nested-records.ts';
import { redact } from '../../../server/formats/redact.ts';

const records = (text: string, redact?: (value: string) => string) =>
  strictJson(text, { redact, wrap: true });

function check(input: string, expected: string | undefined): void {
  expect(records(input), input.slice(0, 100)).to.equal(expected);
}

function same(...inputs: string[]): void {
  for (const input of inputs) check(input, input);
}

function invalid(...inputs: string[]): void {
  for (const input of inputs) check(input, undefined);
}

/** The records form by recursion over parsed values. */
function wrap(value: unknown, inArray = false): unknown {
  if (Array.isArray(value)) return value.map((item) => wrap(item, true));
  if (typeof value !== 'object' || value === null) return value;
  const object = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wrap(item)]));
  return inArray ? object : [object];
}

describe('records', () => {
  it('wraps every object whose parent is not an array', () => {
    check('{}', '[{}]');
    check('{"a":1}', '[{"a":1}]');
    check('{"a":{"b":1}}', '[{"a":[{"b":1}]}]');
    check('{"a":{"b":{}},"c":{"d":[]}}', '[{"a":[{"b":[{}]}],"c":[{"d":[]}]}]');
  });

  it('leaves objects in arrays, arrays and scalars', () => {
    same('[]', '[{"a":1}]', '[[{"a":1},{}]]', '[1,[2,[]]]');
    same('1', '"a"', 'true', 'false', 'null', '""');
    check('[{"a":{"b":[{}]}}]', '[{"a":[{"b":[{}]}]}]');
  });

  it('keeps blanks', () => {
    check(' {\t"a" :\r\n[ 1 , { } ] } \n', ' [{\t"a" :\r\n[ 1 , { } ] }] \n');
    same(' 1 ', '[ ]', '\t"a"\n');
  });

  it('keeps the digits of numbers', () => {
    same('9007199254740993', '1e400', '-0', '-0.0', '0', '1.50', '1E+2', '1e-7', '-12.5e10');
    check('{"n":12345678901234567890}', '[{"n":12345678901234567890}]');
  });

  it('hides card numbers of 13 digits and more', () => {
    const hidden = (text: string) => records(text, redact);
    for (const card of ['4222222222222', '30569309025904', '378282246310005', '4111111111111111'])
      expect(hidden(`{"n":${card},"list":[${card}]}`), card).to.equal(
        '[{"n":"REDACTED","list":["REDACTED"]}]',
      );
    for (const number of ['422222222222', '4222222222223', '1764500000000'])
      expect(hidden(`[${number}]`)).to.equal(`[${number}]`);
  });

  it('keeps strings and their escapes', () => {
    same(String.raw`"\"\\\/\b\f\n\r\t\u00e9\uD83D"`, '"é 😀 \u007f \u2028"', '"{[,:]}"');
  });

  it('gives undefined for text that is not strict JSON', () => {
    invalid(
      '',
      ' ',
      'NaN',
      'Infinity',
      '-Infinity',
      '{"a":NaN}',
      'undefined',
      'True',
      'nul',
      'nulls',
    );
    invalid('01', '-01', '1.', '.5', '+1', '-', '1e', '1e+', '0x10', '1_000', '--1', '1.e1');
    invalid('[1,]', '[,1]', '[,]', '[1 2]', '[1', '[', ']', '[1]]', '[}', '[1}', '[1:2]');
    invalid('{"a":1,}', '{,}', '{"a"}', '{"a":}', '{"a" 1}', '{a:1}', "{'a':1}", '{1:2}', '{"a":1');
    invalid('{', '}', '{]', '{"a":1]', '{"a":1}}', '{"a":1 "b":2}', '{"a":1,"b"}', '{"a"', '{"a":');
    invalid('"', '"a', '"\n"', '"\t"', '"\u0000"', String.raw`"\x"`, String.raw`"\u12g4"`, '"\\"');
    invalid(
      String.raw`"\u12"`,
      String.raw`"\U0041"`,
      '1 2',
      '{} {}',
      '"a" x',
      '1,',
      '{},',
      '\u00a01',
    );
    invalid('\ufeff1', '// c\n1', '[1]\u0000', '{"a":1,"a":}', '{"a":1,"a":01}');
  });

  it('gives the second of equal keys in one object an underscore', () => {
    check('{"a":1,"a":2}', '[{"a":1,"_a":2}]');
    check('{"a":1,"a":1,"b":3}', '[{"a":1,"_a":1,"b":3}]');
    check('{"a":1 , "a" : {"x":{}} , "b":3}', '[{"a":1 , "_a" : [{"x":[{}]}] , "b":3}]');
    check('{"a":1,"b":2,"a":3,"b":4,"a":5}', '[{"a":1,"b":2,"_a":3,"_b":4,"__a":5}]');
    check('{"a":1,"_a":2,"a":3,"_a":4}', '[{"a":1,"_a":2,"__a":3,"___a":4}]');
    check('{"a":{"a":1,"a":[{}]},"a":{"b":1}}', '[{"a":[{"a":1,"_a":[{}]}],"_a":[{"b":1}]}]');
    check('[{"a":1},{"a":2}]', '[{"a":1},{"a":2}]');
    check('{"x":[{"a":1,"a":2},3]}', '[{"x":[{"a":1,"_a":2},3]}]');
  });

  it('compares keys after unescaping, and takes __proto__ for an ordinary key', () => {
    check(String.raw`{"a":1,"\u0061":2}`, '[{"a":1,"_a":2}]');
    check(String.raw`{"\n":1,"\u000A":2,"\\n":3}`, String.raw`[{"\n":1,"_\n":2,"\\n":3}]`);
    check(
      '{"__proto__":1,"__proto__":2,"constructor":{}}',
      '[{"__proto__":1,"___proto__":2,"constructor":[{}]}]',
    );
    check('{"":1,"":2}', '[{"":1,"_":2}]');
  });

  it('redacts string values, not keys, after unescaping', () => {
    const redact = (value: string) => value.replace('ü', '"');
    expect(records('"ü"', redact)).to.equal(String.raw`"\""`);
    expect(records(String.raw`{"ü":["\u00fc","\u0061"]}`, redact)).to.equal(
      String.raw`[{"ü":["\"","\u0061"]}]`,
    );
    expect(records('{"a":{"b":"ü","b":"ü"},"c":1}', redact)).to.equal(
      String.raw`[{"a":[{"b":"\"","_b":"\""}],"c":1}]`,
    );
    expect(records('["ü",]', redact)).to.equal(undefined);
  });

  it('redacts numbers of many digits', () => {
    const redact = (value: string) => value.replace(/^4{16}$/, 'HIDDEN');
    expect(records('{"a":4444444444444444,"b":[4444444444444444],"c":44}', redact)).to.equal(
      '[{"a":"HIDDEN","b":["HIDDEN"],"c":44}]',
    );
  });

  it('survives any depth', () => {
    const levels = 200_000;
    same('['.repeat(levels) + ']'.repeat(levels));
    check(
      `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
      `${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`,
    );
    invalid('['.repeat(levels), '{"a":'.repeat(levels));
  });

  it('gives what wrapping the parsed value gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const wrapped = records(text);
        expect(wrapped).to.be.a('string');
        expect(JSON.parse(wrapped ?? '')).to.deep.equal(wrap(JSON.parse(text)));
      }),
    );
  });

  it('takes exactly the texts that JSON.parse takes', () => {
    const characters = fc.constantFrom(...'{}[]",:01-.eE+ \\utnrfals\n');
    const pieces = fc.constantFrom('{"a":', '"a"', '[1]', '{}', ',', ':', '}', ']', '[', '1', ' ');
    const texts = fc.oneof(fc.string({ unit: characters }), fc.string({ unit: pieces }));
    fc.assert(
      fc.property(texts, (text) => {
        expect(records(text) !== undefined).to.equal(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
