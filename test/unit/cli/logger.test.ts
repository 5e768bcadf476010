import { expect } from 'chai';
import { createLogger } from '../../../server/cli/logger.ts';

/** Controls of C0, DEL and C1, marks of direction, and both separators that end a line for some readers. */
const OBEYED = [
  ...'\u0000\u0007\u001b\r\u007f\u0080\u0085\u009b\u009d\u009f',
  ...'\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069',
];
const HOSTILE = OBEYED.map((character) => `${character}[2J`).join('');

function logged(isTerminal: boolean): string {
  const lines: string[] = [];
  const log = createLogger('debug', isTerminal, { write: (line) => lines.push(line) });
  log.warn({ file: HOSTILE, path: `/${HOSTILE}`, files: [{ name: HOSTILE }] }, `odd: ${HOSTILE}`);
  log.error({ err: Object.assign(new Error(HOSTILE), { path: HOSTILE }) }, 'failed');
  return lines.join('');
}

function mustBeEscaped(text: string) {
  for (const character of OBEYED) expect(text).not.to.include(`${character}[2J`);
}

describe('the log', () => {
  it('as JSON escapes controls and marks of direction, and keeps every value', () => {
    const text = logged(false);
    mustBeEscaped(text);
    const [warning, failure] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(warning).to.deep.include({
      file: HOSTILE,
      path: `/${HOSTILE}`,
      files: [{ name: HOSTILE }],
      msg: `odd: ${HOSTILE}`,
    });
    expect(failure.err).to.include({ message: HOSTILE, path: HOSTILE });
  });

  it('in a terminal escapes the same, and keeps the lines of a stack', () => {
    const text = logged(true);
    mustBeEscaped(text);
    expect(text).to.contain('odd: \\u0000[2J\\u0007[2J\\u001b[2J');
    expect(text).to.contain('file: "\\u0000[2J').and.to.contain('\\u202e[2J\\u2066[2J');
    expect(text).to.match(/\n +at /);
  });
});
