import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import ndjson from 'ndjson';
import type { Response } from 'supertest';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';

const LINES = [
  {
    id: 'a',
    timestamp: '2026-08-21T10:00:00.5Z',
    project: 'p',
    event_message: 'plain, "quoted"\nand 10.1.2.3',
    metadata: { request: { path: '/x', big: 12345678901234567890n } },
  },
  { id: '=1+1', timestamp: '2026-08-21T11:00:00Z', project: 'p', event_message: '', metadata: {} },
  {
    id: '#rows',
    timestamp: '2026-08-21T12:00:00Z',
    project: 'p',
    event_message: "ü'",
    metadata: [],
  },
];
const text = (line: object) =>
  `${JSON.stringify(line, (_key, value) => (typeof value === 'bigint' ? Number(value) : value)).replace('12345678901234567000', '12345678901234567890')}\n`;

const withLines = (action: (served: Served) => Promise<void>) =>
  withFolder((data) =>
    withApp(data, async (served) => {
      served.write('edge_logs/a.ndjson', LINES.map(text).join(''));
      await served.lines(LINES.length);
      await action(served);
    }),
  );

const list = (format: string) => `/api/endpoints/query/logs.all?project=p&format=${format}`;

/** The bytes of an answer, whatever its type. */
function bytes(response: Response, done: (error: Error | null, body: Buffer) => void) {
  const chunks: Buffer[] = [];
  (response as unknown as Readable)
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => done(null, Buffer.concat(chunks)));
}

/** The rows of a Parquet file, as the engine reads them. */
async function rowsOf({ store }: Served, file: Buffer) {
  const path = `${store.staging}/answer.parquet`;
  await writeFile(path, file);
  return store.query(`select * from read_parquet('${path}')`, {}, { maxRows: 100 });
}

describe('formats of answers', () => {
  it('are JSON, unless the request names another', () =>
    withLines(async ({ get, http }) => {
      for (const accept of ['*/*', 'application/json', 'text/html,*/*;q=0.1', 'image/png']) {
        const answer = await http.get(list('')).set({ 'X-API-KEY': TOKEN, Accept: accept });
        expect(answer.type, accept).to.equal('application/json');
        expect(answer.body.result).to.have.length(3);
      }
      expect((await get(list('JSON'))).type).to.equal('application/json');
    }));

  it('are NDJSON, a row a line, with all digits of numbers', () =>
    withLines(async ({ get, http }) => {
      const { type, text: lines } = await get(list('ndjson')).buffer();
      expect(type).to.equal('application/x-ndjson');
      expect(lines).to.contain('"big":12345678901234567890');
      const rows: { id: string }[] = [];
      for await (const row of Readable.from([lines]).pipe(ndjson.parse())) rows.push(row);
      expect(rows.map(({ id }) => id)).to.deep.equal(['#rows', '=1+1', 'a']);
      const accepted = await http
        .get(list(''))
        .set({ 'X-API-KEY': TOKEN, Accept: 'application/x-ndjson' })
        .buffer();
      expect(accepted.text).to.equal(lines);
    }));

  it('are CSV as RFC 4180 has it, without formulas', () =>
    withLines(async ({ get }) => {
      const answer = await get(list('csv'));
      expect(answer.headers['content-type']).to.equal('text/csv; charset=utf-8; header=present');
      expect(answer.text).to.equal(
        [
          'id,timestamp,event_message,metadata',
          `"#rows",1787313600000000,ü',[]`,
          `'=1+1,1787310000000000,"",[{}]`,
          `a,1787306400500000,"plain, ""quoted""\nand 10.1.2.3","[{""request"":[{""path"":""/x"",""big"":12345678901234567890}]}]"`,
          '',
        ].join('\r\n'),
      );
    }));

  it('are Parquet, with the types of the columns', () =>
    withLines(async (served) => {
      const answer = await served.get(list('parquet')).parse(bytes as never);
      expect(answer.type).to.equal('application/vnd.apache.parquet');
      const { columns, rows } = await rowsOf(served, answer.body);
      expect(columns.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
        'id VARCHAR',
        'timestamp BIGINT',
        'event_message VARCHAR',
        'metadata JSON',
      ]);
      expect(rows.map(([id]) => id)).to.deep.equal(['#rows', '=1+1', 'a']);
      const counts = '/api/endpoints/query/usage.api-counts?project=p&interval=daily';
      const none = await served.get(`${counts}&format=parquet`).parse(bytes as never);
      const empty = await rowsOf(served, none.body);
      expect(empty.columns.map(({ type }) => type)).to.deep.equal([
        'TIMESTAMP',
        ...Array(4).fill('BIGINT'),
      ]);
      expect(empty.rows).to.deep.equal([]);
    }));

  it('are all redacted as JSON is', () =>
    withLines(async (served) => {
      for (const format of ['json', 'ndjson', 'csv', 'parquet']) {
        const { body } = await served
          .get(list(format))
          .set('SVC-ENDPOINT-REDACT-PII', 'true')
          .parse(bytes as never);
        const found =
          format === 'parquet'
            ? JSON.stringify((await rowsOf(served, body)).rows, (_key, value) =>
                typeof value === 'bigint' ? String(value) : value,
              )
            : String(body);
        expect(found, format).to.contain('and REDACTED');
        expect(found, format).not.to.contain('10.1.2.3');
      }
    }));

  it('are kept apart in the cache', () =>
    withLines(async ({ get }) => {
      const url = '/api/endpoints/query/usage.api-counts?project=p&interval=daily';
      const json = await get(url);
      const csv = await get(`${url}&format=csv`);
      expect(json.body.result).to.deep.equal([]);
      expect(csv.text).to.match(/^timestamp,total_rest_requests,/);
      expect((await get(`${url}&format=csv`)).headers['cache-status']).to.match(/hit/);
      expect((await get(`${url}&format=csv`)).text).to.equal(csv.text);
      expect(csv.headers.etag).not.to.equal(json.headers.etag);
    }));

  it('are not written as Parquet when names of columns differ by letter case alone', () =>
    withLines(async ({ get }) => {
      const sql = encodeURIComponent('select id as Name, id as name from edge_logs');
      const url = `/api/endpoints/query/logs.all?project=p&sql=${sql}`;
      expect(Object.keys((await get(url)).body.result[0])).to.deep.equal(['Name', 'name']);
      const { status, body } = await get(`${url}&format=parquet`);
      expect(status).to.equal(400);
      expect(body.errors[0].parameter).to.equal('format');
      expect(body.detail).to.match(/got "Name" and "name"/);
    }));

  it('are refused when unknown, or when two are given', () =>
    withLines(async ({ get }) => {
      for (const format of ['xml', 'csv&format=json', '%00']) {
        const { status, body } = await get(list(format));
        expect(status).to.equal(400);
        expect(body.code).to.equal('PARAMETER_INVALID');
        expect(body.errors[0].parameter).to.equal('format');
        expect(body.detail).to.match(/json, ndjson, csv, parquet/);
      }
    }));
});

describe('how fresh an answer is', () => {
  it('is shown by headers: when the last entry of its sources was stored, and how long bytes wait', () =>
    withFolder((data) =>
      withApp(data, async ({ get, write, lines }) => {
        const none = await get(list(''));
        expect(none.headers).not.to.have.property('tailpond-ingested-at');
        expect(none.headers['tailpond-ingest-lag']).to.equal('0.000');
        const begin = Date.now();
        write('edge_logs/a.ndjson', LINES.map(text).join(''));
        await lines(LINES.length);
        const sql = 'select id from auth_logs';
        const other = await get(`/api/endpoints/query/logs.all?project=p&sql=${sql}`);
        expect(other.headers).not.to.have.property('tailpond-ingested-at');
        const { headers } = await get(list(''));
        const at = Date.parse(headers['tailpond-ingested-at'] ?? '');
        expect(at).to.be.within(begin, Date.now());
      }),
    ));

  it('comes with a header that says whether there may be more rows', () =>
    withFolder((data) =>
      withApp(data, async ({ get, write, lines }) => {
        const many = Array.from({ length: 1100 }, (_, n) => text({ id: String(n), project: 'p' }));
        write('edge_logs/a.ndjson', many.slice(0, 99).join(''));
        await lines(99);
        expect((await get(list(''))).headers['tailpond-truncated']).to.equal('false');
        write('edge_logs/a.ndjson', many.slice(99).join(''));
        await lines(1100);
        const cut = async (sql: string) => {
          const query = { project: 'p', sql };
          const { headers, body } = await get('/api/endpoints/query/logs.all').query(query);
          return [headers['tailpond-truncated'], body.result.length];
        };
        expect((await get(list(''))).headers['tailpond-truncated']).to.equal('true');
        expect(await cut('select id from edge_logs')).to.deep.equal(['true', 1000]);
        expect(await cut('select id from edge_logs limit 2000')).to.deep.equal(['true', 1000]);
        expect(await cut('select id from edge_logs order by timestamp desc')).to.deep.equal([
          'true',
          1000,
        ]);
        expect(await cut('select id from edge_logs limit 1000')).to.deep.equal(['false', 1000]);
        expect(await cut('select id from edge_logs limit 5')).to.deep.equal(['false', 5]);
      }),
    ));
});
