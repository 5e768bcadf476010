import { expect } from 'chai';
import { differences } from './answer.ts';
import { readBlocks } from './markdown.ts';

describe('an answer of the docs', () => {
  const check = (language: string, expected: string, got: string, wrong: string[]) =>
    expect(differences(language, expected, got)).to.deep.equal(wrong);

  it('may differ in ids, in sizes and in moments of the run', () => {
    const [now, old] = [new Date().toISOString(), '2026-01-01T00:00:00Z'];
    const id = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
    check('json', `{"id":"${id('1')}","size":7}`, `{"id":"${id('2')}","size":8}`, []);
    check(
      'json',
      `{"at":"${old}","t":1767225600000000}`,
      `{"at":"${now}","t":${Date.now()}000}`,
      [],
    );
    check('text', 'da4eb83b4df7e09e  edge_logs', '90c2e7b15d38fa64  edge_logs', []);
    check('text', 'a.duckdb: 12 bytes.', 'a.duckdb: 345 bytes.', []);
    check('text', `until ${old}`, `until ${now}`, []);
  });

  it('may not differ in anything else', () => {
    check('json', '{"a":[1,2]}', '{"a":[1,3]}', ['- .a[1]: 2', '+ .a[1]: 3']);
    check('json', '{"a":1}', '{"a":1,"b":2}', ['+ .b: 2']);
    check('json', '{"a":1,"b":2}', '{"a":1}', ['- .b: 2']);
    check('json', '{"at":"2026-01-01T00:00:00Z"}', '{"at":"2026-01-02T00:00:00Z"}', [
      '- .at: "2026-01-01T00:00:00Z"',
      '+ .at: "2026-01-02T00:00:00Z"',
    ]);
    check('json', '{"a":1}', 'curl: (7) Failed', ['Expected JSON, got curl: (7) Failed']);
    check('text', 'ready', 'ready\nexit code 1', ['+ exit code 1']);
  });

  it('leaves out what … stands for, in a line and as lines, and nothing else', () => {
    check('text', 'Schema 2\n…\nwhole', 'Schema 2\n  a\n  b\nwhole', []);
    check('text', 'Schema 2\n…\nwhole', 'Schema 2\nwhole', []);
    check('text', 'took … ms', 'took 12.5 ms', []);
    check('text', 'took … ms', 'took 12.5 s', ['- took … ms', '+ took 12.5 s']);
    check('text', '…\nwhole', 'a\nbroken', ['- whole', '+ a', '+ broken']);
  });
});

describe('a page of the docs', () => {
  it('is read as blocks with their lines, reasons, answers and hidden commands', () => {
    const page = [
      '<!-- sh: before',
      'mkdir a',
      '-->',
      '```sh skip=docker',
      'docker ps',
      '```',
      '- In a list:',
      '',
      '  ```sh',
      '  echo 1',
      '    echo 2',
      '  ```',
      '',
      '  ```text',
      '  1',
      '  ```',
      '```json example',
      '{}',
      '```',
    ].join('\n');
    const blocks = readBlocks('a.md', page).map(({ line, language, info, text, answer }) => ({
      ...{ line, language, info, text },
      answer: answer?.text ?? null,
    }));
    expect(blocks).to.deep.equal([
      { line: 1, language: 'sh', info: {}, text: 'mkdir a', answer: null },
      { line: 4, language: 'sh', info: { skip: 'docker' }, text: 'docker ps', answer: null },
      { line: 9, language: 'sh', info: {}, text: 'echo 1\n  echo 2', answer: '1' },
      { line: 17, language: 'json', info: { example: '' }, text: '{}', answer: null },
    ]);
  });
});
