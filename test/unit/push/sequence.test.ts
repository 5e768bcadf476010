import { expect } from 'chai';
import fc from 'fast-check';
import { Sequence, type SequenceOptions } from '../../../server/push/sequence.ts';

const BATCHES: SequenceOptions = { besideBatch: ['source'] };

describe('the lines of a pushed body', () => {
  /** Checks the lines of a body, in whatever two or more pieces it comes. */
  const check = (body: string, lines: readonly string[], options: SequenceOptions = BATCHES) => {
    const { length } = Buffer.from(body);
    for (let piece = 1; piece <= length; piece++)
      expect(linesOf(body, [piece], options), `${body} by ${piece}`).to.deep.equal(lines);
    for (let at = 1; at < length; at++)
      expect(linesOf(body, [at, length], options), `${body} at ${at}`).to.deep.equal(lines);
  };
  const [a, b, c] = ['{"a":1.10}', '{"b":"},{"}', '{"c":[{},{"d":[]}],"e":"\\"}{"}'] as const;

  it('are its values, however they are parted', () => {
    check('', []);
    check(`${a}${b}${c}`, [a, b, c]);
    check(`${a},${b},${c}`, [a, b, c]);
    check(`${a}, ${b}\t${c}`, [a, b, c]);
    check(`${a}\r${b}\r${c}\r`, [a, b, c]);
    check(`${a}\r\n${b}\r\n\r\n${c}\r\n`, [a, b, c]);
    check(`${a},\n${b},\n${c},\n`, [a, b, c]);
    check(`\x1e${a}\n\x1e${b}\n\x1e${c}\n`, [a, b, c]);
    check(`\x1e${a}\x1e${b}\x1etext\x1e${c}`, [a, b, 'text', c]);
    check(`\ufeff${a}\n\ufeff${b}\ufeff${c}`, [a, b, c]);
    check(`\0\v${a}\f${b}\n \n\n${c}`, [a, b, c]);
    check(`${a}\n${b}${c}\n${a}`, [a, b, c, a]);
    check(`${a}\n${b},${c}\n${a}, ${b}\n`, [a, b, c, a, b]);
    check(`${a}\n${b} ${c}\n${c}[${a}]${b}`, [a, b, c, c, a, b]);
  });

  it('are objects over several lines, each as one', () => {
    check(`{\n "a": {\n  "b": 1\n }\n}\n{\n "c": [\n ]\n}\n`, [
      '{  "a": {   "b": 1  } }',
      '{  "c": [  ] }',
    ]);
    check(`${a}\n{\n"b":1\n}\n${c}`, [a, '{ "b":1 }', c]);
    check('{"a":"b\nc"}', ['{"a":"b\rc"}']);
  });

  it('are the elements of its arrays', () => {
    check(`[${a},${b},${c}]`, [a, b, c]);
    check(`[${a},\n${b}]\n[${c}]`, [a, b, c]);
    check(`[${a}][${b}],${c}`, [a, b, c]);
    check(`${c}\n[${a},7]\n${b}\n`, [c, a, '7', b]);
    check('[]', []);
    for (const body of [
      '[{},',
      '[{}',
      '[{}]]',
      '[{}] 7',
      '[{}]\ntext',
      '[{}}',
      '[{"a":"b]',
      '[',
      '[7',
    ])
      expect(() => linesOf(body, [3], {}), body).to.throw();
  });

  it('are lines as they stand where they are not values', () => {
    check('{"id":\n{"id":"a"}\nplain text\n{"id":"b"}\n', [
      '{"id":',
      '{"id":"a"}',
      'plain text',
      '{"id":"b"}',
    ]);
    check(`{"x":"y\n${a}\n${b}\n`, ['{"x":"y', a, b]);
    check(`{"x":1,\n${a}\n${b}`, ['{"x":1,', a, b]);
    check(`${a} more\n${b}`, [`${a} more`, b]);
    check(`${a}\n${a}]\n{"x"}y\n${b}`, [a, `${a}]`, '{"x"}y', b]);
    check(`text ${a}\n7\n"x",y\n${b}`, [`text ${a}`, '7', '"x",y', b]);
    check('{\n{\n{\n', ['{', '{', '{']);
    check(`${a}\n,x\n`, [a, 'x']);
    check(`a\n,x\n`, ['a', ',x']);
    check('\uff01\n', ['\uff01']);
  });

  it('are text where a bracket begins a line of text', () => {
    const text = { hasText: true };
    const lines = ['[2026-11-20] one', '[error] two', '[1] three'];
    check(lines.join('\n'), lines, text);
    check(`[ ${a},7]\n[[1]]`, [a, '7', '[1]'], text);
    check(`[`, ['['], text);
    check('[]', [], text);
  });

  it('are the elements of `batch` of an object that is alone, or has nothing else', () => {
    check(`{"batch":[${a},${b}]}`, [a, b]);
    check(`{"x":{"batch":[7]},"batch":[${a},\n${b}],"y":1}\n`, [a, b]);
    check(`{"b\\u0061tch":[${a}]}`, [a]);
    check(`{"batch":[${a}]}{"batch":[${b},${c}],"source":"s"}\n{"batch":[${a}]}\n`, [a, b, c, a]);
    check(`${a}\n{"batch":[${b}]}\n${c}\n`, [a, b, c]);
    check(`{"batch":[7],"msg":"m"}\n${a}\n`, ['{"batch":[7],"msg":"m"}', a]);
    for (const text of [
      '{"batch":"[1,2]"}',
      '{"a":{"batch":[1,2]}}',
      '{"a":"batch","b":[1,2]}',
      '{"batches":[1,2],"batc":[3]}',
      '{"a":["batch",[1]]}',
    ])
      check(text, [text]);
  });

  it('are the same in whatever pieces the body comes', () => {
    const spaces = fc.constantFrom('', ' ', '\n', '\r\n\t', '  \n ');
    const values = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })));
    const partings = fc.constantFrom('', ',', '\n', '\r\n', '\r', ' ', '\n\x1e', ',\n', '\ufeff');
    const indents = fc.constantFrom('', ' ', '\t');
    fc.assert(
      fc.property(
        values,
        spaces,
        partings,
        indents,
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        (all, space, parting, indent, isArray, pieces) => {
          const texts = all.map((one) => JSON.stringify(one, null, indent));
          const between = isArray ? `${space},${space}` : space + parting + space;
          const joined = `${space}${texts.join(between)}${space}`;
          const lines = linesOf(isArray ? `${space}[${joined}]${space}` : joined, pieces, {
            besideBatch: [],
          });
          expect(lines.map((line) => JSON.parse(line))).to.deep.equal(
            JSON.parse(JSON.stringify(all)),
          );
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('are the same for bytes without sense, in whatever pieces they come', () => {
    const unit = fc.constantFrom(...'{}[],:"\\ \n\r\x1e7ab', '{"a":1}\n', '{"a":1}', '\ufeff');
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        fc.boolean(),
        (body, pieces, hasText) => {
          const options = { hasText, besideBatch: [] };
          expect(outcome(body, pieces, options)).to.deep.equal(outcome(body, [1000], options));
        },
      ),
      { numRuns: 5000 },
    );
  });
});

function outcome(body: string, pieces: readonly number[], options: SequenceOptions) {
  try {
    return linesOf(body, pieces, options);
  } catch (error) {
    return String(error);
  }
}

/** Returns the lines of a body that comes in pieces of so many bytes, the last length again and again, without blanks around them. */
function linesOf(body: string, pieces: readonly number[], options: SequenceOptions): string[] {
  const sequence = new Sequence(options);
  const bytes = Buffer.from(body);
  const blocks: Buffer[] = [];
  for (let from = 0, n = 0; from < bytes.length; n++) {
    const to = from + (pieces[Math.min(n, pieces.length - 1)] as number);
    blocks.push(...sequence.take(bytes.subarray(from, to)));
    from = to;
  }
  const text = Buffer.concat([...blocks, ...sequence.end()]).toString();
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
