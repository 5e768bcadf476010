import { appendFileSync } from 'node:fs';
import { mock } from 'node:test';
import { expect } from 'chai';
import { createRejectionLog } from '../../server/admin/rejection-log.ts';
import { eventually, withFolder, withService } from '../support/helpers.ts';

describe('rejected lines in the log', () => {
  afterEach(() => mock.timers.reset());

  it('are logged at once, with their file, reason and number', () =>
    withFolder((data) =>
      withService(data, async ({ log, get }) => {
        const told = () => log.filter(({ msg }) => /^lines were rejected/.test(String(msg)));
        const write = (text: string) => appendFileSync(`${data}/logs/auth_logs/a.log`, text);
        write('no JSON\nnor this\n[1]\n');
        await eventually(() => expect(told()).not.to.deep.equal([]));
        for (const line of told()) expect(line).to.include({ level: 40, file: 'auth_logs/a.log' });
        const lines = () => told().reduce((sum, line) => sum + Number(line.lines), 0);
        await eventually(() => expect(lines()).to.equal(3));
        const before = told().length;
        write('no JSON\n');
        await eventually(async () =>
          expect(JSON.stringify((await get('/api/ledger')).body)).to.include('"rejected":4'),
        );
        expect(told()).to.have.length(before);
      }),
    ));

  it('are logged once a minute for each file and reason, and not file by file when there are many', () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const told: object[] = [];
    const warn = ((fields: object) => told.push(fields)) as never;
    const rejections = createRejectionLog({ warn }, 60_000);
    const line = (file: string, reason = 'bad') => ({ file, reason });
    const take = () => told.splice(0);
    rejections.note([line('a'), line('a'), line('b'), line('a', 'worse')]);
    expect(take()).to.deep.equal([
      { file: 'a', reason: 'bad', lines: 2 },
      { file: 'b', reason: 'bad', lines: 1 },
      { file: 'a', reason: 'worse', lines: 1 },
    ]);
    rejections.note([line('a'), line('a')]);
    rejections.note([line('a')]);
    expect(take()).to.deep.equal([]);
    mock.timers.tick(60_000);
    expect(take()).to.deep.equal([{ file: 'a', reason: 'bad', lines: 3 }]);
    mock.timers.tick(60_000);
    rejections.note([line('a')]);
    expect(take()).to.deep.equal([{ file: 'a', reason: 'bad', lines: 1 }]);
    rejections.note(Array.from({ length: 2000 }, (_, n) => line(`file-${n}`)));
    expect(take()).to.have.length(999);
    mock.timers.tick(60_000);
    expect(take()).to.deep.equal([{ file: undefined, reason: undefined, lines: 1001 }]);
    rejections.close();
  });
});
