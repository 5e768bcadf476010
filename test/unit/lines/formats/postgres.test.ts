import { expect } from 'chai';
import { postgres } from '../../../../server/lines/formats/postgres.ts';
import { saidBy } from '../../../support/members.ts';

describe("a line of PostgreSQL's log", () => {
  it("with Debian's prefix says who asked where", () => {
    expect(
      saidBy(
        postgres,
        '2026-11-30 15:46:47.502 CET [23091] postgres@shop ERROR:  duplicate key value violates unique constraint "t_pkey"',
      ),
    ).to.deep.equal({
      time: '2026-11-30 15:46:47.502 CET',
      pid: 23091,
      user: 'postgres',
      database: 'shop',
      level: 'ERROR',
      message: 'duplicate key value violates unique constraint "t_pkey"',
    });
  });

  it("with the prefix of Docker, and of Debian's background processes, says neither", () => {
    expect(
      saidBy(postgres, '2026-11-30 15:46:46.428 UTC [1] LOG:  database system is ready'),
    ).to.deep.equal({
      time: '2026-11-30 15:46:46.428 UTC',
      pid: 1,
      level: 'LOG',
      message: 'database system is ready',
    });
  });

  it("with pgBadger's prefix says the line of the session", () => {
    expect(
      saidBy(
        postgres,
        '2026-11-30 15:46:48 CET [23160]: [10-1] user=postgres,db=shop WARNING:  careful',
      ),
    ).to.deep.equal({
      time: '2026-11-30 15:46:48 CET',
      pid: 23160,
      session_line: 10,
      user: 'postgres',
      database: 'shop',
      level: 'WARNING',
      message: 'careful',
    });
    expect(
      saidBy(postgres, '2026-11-30 15:46:47 CET [23095]: [1-1] user=,db= LOG:  starting'),
    ).to.deep.equal({
      time: '2026-11-30 15:46:47 CET',
      pid: 23095,
      session_line: 1,
      level: 'LOG',
      message: 'starting',
    });
  });

  it('that is a part of an entry keeps its word and has no level', () => {
    for (const part of ['DETAIL', 'HINT', 'STATEMENT', 'CONTEXT'])
      expect(
        saidBy(postgres, `2026-11-30 15:46:47.502 CET [23091] postgres@shop ${part}:  x`),
      ).to.deep.equal({
        time: '2026-11-30 15:46:47.502 CET',
        pid: 23091,
        user: 'postgres',
        database: 'shop',
        message: `${part}:  x`,
      });
  });

  it('is not another line', () => {
    for (const line of ['LOG:  ready', '2026-11-30 15:46:46.428 UTC [1] INFO ready'])
      expect(postgres.parse(line), line).to.equal(null);
  });
});
