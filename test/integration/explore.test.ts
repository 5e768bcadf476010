import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect } from 'chai';
import { digestOf, makeToken } from '../../server/auth/tokens.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { storeEntries } from '../../server/explore/store-entries.ts';
import { createTail } from '../../server/explore/tail.ts';
import { LONG } from '../faults/case.ts';
import { type ServerEvent, serverEvents } from '../support/events.ts';
import {
  eventually,
  type Ingesting,
  type Served,
  type Service,
  TOKEN,
  withApp,
  withFolder,
  withIngest,
  withService,
} from '../support/helpers.ts';
import { opened } from '../support/opened.ts';
import { seeded } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

const MINUTE = 60_000;
const NOON = Date.parse('2026-08-21T12:00:00Z');
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString();
const line = (id: string, minutes: number, more: object = {}) =>
  `${JSON.stringify({ id, timestamp: at(minutes), project: 'p', event_message: `message of ${id}`, metadata: { n: [1] }, ...more })}\n`;

const withLines = (lines: string, action: (served: Served) => Promise<void>) =>
  withFolder((data) =>
    withApp(data, async (served) => {
      served.write('auth_logs/a.ndjson', lines);
      await served.lines(lines.split('\n').length - 1, 'auth_logs');
      await action(served);
    }),
  );

const ids = (body: { result: { id: string }[] }) => body.result.map(({ id }) => id);

describe('the entries of a source', () => {
  it('are listed newest first, as they were stored, and by project, text and time', () =>
    withLines(
      line('a', 0) +
        line('b', 1, { project: 'other' }) +
        line('c', 2, { event_message: 'SIGNED In', metadata: [{ path: '/Token' }] }),
      async ({ get }) => {
        const list = async (query: object, status = 200) => {
          const answer = await get('/api/entries/auth_logs').query(query);
          expect(answer.status, answer.text).to.equal(status);
          return answer;
        };
        const { body, headers } = await list({});
        const [{ ingested_at: ingested, ...first }] = body.result;
        expect(first).to.deep.equal({
          id: 'c',
          timestamp: '2026-08-21T12:02:00Z',
          project: 'p',
          severity: null,
          status: null,
          event_message: 'SIGNED In',
          metadata: [{ path: '/Token' }],
        });
        expect(ingested).to.equal(headers['tailpond-ingested-at']);
        expect(ids(body)).to.deep.equal(['c', 'b', 'a']);
        expect(body.result[2].metadata).to.deep.equal({ n: [1] });
        expect(headers['tailpond-truncated']).to.equal('false');
        expect(ids((await list({ project: 'p' })).body)).to.deep.equal(['c', 'a']);
        expect(ids((await list({ search: 'signed iN' })).body)).to.deep.equal(['c']);
        expect(ids((await list({ search: '/token' })).body)).to.deep.equal(['c']);
        expect(ids((await list({ search: '%' })).body)).to.deep.equal([]);
        expect(ids((await list({ from: at(1), to: at(2) })).body)).to.deep.equal(['b']);
        const cut = await list({ limit: 2 });
        expect(ids(cut.body)).to.deep.equal(['c', 'b']);
        expect(cut.headers['tailpond-truncated']).to.equal('true');
        expect((await list({ format: 'csv' })).text).to.match(/^id,timestamp,project,/);
        for (const limit of ['0', '1001', 'many', '-1']) {
          const { body: fault } = await list({ limit }, 400);
          expect(fault.errors[0].parameter).to.equal('limit');
        }
        expect((await list({ from: 'yesterday' }, 400)).body.errors[0].parameter).to.equal('from');
      },
    ));

  it(`are the newest when the same is asked again, whatever came, and whatever time is asked for ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async ({ write, lines, get }) => {
        const random = seeded(11);
        const all: { id: string; at: number; project: string }[] = [];
        const taken = new Set<number>();
        const base = Date.UTC(2026, 7, 21);
        for (let round = 0; round < (LONG ? 25 : 15); round++) {
          // Most are newer than all before; some come late.
          const count = 1 + Math.floor(random() * (round % 5 === 4 ? 2000 : 60));
          let text = '';
          for (let n = 0; n < count; n++) {
            const late = random() < 0.1 ? 3_600_000 * random() : 0;
            // No two have the same moment: of such, either may come first.
            const at =
              base + round * 60_000 + n * 20 + Math.floor(random() * 19) - Math.floor(late);
            if (taken.has(at)) continue;
            taken.add(at);
            const entry = { id: `r${round}n${n}`, at, project: random() < 0.2 ? 'few' : 'many' };
            all.push(entry);
            text += line(entry.id, 0, {
              project: entry.project,
              timestamp: new Date(at).toISOString(),
            });
          }
          write('auth_logs/a.ndjson', text);
          await lines(all.length, 'auth_logs');
          const ends = [base + round * 60_000 + 30_000, base + 600_000];
          for (const project of ['few', 'many'])
            for (const [from, to] of [
              [0, Infinity],
              [(ends[0] as number) - 300_000, Infinity],
              [0, ends[0]],
              [0, ends[1]],
            ] as [number, number][]) {
              const query = {
                project,
                limit: 50,
                ...(from > 0 ? { from: new Date(from).toISOString() } : {}),
                ...(to < Infinity ? { to: new Date(to).toISOString() } : {}),
              };
              const { body } = await get('/api/entries/auth_logs').query(query);
              const expected = all
                .filter((entry) => entry.project === project && entry.at >= from && entry.at < to)
                .sort((a, b) => b.at - a.at)
                .slice(0, 50)
                .map(({ id }) => id);
              expect(ids(body), JSON.stringify(query)).to.deep.equal(expected);
            }
        }
      }),
    ));

  it('are counted in buckets of time', () =>
    withLines(line('a', 0) + line('b', 1) + line('c', 1.5) + line('d', 59), async ({ get }) => {
      const query = { from: at(0), to: at(60) };
      const { body } = await get('/api/histogram/auth_logs').query({ ...query, buckets: 60 });
      expect(body).to.deep.equal({
        result: [
          { timestamp: '2026-08-21T12:00:00Z', entries: 1 },
          { timestamp: '2026-08-21T12:01:00Z', entries: 2 },
          { timestamp: '2026-08-21T12:59:00Z', entries: 1 },
        ],
        step_seconds: 60,
      });
      const coarse = await get('/api/histogram/auth_logs').query({ ...query, buckets: 1 });
      expect(coarse.body).to.deep.equal({
        result: [{ timestamp: '2026-08-21T12:00:00Z', entries: 4 }],
        step_seconds: 3600,
      });
      const turned = await get('/api/histogram/auth_logs').query({ from: at(1), to: at(0) });
      expect(turned.status).to.equal(400);
      expect((await get('/api/histogram/auth_logs')).body.errors).to.have.length(2);
    }));

  it('show their projects and rejected lines without personal data when redaction is on', () =>
    withLines(
      `${line('a', 0, { project: 'ann@example.com' })}[2, "from 10.0.0.1"]\n`,
      async ({ get }) => {
        const redacted = (path: string) => get(path).set('SVC-ENDPOINT-REDACT-PII', 'true');
        expect((await redacted('/api/projects/auth_logs')).body.result).to.deep.equal([
          { project: 'REDACTED', entries: 1 },
        ]);
        const [rejected] = (await redacted('/api/rejected')).body.result;
        expect(rejected.line).to.equal('[2, "from REDACTED"]');
        expect((await get('/api/rejected')).body.result[0].line).to.include('10.0.0.1');
      },
    ));

  it('show the projects that have most of them', () =>
    withLines(
      line('a', 0) +
        line('b', 1, { project: 'q' }) +
        line('c', 2) +
        line('d', 3, { project: null }),
      async ({ get }) => {
        expect((await get('/api/projects/auth_logs')).body.result).to.deep.equal([
          { project: 'p', entries: 2 },
          { project: 'q', entries: 1 },
        ]);
      },
    ));

  it('are those of one project for a token that is pinned to it', () =>
    withFolder(async (data) => {
      const token = makeToken('one');
      const entry = { id: 'one', hash: digestOf(token).toString('hex'), scopes: ['query'] };
      await writeFile(`${data}/tokens.json`, JSON.stringify([{ ...entry, project: 'q' }]), {
        mode: 0o600,
      });
      await withApp(data, async ({ http, write, lines }) => {
        write('auth_logs/a.ndjson', line('a', 0) + line('b', 1, { project: 'q' }));
        await lines(2, 'auth_logs');
        const get = (path: string) => http.get(path).set('X-API-KEY', token);
        expect(ids((await get('/api/entries/auth_logs')).body)).to.deep.equal(['b']);
        expect((await get('/api/projects/auth_logs')).body.result).to.deep.equal([
          { project: 'q', entries: 1 },
        ]);
        const exported = await get('/api/export/auth_logs?format=ndjson').buffer();
        expect(exported.text).to.match(/^\{"id":"b".*\n\{"count":1\}\n$/);
        for (const name of ['entries', 'projects', 'tail', 'export'])
          expect((await get(`/api/${name}/auth_logs?project=p`)).body.code).to.equal(
            'PROJECT_FORBIDDEN',
          );
      });
    }));

  it('are refused for an unknown source, and by other methods', () =>
    withLines(line('a', 0), async ({ http, get }) => {
      for (const name of ['entries', 'histogram', 'projects', 'tail', 'export']) {
        expect((await get(`/api/${name}/nothing`)).body.code).to.equal('SOURCE_UNKNOWN');
        const posted = await http.post(`/api/${name}/auth_logs`).set('X-API-KEY', TOKEN);
        expect(posted.status).to.equal(405);
        expect((await http.get(`/api/${name}/auth_logs`)).status).to.equal(401);
      }
    }));
});

describe('an export', () => {
  const many = 12_000;
  const lines = Array.from({ length: many }, (_, n) =>
    // Half of them have the same timestamp: more than stand in memory at a time.
    line(`e${n}`, n % 2 === 0 ? 0 : n / 100),
  ).join('');

  it('has every entry once, in the order of time, and ends with their count', () =>
    withLines(lines, async (served) => {
      const { get, store } = served;
      const json = await get('/api/export/auth_logs');
      expect(json.body.count).to.equal(many);
      const stamps = json.body.result.map(({ timestamp }: { timestamp: string }) =>
        Date.parse(timestamp),
      );
      expect(stamps).to.deep.equal([...stamps].sort((a, b) => a - b));
      expect(new Set(ids(json.body)).size).to.equal(many);

      const { text } = await get('/api/export/auth_logs?format=ndjson').buffer();
      const rows = text.trim().split('\n');
      expect(rows.at(-1)).to.equal(`{"count":${many}}`);
      expect(new Set(rows.slice(0, -1).map((row) => JSON.parse(row).id)).size).to.equal(many);

      const csv = await get('/api/export/auth_logs?format=csv').buffer();
      const records = csv.text.trim().split('\r\n');
      expect(records).to.have.length(many + 2);
      expect(records.at(-1)).to.equal(`#rows,${many},,,,,,`);

      const parquet = await get('/api/export/auth_logs?format=parquet').responseType('blob');
      expect(parquet.headers['x-row-count']).to.equal(String(many));
      const path = `${store.staging}/export.parquet`;
      await writeFile(path, parquet.body);
      const counted = await store.query(
        `select count(distinct id), any_value(json_type(metadata)) from read_parquet('${path}')`,
        {},
        { maxRows: 1 },
      );
      expect(counted.rows).to.deep.equal([[BigInt(many), 'OBJECT']]);
    }));

  it('is bounded by project, text and time', () =>
    withLines(line('a', 0) + line('b', 1) + line('c', 2), async ({ get }) => {
      const exported = async (query: object) =>
        ids((await get('/api/export/auth_logs').query(query)).body);
      expect(await exported({ from: at(1) })).to.deep.equal(['b', 'c']);
      expect(await exported({ to: at(1) })).to.deep.equal(['a']);
      expect(await exported({ search: 'of b' })).to.deep.equal(['b']);
      expect(await exported({ project: 'none' })).to.deep.equal([]);
      const none = await get('/api/export/auth_logs?project=none&format=csv').buffer();
      expect(none.text).to.equal(
        'id,timestamp,project,severity,status,event_message,metadata,ingested_at\r\n#rows,0,,,,,,\r\n',
      );
    }));

  it('is redacted on request, but for Parquet, which says so', () =>
    withLines(line('a', 0, { event_message: 'from 10.1.2.3' }), async ({ get }) => {
      const ask = (format: string) =>
        get(`/api/export/auth_logs?format=${format}`).set('SVC-ENDPOINT-REDACT-PII', 'true');
      expect((await ask('ndjson').buffer()).text).to.contain('from REDACTED');
      const refused = await ask('parquet');
      expect(refused.status).to.equal(400);
      expect(refused.body.errors[0].parameter).to.equal('format');
    }));

  it('breaks off when the client disconnects, and queries nothing more', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        appendFileSync(`${data}/logs/auth_logs/a.ndjson`, lines);
        await eventually(async () => {
          const { body } = await service.get('/api/ledger');
          const entry = (body.result as { source: string; rows: number }[]).find(
            ({ source }) => source === 'auth_logs',
          );
          expect(entry?.rows).to.equal(many);
        });
        const left = new AbortController();
        const answer = await fetch(`${service.url}/api/export/auth_logs`, {
          headers: { 'X-API-KEY': TOKEN },
          signal: left.signal,
        });
        await answer.body?.getReader().read();
        left.abort();
        expect((await service.get('/readyz')).status).to.equal(200);
        expect(await service.end('SIGTERM')).to.equal(0);
        expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
      }),
    ));
});

describe('an export over HTTP/1.0', () => {
  it('is sent, and the service goes on', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        appendFileSync(`${data}/logs/auth_logs/a.ndjson`, line('a', 0));
        for (const format of ['json', 'ndjson', 'csv', 'parquet']) {
          const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
          const closed = once(socket, 'close');
          let text = '';
          socket.on('data', (chunk) => {
            text += chunk.toString('latin1');
          });
          socket.write(
            `GET /api/export/auth_logs?format=${format} HTTP/1.0\r\nX-API-KEY: ${TOKEN}\r\n\r\n`,
          );
          await closed;
          expect(text, format).to.match(/^HTTP\/1\.1 200 OK\r\n/);
        }
        expect((await service.get('/readyz')).status).to.equal(200);
      }),
    ));
});

describe('the live tail', () => {
  /** Runs `action` beside a tail of a store with this clock. `sent` returns what the tail has sent. */
  const followed = (
    clock: { now(): number },
    action: (ingesting: Ingesting, sent: () => string) => Promise<void>,
  ) =>
    withFolder((data) =>
      withIngest(
        data,
        async (ingesting) => {
          const left = new AbortController();
          let text = '';
          const response = {
            set() {},
            flushHeaders() {},
            write(chunk: string) {
              text += chunk;
            },
            end() {},
            writableLength: 0,
          };
          const engine = storeEntries(ingesting.store);
          const relation = engine.relation('auth_logs');
          const filters = [
            { source: 'auth_logs', relation, where: 'true', hint: null, values: {} },
          ] as const;
          const done = createTail({
            engine,
            waits: { heartbeat: 500 },
            isDraining: () => false,
          }).send(
            { filters, redact: undefined, after: '', pinned: false },
            response as never,
            deadlineIn(240_000, left.signal),
          );
          await eventually(() => expect(text).to.match(/^retry:/));
          await action(ingesting, () => text).finally(() => left.abort());
          await done;
        },
        { storeClock: { now: clock.now, monotonic: () => performance.now() } },
      ),
    );

  it('misses no entry that is stored in the same millisecond, or after the clock was set back', () => {
    let now = Date.now();
    return followed({ now: () => now }, async ({ write, lines }, sent) => {
      for (const [n, id] of ['one', 'two', 'three', 'four'].entries()) {
        if (n === 2) now -= 3_600_000;
        write('auth_logs/a.ndjson', line(id, 0));
        await lines(n + 1, 'auth_logs');
        await eventually(() => expect(sent()).to.include(`"id":"${id}"`));
      }
    });
  });

  it('says that it is there while nothing is stored', () =>
    followed({ now: Date.now }, async ({ write, lines }, sent) => {
      write('auth_logs/a.ndjson', line('one', 0));
      await lines(1, 'auth_logs');
      const after = (id: string) => sent().split(`"id":"${id}"`)[1] ?? '';
      await eventually(() => expect(after('one')).to.include('\n\n: still here\n\n'));
      expect(sent().match(/^event:/gm)).to.have.length(1);
    }));

  const events = (url: string, headers: Record<string, string>, signal: AbortSignal) =>
    serverEvents(url, { 'X-API-KEY': TOKEN, ...headers }, signal);

  it('sends entries as they are stored, oldest first, and resumes where a client stopped', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const write = (text: string) => appendFileSync(`${data}/logs/auth_logs/a.ndjson`, text);
        const tail = (query: string, headers: Record<string, string> = {}) => {
          const left = new AbortController();
          const url = `${service.url}/api/tail/auth_logs?${query}`;
          const stream = events(url, headers, left.signal);
          const next = async () => (await stream.next()).value as ServerEvent;
          return { next, leave: () => left.abort() };
        };
        const all = tail('');
        const some = tail('search=OF%20B');
        expect((await all.next()).get('id')).to.equal('0');
        await some.next();
        write(line('a', 0) + line('b', 1));
        const first = await all.next();
        expect(first.get('event')).to.equal('entries');
        expect(ids({ result: JSON.parse(first.get('data') ?? '') })).to.deep.equal(['a', 'b']);
        const found = await some.next();
        expect(ids({ result: JSON.parse(found.get('data') ?? '') })).to.deep.equal(['b']);
        all.leave();
        some.leave();
        write(line('c', 2));
        const again = tail('', { 'Last-Event-ID': first.get('id') ?? '' });
        await again.next();
        const missed = await again.next();
        expect(ids({ result: JSON.parse(missed.get('data') ?? '') })).to.deep.equal(['c']);

        write(Array.from({ length: 2000 }, (_, n) => line(`n${n}`, n)).join(''));
        let [shown, skipped] = [0, 0];
        while (shown + skipped < 2000) {
          const event = await again.next();
          const data = JSON.parse(event.get('data') ?? '');
          if (event.get('event') === 'skipped') skipped += data.entries;
          else shown += data.length;
        }
        expect(shown + skipped).to.equal(2000);
        again.leave();
        expect(await service.end('SIGTERM')).to.equal(0);
      }),
    ));

  it('ends when the service stops', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const stream = events(
          `${service.url}/api/tail/auth_logs`,
          {},
          new AbortController().signal,
        );
        await stream.next();
        const ended = (async () => {
          for await (const _ of stream);
        })().catch(() => {});
        expect(await service.end('SIGTERM')).to.equal(0);
        await ended;
      }),
    ));
});

/** Runs `action` while so many statements of the project p take their time; throws once one of these has ended. */
async function besideHeavy(
  service: Service,
  count: number,
  action: (refused: readonly number[]) => Promise<void>,
): Promise<void> {
  const heavy = `select count(*) as n from unnest(generate_array(1, 10000)) as a cross join unnest(generate_array(1, 10000)) as b
    cross join unnest(generate_array(1, 10000)) as c`;
  const leaving = new AbortController();
  const path = `/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'p', sql: heavy })}`;
  const options = { headers: { 'X-API-KEY': TOKEN }, signal: leaving.signal };
  const refused: number[] = [];
  const running = Array.from({ length: count }, () =>
    fetch(service.url + path, options).then(({ status }) => {
      if (status !== 503) throw new Error(`a statement that takes its time ended with ${status}`);
      refused.push(status);
    }),
  );
  const ended = Promise.all(running).then(() => new Promise<never>(() => {}));
  await Promise.race([action(refused), ended]);
  leaving.abort();
  await Promise.allSettled(running);
}

describe("callers' SQL that takes its time", () => {
  const served = opened<Service>((action) => withFolder((data) => withService(data, action)));

  it('keeps no question about sources waiting', () =>
    besideHeavy(served(), 4, async () => {
      for (const question of [
        'entries/edge_logs?project=p',
        `histogram/edge_logs?project=p&from=${at(0)}&to=${at(1)}`,
        'facets/edge_logs?project=p&field=severity',
      ])
        expect((await served().get(`/api/${question}`)).status).to.equal(200);
    }));

  it('keeps no statement of another project waiting, however many of its own wait', () =>
    // Two of them run and 24 wait.
    besideHeavy(served(), 30, async (refused) => {
      await eventually(() => expect(refused).to.have.length(4));
      const sql = 'select count(*) as n from edge_logs';
      for (const project of ['q', 'r']) {
        const query = new URLSearchParams({ project, sql });
        const { status } = await served().get(`/api/endpoints/query/logs.all?${query}`);
        expect(status).to.equal(200);
      }
    }));
});
