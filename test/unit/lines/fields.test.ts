import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createFieldTable } from '../../../server/lines/index.ts';

const LINES = 100;
const HALF = 500_000;

describe('the table of fields', () => {
  it('keeps no line of which it remembers a name', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const table = createFieldTable();
    const heapBytes = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heapBytes();
    for (let n = 0; n < LINES; n++) {
      const name = `a_name_of_its_own_${n}`;
      const line = 'x'.repeat(HALF) + name + 'y'.repeat(HALF);
      table.find(line.slice(HALF, HALF + name.length));
    }
    // All lines together have 100 MB.
    expect(heapBytes() - before).to.be.below(10 * HALF);
    expect(table.find('LOG-Level')?.role).to.equal('severity');
  });
});
