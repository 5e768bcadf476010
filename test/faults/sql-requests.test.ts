import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { eventually, TOKEN } from '../support/helpers.ts';
import { faultCase } from './case.ts';
import { ledger } from './setup.ts';
import {
  type Answer,
  CALLER,
  type Harness,
  read,
  shared,
  withHarness,
  withTwins,
} from './sql/harness.ts';

const LOGS = '/api/endpoints/query/logs.all';
const COUNTS = '/api/endpoints/query/usage.api-counts';
const SQL = 'select id from edge_logs';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
const QUERY = new URLSearchParams(CALLER).toString();

interface Odd {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const json = (value: unknown): Odd => ({ headers: JSON_TYPE, body: JSON.stringify(value) });
const form = (body: string): Odd => ({ headers: FORM_TYPE, body });

/** Requests that say odd things, and what may come back. */
const ODD: Readonly<Record<string, readonly [request: Odd, statuses: readonly number[]]>> = {
  'sql twice': [{ query: `${QUERY}&sql=select+1&sql=${SQL}` }, [400]],
  'sql in the query and in the body': [
    { query: `${QUERY}&sql=select+1+as+x`, ...json({ sql: SQL }) },
    [200, 400],
  ],
  'sql as a list': [json({ ...CALLER, sql: [SQL] }), [200, 400]],
  'sql as an object': [json({ ...CALLER, sql: { sql: SQL } }), [400]],
  'sql as a number': [json({ ...CALLER, sql: 1 }), [400]],
  'sql as true': [json({ ...CALLER, sql: true }), [400]],
  'sql as null': [json({ ...CALLER, sql: null }), [200, 400]],
  'sql that is long': [json({ ...CALLER, sql: `select '${'x'.repeat(70_000)}' as x` }), [400, 413]],
  'sql of a megabyte': [
    json({ ...CALLER, sql: `select '${'x'.repeat(1_000_000)}' as x` }),
    [400, 413],
  ],
  'sql of a megabyte in a form': [
    form(`${QUERY}&sql=select+'${'x'.repeat(1_000_000)}'`),
    [400, 413],
  ],
  'sql of a megabyte in the URL': [
    { query: `${QUERY}&sql=select+'${'x'.repeat(1_000_000)}'` },
    [414, 431],
  ],
  'sql with brackets': [{ query: `${QUERY}&sql[]=${SQL}&sql[0]=${SQL}` }, [200, 400]],
  'sql in capitals': [{ query: `${QUERY}&SQL=${SQL}` }, [200, 400]],
  'an unknown dialect': [{ query: `${QUERY}&sql=${SQL}&dialect=postgres` }, [400]],
  'two dialects': [{ query: `${QUERY}&sql=${SQL}&dialect=duckdb&dialect=bigquery` }, [400]],
  'a dialect as a list': [json({ ...CALLER, sql: SQL, dialect: ['duckdb'] }), [200, 400]],
  'a project as a list': [json({ ...CALLER, project: ['mine', 'theirs'], sql: SQL }), [400]],
  'a project as an object': [json({ ...CALLER, project: { project: 'theirs' }, sql: SQL }), [400]],
  'a project as a number': [json({ ...CALLER, project: 1, sql: SQL }), [200, 400]],
  'a project with SQL': [json({ ...CALLER, project: "mine' or true --", sql: SQL }), [200, 400]],
  'a project with NUL': [json({ ...CALLER, project: 'mine\u0000theirs', sql: SQL }), [200, 400]],
  'a project with a lone surrogate': [
    { headers: JSON_TYPE, body: `{"project":"\\ud800","sql":"${SQL}"}` },
    [200, 400],
  ],
  'a start that is not one': [json({ ...CALLER, iso_timestamp_start: 'x', sql: SQL }), [400]],
  'a start as a number': [json({ ...CALLER, iso_timestamp_start: 1e300, sql: SQL }), [400]],
  'a start far away': [json({ ...CALLER, iso_timestamp_start: '9'.repeat(300), sql: SQL }), [400]],
  'a start that is not finite': [
    json({ ...CALLER, iso_timestamp_start: '-infinity', sql: SQL }),
    [400],
  ],
  'no project': [json({ sql: SQL }), [400]],
  'a prototype': [
    {
      headers: JSON_TYPE,
      body: `{"__proto__":{"project":"theirs","sql":"${SQL}"},"constructor":{"sql":"x"}}`,
    },
    [400],
  ],
  'a prototype in a form': [form('__proto__[project]=theirs&__proto__=x&sql=select+1'), [400]],
  'a prototype in the query': [{ query: '__proto__[project]=theirs&sql=select+1' }, [400]],
  'a body that is a list': [json([{ sql: SQL }]), [400]],
  'a body that is a text': [json(SQL), [400]],
  'a body that is null': [json(null), [400]],
  'a body that is half': [{ headers: JSON_TYPE, body: '{"sql":' }, [400]],
  'a body that is nothing': [{ headers: JSON_TYPE, body: '' }, [400]],
  'a body with names doubled': [
    {
      headers: JSON_TYPE,
      body: `{"project":"theirs",${JSON.stringify({ ...CALLER, sql: SQL }).slice(1)}`,
    },
    [200, 400],
  ],
  'a body that is deep': [
    { headers: JSON_TYPE, body: `${'['.repeat(30_000)}${']'.repeat(30_000)}` },
    [400],
  ],
  'a body of other bytes': [
    { headers: JSON_TYPE, body: Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d) },
    [400],
  ],
  'a body in UTF-16': [
    {
      headers: { 'Content-Type': 'application/json; charset=utf-16le' },
      body: Buffer.from(JSON.stringify({ ...CALLER, sql: SQL }), 'utf16le'),
    },
    [200, 400, 415],
  ],
  'a body in UTF-7': [
    {
      headers: { 'Content-Type': 'application/json; charset=utf-7' },
      body: JSON.stringify({ ...CALLER, sql: SQL }),
    },
    [200, 400, 415],
  ],
  'a body that is packed': [
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ ...CALLER, sql: SQL })),
    },
    [200, 400, 415],
  ],
  'a body that unpacks to 200 MB': [
    {
      headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(200e6, 0x20)),
    },
    [400, 413, 415],
  ],
  'a body of another type': [{ headers: { 'Content-Type': 'text/plain' }, body: SQL }, [400, 415]],
  'a body of parts': [
    {
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
      body: `--x\r\nContent-Disposition: form-data; name="sql"\r\n\r\n${SQL}\r\n--x--`,
    },
    [400, 415],
  ],
  'a form with sql twice': [form(`${QUERY}&sql=select+1&sql=${SQL}`), [400]],
  'a form with a bad escape': [form(`${QUERY}&sql=select+'%zz'+as+x`), [200, 400]],
  'a form with NUL': [form(`${QUERY}&sql=select+'%00'+as+x`), [200, 400]],
  'a form with bad UTF-8': [form(`${QUERY}&sql=select+'%ED%A0%80%FF'+as+x`), [200, 400]],
  'a form of many names': [
    form(`${QUERY}&sql=${SQL}&${Array.from({ length: 8000 }, (_, i) => `a${i}=1`).join('&')}`),
    [200, 400, 413],
  ],
  'sql by lql too': [{ query: `${QUERY}&sql=${SQL}&lql=x` }, [200, 400]],
};

describe("callers' SQL: requests", () => {
  const twins = shared<readonly [Harness, Harness]>(withTwins);

  faultCase(
    'S15a',
    'odd parameters and bodies are refused, never a 5xx, and tell nothing',
    async () => {
      const [harness] = twins();
      const faults: string[] = [];
      for (const [name, [request, statuses]] of Object.entries(ODD)) {
        const answer = await send(harness, LOGS, request);
        if (!statuses.includes(answer.status))
          faults.push(
            `${name}: ${answer.status} instead of ${statuses}: ${answer.text.slice(0, 300)}`,
          );
        const leaks = harness.leaks(answer);
        if (leaks.length > 0) faults.push(`${name}: tells ${leaks}`);
      }
      expect(faults.join('\n')).to.equal('');
    },
  );

  faultCase(
    'S15b',
    'a token of one project stays in it, wherever another one is named',
    async () => {
      const others: Record<string, Odd> = {
        'in the query': { query: `project=theirs&sql=${SQL}` },
        'in the body': json({ project: 'theirs', sql: SQL }),
        'in the body, beside the query': {
          query: `project=mine`,
          ...json({ project: 'theirs', sql: SQL }),
        },
        'in the query, beside the body': {
          query: `project=theirs`,
          ...json({ project: 'mine', sql: SQL }),
        },
        'in a form, beside the query': {
          query: `project=mine`,
          ...form(`project=theirs&sql=${SQL}`),
        },
        twice: { query: `project=mine&project=theirs&sql=${SQL}` },
        'twice in a form': form(`project=mine&project=theirs&sql=${SQL}`),
        'with brackets': { query: `project=mine&project[]=theirs&sql=${SQL}` },
        'as a list': json({ project: ['theirs'], sql: SQL }),
        'with a space': json({ project: ' theirs', sql: SQL }),
        'in the SQL': json({
          ...CALLER,
          sql: "select id from edge_logs where project = 'theirs' or true",
        }),
        'not at all': json({ sql: SQL }),
      };
      const faults: string[] = [];
      for (const [name, request] of Object.entries(others))
        for (const harness of twins()) {
          const answer = await send(harness, LOGS, request, harness.pinned);
          const leaks = harness.leaks(answer).filter((secret) => answer.text.includes(secret));
          if (![200, 400, 403].includes(answer.status) || leaks.length > 0)
            faults.push(`${name}: ${answer.text.slice(0, 300)}`);
        }
      for (const harness of twins()) {
        const open = await send(
          harness,
          COUNTS,
          json({ interval: 'daily', project: '.*', sql: 'select count(*) as n from requests' }),
          harness.pinned,
        );
        expect(open.status, open.text).to.be.oneOf([200, 403]);
      }
      expect(faults.join('\n')).to.equal('');
    },
  );

  faultCase('S15c', 'an answer that is kept is given to nobody who asked something else', () =>
    withHarness(0, {}, async (harness) => {
      const now = Date.now();
      const requests = ['mine', 'mine', 'theirs', 'theirs', 'theirs'].map((project, n) => ({
        id: `now-${n}`,
        timestamp: new Date(now - 60_000).toISOString(),
        project,
        metadata: { request: { path: '/rest/v1/x', url: `https://${project}.test/` } },
      }));
      const text = requests.map((line) => `${JSON.stringify(line)}\n`).join('');
      const before = (await ledger(harness.service)).rows;
      writeFileSync(join(harness.data, 'logs', 'edge_logs', 'now.ndjson'), text);
      await eventually(async () =>
        expect((await ledger(harness.service)).rows).to.equal(before + requests.length),
      );
      const ask = async (sql: string, project = 'test') =>
        (
          await send(
            harness,
            COUNTS,
            json({ interval: 'daily', project, ...(sql && { sql }) }),
            project === 'mine' ? harness.pinned : TOKEN,
          )
        ).rows;
      const count = 'select count(*) as n from requests';
      for (let round = 0; round < 2; round++) {
        expect(await ask('')).to.have.length(1);
        expect(await ask(count)).to.deep.equal([{ n: 5 }]);
        expect(await ask(count, 'mine')).to.deep.equal([{ n: 2 }]);
        expect(await ask(`${count} -- 2`)).to.deep.equal([{ n: 5 }]);
        expect(await ask('select count(*) + 1 as n from requests')).to.deep.equal([{ n: 6 }]);
      }
    }),
  );
});

async function send(
  { service }: Harness,
  path: string,
  { query, headers, body }: Odd,
  token = TOKEN,
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}${query ? `?${query}` : ''}`, {
    headers: { 'X-API-KEY': token, ...headers },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  return read(response);
}
