import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { clickhouseSuite, type OwnClickHouse } from '../clickhouse/case.ts';
import { tokenFile } from '../faults/http.ts';
import { type ServerEvent, serverEvents } from '../support/events.ts';
import { eventually, LAUNCH, type Service, TOKEN, withService } from '../support/helpers.ts';
import { opened } from '../support/opened.ts';

const line = (id: string, more: object = {}) =>
  `${JSON.stringify({ id, timestamp: new Date().toISOString(), project: 'p', event_message: `message of ${id}`, ...more })}\n`;

interface Node {
  readonly service: Service;
  readonly data: string;
  write(text: string): void;
}

type TwoNodes = readonly [a: Node, b: Node];

/** Runs `action` on two nodes that forward their rows to one server. */
async function withTwoNodes(
  { server, folder }: OwnClickHouse,
  action: (nodes: TwoNodes) => Promise<void>,
) {
  const env = { TAILPOND_CLICKHOUSE_URL: server.url };
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const node = (service: Service, data: string): Node => ({
    service,
    data,
    write(text) {
      mkdirSync(join(data, 'logs/auth_logs'), { recursive: true });
      appendFileSync(join(data, 'logs/auth_logs/a.ndjson'), text);
    },
  });
  await withService(
    a,
    (one) => withService(b, (two) => action([node(one, a), node(two, b)]), { env }),
    { env },
  );
}

/** Waits until a node shows an entry among the newest. */
async function shows({ service }: Node, id: string): Promise<void> {
  await eventually(async () => {
    const { body } = await service.get('/api/entries/auth_logs');
    expect((body.result as { id: string }[]).map((entry) => entry.id)).to.include(id);
  }, 30_000);
}

/** Follows the entries that a node tells of. */
function follow({ service }: Node, query = '', after = '', token = TOKEN) {
  const left = new AbortController();
  const headers = { 'X-API-KEY': token, ...(after === '' ? {} : { 'Last-Event-ID': after }) };
  const stream = serverEvents(`${service.url}/api/tail/auth_logs?${query}`, headers, left.signal);
  const next = async () => (await stream.next()).value as ServerEvent;
  return {
    next,
    /** Reads until so many entries have come; gives their ids, how many were skipped, and where it stands. */
    async until(count: number) {
      const ids: string[] = [];
      let [skipped, id] = [0, ''];
      while (ids.length + skipped < count) {
        const event = await next();
        id = event.get('id') ?? id;
        const data = JSON.parse(event.get('data') ?? '');
        if (event.get('event') === 'skipped') skipped += data.entries;
        else ids.push(...data.map((entry: { id: string }) => entry.id));
      }
      return { ids, skipped, id };
    },
    leave: () => left.abort(),
  };
}

clickhouseSuite('the live tail of ClickHouse', (shared) => {
  const nodes = opened<TwoNodes>((action) => withTwoNodes(shared(), action));

  it('sends what every node stores, once, and resumes where a client stopped', async () => {
    const [a, b] = nodes();
    a.write(line('before'));
    await shows(a, 'before');
    const all = follow(a);
    const some = follow(b, 'search=OF%20B');
    await all.next();
    await some.next();
    a.write(line('a1'));
    b.write(line('b1'));
    const first = await all.until(2);
    expect(first.ids.sort()).to.deep.equal(['a1', 'b1']);
    expect((await some.until(1)).ids).to.deep.equal(['b1']);
    all.leave();
    some.leave();

    // Another node tells it further, although it was this one that told the beginning.
    a.write(line('a2') + line('a3'));
    b.write(line('b2'));
    const again = follow(b, '', first.id);
    await again.next();
    const second = await again.until(3);
    expect(second.ids.sort()).to.deep.equal(['a2', 'a3', 'b2']);

    const many = Array.from({ length: 2000 }, (_, n) => line(`n${n}`)).join('');
    a.write(many);
    const last = await again.until(2000);
    expect(last.ids.length + last.skipped).to.equal(2000);
    expect(last.skipped).to.be.above(0);
    expect(new Set(last.ids).size).to.equal(last.ids.length);
    again.leave();

    const answer = await fetch(`${b.service.url}/api/export/auth_logs?format=parquet`, {
      headers: { 'X-API-KEY': TOKEN },
    });
    expect(answer.headers.get('X-Row-Count')).to.equal('2006');
    const file = Buffer.from(await answer.arrayBuffer());
    expect([file.subarray(0, 4), file.subarray(-4)].map(String)).to.deep.equal(['PAR1', 'PAR1']);
  });

  it('tells a pinned token of its own project alone, and no more of others', async () => {
    const [a, b] = nodes();
    const token = tokenFile(a.data).add({ scopes: ['query'], project: 'mine' });
    a.service.child.kill('SIGHUP');
    await eventually(async () => {
      const headers = { 'X-API-KEY': token };
      const { status } = await fetch(`${a.service.url}/api/entries/auth_logs`, { headers });
      expect(status).to.equal(200);
    });
    const mine = follow(a, '', '', token);
    const begun = Number((await mine.next()).get('id')) / 1000;
    expect(begun).to.be.within(Date.now() - 60_000, Date.now());
    b.write(line('others'));
    await shows(a, 'others');
    a.write(line('own', { project: 'mine' }));
    const { ids, id } = await mine.until(1);
    expect(ids).to.deep.equal(['own']);
    // When it was stored, and nothing of shipments, whose numbers tell of others.
    expect(id).to.match(/^\d{16}$/);
    mine.leave();
    a.write(line('next', { project: 'mine' }) + line('other'));
    const again = follow(a, '', id, token);
    await again.next();
    expect((await again.until(1)).ids).to.deep.equal(['next']);
    again.leave();
  });

  it('is cut where the server goes away, which the log says, and goes on where it comes back', async () => {
    const [a, b] = nodes();
    const { server } = shared();
    const logged = a.service.log.length;
    const stream = follow(a);
    await stream.next();
    b.write(line('b1'));
    const { id } = await stream.until(1);
    const child = spawn(LAUNCH, ['tail', 'auth_logs', '--json', '--url', a.service.url], {
      env: { PATH: process.env.PATH, TAILPOND_DATA: a.data, TAILPOND_TOKEN: TOKEN },
    });
    const closed = once(child, 'close');
    const [ids, errors]: [string[], string[]] = [[], []];
    createInterface({ input: child.stdout }).on('line', (text) => ids.push(JSON.parse(text).id));
    createInterface({ input: child.stderr }).on('line', (text) => errors.push(text));
    try {
      let written = 1;
      await eventually(() => {
        b.write(line(`b${++written}`));
        expect(ids).not.to.be.empty;
      }, 60_000);
      await server.kill();
      const cut = await stream.until(Infinity).catch((error: Error) => error);
      expect(cut).to.be.an('error');
      await eventually(() => {
        const log = a.service.log.slice(logged);
        expect(log.map(({ msg }) => msg)).to.include('an answer was cut');
        const told = log.find(({ msg }) => String(msg).includes('does not answer questions'));
        expect(told?.msg).to.include(server.url);
      });
      await eventually(() => expect(errors.join('\n')).to.include('was cut'));
      a.write(line('a1'));
      await eventually(() => {
        const refused = a.service.log
          .slice(logged)
          .filter(
            ({ req, res }) =>
              (req as { path?: string })?.path === '/api/tail/auth_logs' &&
              (res as { status?: number })?.status === 503,
          );
        expect(refused).to.have.length.above(1);
      });
      await server.start();
      await eventually(() => expect(ids).to.include('a1'), 90_000);
      const again = follow(a, '', id);
      await again.next();
      const came = [...(await again.until(written)).ids].sort();
      again.leave();
      expect(came).to.deep.equal(
        ['a1', ...Array.from({ length: written - 1 }, (_, i) => `b${i + 2}`)].sort(),
      );
      expect(new Set(ids).size).to.equal(ids.length);
      // While the server was away, nothing went on.
      expect(errors.filter((text) => text.includes('goes on'))).to.have.length(1);
      expect(errors.filter((text) => text.includes('was cut'))).to.have.length(1);
    } finally {
      child.kill('SIGINT');
    }
    expect((await closed)[0]).to.equal(0);
  });
});
