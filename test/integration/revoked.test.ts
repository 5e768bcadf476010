import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { expect } from 'chai';
import { tokenFile } from '../faults/http.ts';
import { eventually, TOKEN, withFolder, withService } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const line = (id: string, project: string, message = id) =>
  `${JSON.stringify({ id, timestamp: '2026-08-21T12:00:00Z', project, event_message: message })}\n`;
const TAIL = '/api/tail/auth_logs';

/** Opens a stream with a token. `text` returns what has come of it, `ended` resolves to how it ended. */
async function open(url: string, token: string) {
  const answer = await fetch(url, { headers: { 'X-API-KEY': token } });
  expect(answer.status).to.equal(200);
  let text = '';
  const ended = (async () => {
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString();
  })().then(
    () => 'ended',
    () => 'broken',
  );
  return { text: () => text, ended };
}

/** Waits until the service has read the token file again. */
const readAgain = (log: readonly Record<string, unknown>[]) =>
  eventually(() =>
    expect(log.some(({ msg }) => msg === 'the token file was read again')).to.equal(true),
  );

describe('a token that is taken away', () => {
  it('ends the streams that were opened with it, and no other', () =>
    withFolder((data) => {
      const tokens = tokenFile(data);
      const [taken, kept] = [tokens.add({ scopes: ['query'] }), tokens.add({ scopes: ['query'] })];
      return withService(data, async ({ url, child }) => {
        const streams = [];
        for (const token of [taken, kept, TOKEN]) streams.push(await open(`${url}${TAIL}`, token));
        const [first, ...others] = streams;
        tokens.remove(taken);
        child.kill('SIGHUP');
        expect(await first?.ended).to.equal('ended');
        appendFileSync(`${data}/logs/auth_logs/a.log`, line('a', 'p'));
        await eventually(() => {
          for (const other of others) expect(other.text()).to.include('"id":"a"');
        });
        expect(first?.text()).not.to.include('"id":"a"');
      });
    }));

  it('ends them when it expires', () =>
    withFolder((data) =>
      withService(data, async ({ url, get, child, log }) => {
        const tokens = tokenFile(data);
        const token = tokens.add({ scopes: ['query'] });
        child.kill('SIGHUP');
        await readAgain(log);
        const stream = await open(`${url}${TAIL}`, token);
        // Only now, so that the stream is open however long all of that took.
        const expires = new Date(Date.now() + 1000).toISOString();
        tokens.change(token, { expires });
        child.kill('SIGHUP');
        expect(await stream.ended).to.equal('ended');
        expect(Date.now()).to.be.at.least(Date.parse(expires));
        expect((await get('/livez')).status).to.equal(200);
      }),
    ));

  it(`breaks off exports, so that they do not look whole ${SLOW}`, () =>
    withFolder((data) => {
      const tokens = tokenFile(data);
      const token = tokens.add({ scopes: ['query'] });
      return withService(data, async ({ url, child, get, log }) => {
        // More than the sockets on the way hold, some 40 MB: bytes that they have taken cannot be broken off.
        const count = 10_000;
        const message = () => randomBytes(4800).toString('base64');
        let text = '';
        for (let n = 0; n < count; n++) text += line(`n${n}`, 'p', message());
        appendFileSync(`${data}/logs/auth_logs/a.log`, text);
        await eventually(async () => {
          const { body } = await get('/api/ledger');
          const rows = (body.result as { rows: number }[]).map((entry) => entry.rows);
          expect(rows).to.include(count);
        });
        const answers = await Promise.all(
          ['ndjson', 'parquet'].map((format) =>
            fetch(`${url}/api/export/auth_logs?format=${format}`, {
              headers: { 'X-API-KEY': token },
            }),
          ),
        );
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
        tokens.remove(token);
        child.kill('SIGHUP');
        await readAgain(log);
        for (const answer of answers) {
          const bytes = await answer.arrayBuffer().then(
            ({ byteLength }) => byteLength,
            () => null,
          );
          expect(bytes, answer.url).to.equal(null);
        }
      });
    }));
});

describe('a token of one project', () => {
  it('does not show when lines of other projects were stored', () =>
    withFolder((data) => {
      const pinned = tokenFile(data).add({ scopes: ['query'], project: 'mine' });
      return withService(data, async ({ url }) => {
        const ask = async (path: string, token: string) => {
          const answer = await fetch(`${url}${path}`, { headers: { 'X-API-KEY': token } });
          expect(answer.status, path).to.equal(200);
          return [...answer.headers.keys()].filter((name) => name.startsWith('tailpond-ingest'));
        };
        appendFileSync(`${data}/logs/auth_logs/a.log`, line('a', 'theirs'));
        const paths = [
          '/api/entries/auth_logs?project=mine',
          '/api/endpoints/query/logs.all?project=mine',
          '/api/endpoints/query/logs.all?project=mine&sql=select%20id%20from%20auth_logs',
          '/api/endpoints/query/usage.api-counts?project=mine&interval=daily',
          '/api/histogram/auth_logs?project=mine&from=2026-08-21T00:00:00Z&to=2026-08-22T00:00:00Z',
        ];
        for (const path of paths) {
          await eventually(async () => expect(await ask(path, TOKEN)).not.to.deep.equal([]));
          for (let again = 0; again < 3; again++)
            expect(await ask(path, pinned), path).to.deep.equal([]);
        }
        const stream = await open(`${url}${TAIL}?project=mine`, pinned);
        await eventually(() => expect(stream.text()).to.match(/^retry: 2000\nid: \d+\n\n/));
        appendFileSync(
          `${data}/logs/auth_logs/a.log`,
          line('b', 'theirs') + line('c', 'mine') + line('d', 'theirs'),
        );
        await eventually(() => expect(stream.text()).to.include('"id":"c"'));
        expect(stream.text()).not.to.include('"id":"b"');
        // Where it began, and its own entry.
        expect(stream.text().match(/^id: \d+$/gm)).to.have.length(2);
      });
    }));
});
