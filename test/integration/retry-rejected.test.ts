import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

interface RejectedLine {
  readonly id: string;
  readonly line: string;
  readonly shown_bytes: number;
  readonly whole: boolean;
}

const withServed = (action: (served: Served) => Promise<void>, settings = {}) =>
  withFolder((data) => withApp(data, action, settings));

const rejectedOf = async ({ get }: Served): Promise<RejectedLine[]> =>
  (await get('/api/rejected')).body.result;
const retry = ({ http }: Served, body: object) =>
  http.post('/api/rejected/retry').set('X-API-KEY', TOKEN).send(body);

describe('a rejected line that is tried again', () => {
  it('becomes a row as it was edited, and is no longer a rejected line', () =>
    withServed(async (served) => {
      served.write('auth_logs/a.log', '{"id":"a" "timestamp":"yesterday"}\n');
      await served.lines(1, 'auth_logs');
      const [rejected] = await rejectedOf(served);
      expect(rejected).to.include({ line: '{"id":"a" "timestamp":"yesterday"}', whole: true });
      const line = '{"id":"ü","timestamp":"2026-08-21T12:00:00Z"}';
      const { status, body } = await retry(served, { id: rejected?.id, line });
      expect([status, body]).to.deep.equal([200, { result: { retried: 1 } }]);
      const entry = await served.lines(2, 'auth_logs');
      expect(entry).to.include({ rows: 1, rejected: 1, removed_rejected: 1 });
      expect((await served.rows('auth_logs')).map(({ id }) => id)).to.deep.equal(['ü']);
      expect(await rejectedOf(served)).to.deep.equal([]);
      expect((await served.store.inspect(new AbortController().signal)).faults).to.deep.equal([]);
    }));

  it('keeps the bytes it came with, and is classified again', () =>
    withServed(async (served) => {
      const bytes = Buffer.from([0x7b, 0xff, 0x22, 0x27, 0x7d]);
      served.write('auth_logs/a.log', Buffer.concat([bytes, Buffer.from('\n')]));
      await served.lines(1, 'auth_logs');
      const [first] = await rejectedOf(served);
      expect((await retry(served, { id: first?.id })).status).to.equal(200);
      const second = await eventually(async () => {
        const lines = await rejectedOf(served);
        expect(lines[0]?.id).to.be.a('string').not.equal(first?.id);
        return lines;
      });
      expect(second).to.have.length(1);
      const kept = await served.store.rejectedLine(second[0]?.id ?? '');
      expect(kept?.line.toString('latin1')).to.equal(bytes.toString('latin1'));
    }));

  it('is taken whole when it is long, and leaves nothing behind', () =>
    withServed(async (served) => {
      const text = Array.from({ length: 20_000 }, (_, n) => `${n}ü`).join(' ');
      served.write(
        'auth_logs/a.log',
        `{"id":"long" "timestamp":"yesterday","msg":"${text}"}\nno\n`,
      );
      await served.lines(2, 'auth_logs');
      const found = await rejectedOf(served);
      const short = found.find(({ line }) => line === 'no');
      const long = found.find(({ line }) => line !== 'no');
      expect(short).to.include({ shown_bytes: 2, whole: true });
      expect(long).to.include({ shown_bytes: 4096, whole: true });
      expect(long?.line).to.have.length.below(4097);
      const fault = async () => (await served.store.inspect(new AbortController().signal)).faults;
      expect(await fault()).to.deep.equal([]);
      const stored = await served.store.rejectedLine(long?.id ?? '');
      expect(stored?.line.toString()).to.include(`"msg":"${text}"}`);
      const bytes = (id: string) =>
        served.http.get(`/api/rejected/${id}`).set('X-API-KEY', TOKEN).responseType('blob');
      const { headers, body } = await bytes(long?.id ?? '');
      expect(body.equals(stored?.line)).to.equal(true);
      expect(headers).to.include({
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="rejected-${long?.id}.log"`,
        'tailpond-truncated': 'false',
      });
      expect((await retry(served, { id: long?.id })).status).to.equal(200);
      const gone = await served.get(`/api/rejected/${long?.id}`);
      expect([gone.status, gone.body.code]).to.deep.equal([404, 'REJECTED_UNKNOWN']);
      await served.lines(3, 'auth_logs');
      const [again] = await rejectedOf(served);
      const kept = await served.store.rejectedLine(again?.id ?? '');
      expect(kept?.line.equals(stored?.line ?? Buffer.alloc(0))).to.equal(true);
      expect(await fault()).to.deep.equal([]);
      const pieces = await served.store.query(
        'select count(distinct (file, "offset")) from rejected_rest',
        {},
        { maxRows: 1 },
      );
      expect(Number(pieces.rows[0]?.[0])).to.equal(1);
    }));

  it('is refused when it was cut, is gone, or the request is wrong', () =>
    withServed(
      async (served) => {
        served.write('auth_logs/a.log', `{"id":"${'x'.repeat(6000)}"}\nnull\n`);
        await served.lines(2, 'auth_logs');
        const lines = await rejectedOf(served);
        const cut = lines.find(({ whole }) => !whole);
        const whole = lines.find((line) => line.whole);
        const refused = async (body: object, status: number, code: string) => {
          const answer = await retry(served, body);
          expect([answer.status, answer.body.code], JSON.stringify(body)).to.deep.equal([
            status,
            code,
          ]);
        };
        await refused({ id: cut?.id }, 400, 'PARAMETER_INVALID');
        await refused({ id: 'bm90aGluZw' }, 404, 'REJECTED_UNKNOWN');
        await refused({ id: "'; drop table rejected" }, 404, 'REJECTED_UNKNOWN');
        await refused({}, 400, 'PARAMETER_INVALID');
        await refused({ id: whole?.id, line: '{}\n{}' }, 400, 'PARAMETER_INVALID');
        await refused({ id: whole?.id, line: 7 }, 400, 'PARAMETER_INVALID');
        expect(await rejectedOf(served)).to.deep.equal(lines);
        expect((await served.get('/api/rejected/retry')).headers.allow).to.equal('POST');
      },
      { maxLine: 5000 },
    ));

  it('is taken once when several requests ask for it at once', () =>
    withServed(async (served) => {
      served.write('auth_logs/a.log', 'broken\n');
      await served.lines(1, 'auth_logs');
      const [rejected] = await rejectedOf(served);
      const asked = Array.from({ length: 5 }, () =>
        retry(served, { id: rejected?.id, line: '{}' }),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([200, 404, 404, 404, 404]);
      await served.lines(2, 'auth_logs');
      expect(await served.rows('auth_logs')).to.have.length(1);
    }));

  it('stays where it cannot be written, and can be tried again later', () =>
    withServed(async (served) => {
      served.write('auth_logs/a.log', 'broken\n');
      await served.lines(1, 'auth_logs');
      const [rejected] = await rejectedOf(served);
      const folder = join(served.data, 'logs/auth_logs');
      renameSync(folder, `${folder}.aside`);
      writeFileSync(folder, 'no folder');
      const failed = await retry(served, { id: rejected?.id, line: '{"id":"a"}' });
      expect(failed.status).to.be.oneOf([500, 503]);
      expect(await rejectedOf(served)).to.deep.equal([rejected]);
      rmSync(folder);
      renameSync(`${folder}.aside`, folder);
      expect((await retry(served, { id: rejected?.id, line: '{"id":"a"}' })).status).to.equal(200);
      await served.lines(2, 'auth_logs');
      expect((await served.rows('auth_logs')).map(({ id }) => id)).to.deep.equal(['a']);
    }));

  it('is not replaced by a blank line', () =>
    withServed(async (served) => {
      served.write('auth_logs/a.log', 'broken\n');
      await served.lines(1, 'auth_logs');
      const [rejected] = await rejectedOf(served);
      expect((await retry(served, { id: rejected?.id, line: ' ' })).status).to.equal(400);
      expect(await rejectedOf(served)).to.deep.equal([rejected]);
    }));
});
