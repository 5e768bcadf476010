import { expect } from 'chai';
import { type Served, TOKEN, withApp, withFolder } from '../support/helpers.ts';
import { randomOf } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

const RUN = 30_720;
/** A condition that names the part of a block that has a text, and a few at most that only seem to. */
const FEW = /or text_block in \(\d+(?:, \d+){0,3}\)\)$/;
/** Two runs that are settled, and rows behind them. */
const ROWS = 2 * RUN + 1000;

interface Line {
  readonly id: string;
  readonly event_message: string;
  readonly metadata: object;
}

function lines(): Line[] {
  const { hex, below } = randomOf(5);
  return Array.from({ length: ROWS }, (_, i) => ({
    id: String(i),
    project: 'p',
    // From the second run on, by the Kelvin sign, which is a k to whoever does not mind letter case.
    event_message: `request ${hex(16)} of the ${i < RUN ? 'task' : 'tas\u212a'}-processing queue ${below(9)}`,
    metadata: { request: { search: `?token=${hex(12)}`, n: below(1e6) } },
  }));
}

function tokenOf(line: Line | undefined): string {
  return JSON.stringify(line?.metadata).replace(/.*token=([^"]*).*/, '$1');
}

/** The line as a shipper may write it: every other one with escapes, and a number in another form. */
function written(line: Line, i: number): string {
  const text = JSON.stringify(line).replace('"request":{', '"request":{"size":1e9,');
  return `${i % 2 === 0 ? text.replaceAll(/(?<=token=....)./g, escaped) : text}\n`;
}

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}

async function search({ http }: Served, kind: string, query: Record<string, string>) {
  const { body, status } = await http
    .get(query.sql === undefined ? `/api/${kind}/auth_logs` : `/api/${kind}`)
    .query(query)
    .set('X-API-KEY', TOKEN);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.result as Record<string, unknown>[];
}

describe('a search', () => {
  it(`finds what stands in messages and metadata, wherever it is settled ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const all = lines();
        served.write('auth_logs/a.ndjson', all.map((line) => `${JSON.stringify(line)}\n`).join(''));
        await served.lines(ROWS, 'auth_logs');
        const settle = async () => {
          while ((await store.settling.settle('auth_logs'))?.rows);
        };
        await settle();
        const texts = all.map(({ event_message: message, metadata }) => [
          message,
          JSON.stringify(metadata),
        ]);
        const sought = [0, RUN - 1, RUN, 2 * RUN - 1, 2 * RUN, ROWS - 1].flatMap((i) => {
          const { event_message: message, metadata } = all[i] as Line;
          const word = message.split(' ')[1] as string;
          const token = JSON.stringify(metadata).slice(22, 40);
          return [word, word.toUpperCase(), word.slice(3, 13), word.slice(0, 6), token, message];
        });
        for (const text of [...sought, 'ffffffffffffffff', 'nowhere at all', 'x']) {
          const folded = new RegExp(text.replaceAll(/[?\\.]/g, '\\$&'), 'iu');
          const expected = all.filter((_, i) => texts[i]?.some((each) => folded.test(each)));
          const found = await search(served, 'entries', { search: text, limit: '1000' });
          expect(found.map(({ id }) => id).sort(), text).to.deep.equal(
            expected.map(({ id }) => id).sort(),
          );
        }
        // By a word that only one of two settled runs has, or another.
        const [first = '', second = '', last = ''] = [3, RUN + 3, ROWS - 1].map(
          (i) => all[i]?.event_message.split(' ')[1],
        );
        for (const [q, ids] of [
          [`${first} OR ${second}`, [3, RUN + 3]],
          [`${second} OR ${last} OR nowhere`, [RUN + 3, ROWS - 1]],
          [`(${first} OR nowhere) -${second}`, [3]],
          [`${first} (${second} OR ${last})`, []],
        ] as const) {
          const found = await search(served, 'entries', { q, limit: '10' });
          expect(found.map(({ id }) => id).sort(), q).to.deep.equal(ids.map(String).sort());
        }
        // Words of few letters, whole ones only.
        for (const i of [0, RUN + 1, ROWS - 1]) {
          const { n } = JSON.parse(JSON.stringify(all[i]?.metadata)).request as { n: number };
          const word = new RegExp(`(?<!\\w)${n}(?!\\w)`);
          const expected = all.filter((_, at) => texts[at]?.some((each) => word.test(each)));
          const found = await search(served, 'entries', { q: String(n), limit: '1000' });
          expect(found.map(({ id }) => id).sort(), `${n}`).to.deep.equal(
            expected.map(({ id }) => id).sort(),
          );
        }
        for (const text of ['of the TASK-PROCESSING queue', 'the tas\u212a-processing queue']) {
          const bounds = { from: '2020-01-01T00:00:00Z', to: '2040-01-01T00:00:00Z' };
          const buckets = await search(served, 'histogram', { search: text, ...bounds });
          const sum = buckets.reduce((total, { entries }) => total + Number(entries), 0);
          expect(sum, text).to.equal(ROWS);
        }
      }),
    ));

  it(`by SQL of callers finds the same, whatever the condition is made of ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const all = lines();
        served.write('auth_logs/a.ndjson', all.map(written).join(''));
        await served.lines(ROWS, 'auth_logs');
        const word = (i: number) => all[i]?.event_message.split(' ')[1] as string;
        const [first, second, last] = [word(3), word(RUN + 3), word(ROWS - 1)];
        const [own, other] = [tokenOf(all[4]), tokenOf(all[RUN + 4])];
        const conditions = [
          `regexp_contains(event_message, r'\\b${first}\\b')`,
          `regexp_contains(event_message, '(?i)${second.toUpperCase()}')`,
          `regexp_contains(event_message, '^request ${second}.of the tas')`,
          `regexp_contains(event_message, '${first}|${second}')`,
          `regexp_contains(event_message, '${first}?') and not regexp_contains(event_message, '${second}')`,
          `event_message like '%${last}%'`,
          `event_message like 'request ${second}%queue _'`,
          `event_message like '%${first.toUpperCase()}%' or id = '9'`,
          `event_message not like '%processing queue%'`,
          `regexp_contains(event_message, '${first}') and event_message like '%${second}%'`,
          `lower(event_message) like '%${second}%'`,
          `event_message ilike '%${second.toUpperCase()}%'`,
          `regexp_contains(event_message, r'${first.slice(0, 8)}\\x${first.charCodeAt(8).toString(16)}${first.slice(9)}')`,
          `metadata.request.search = '?token=${own}'`,
          `'?token=${other}' = metadata.request.search`,
          `metadata.request.search like '%${other}' and metadata.request.n is not null`,
          `regexp_contains(metadata.request.search, '${own}') or metadata.request.search = '?token=${other}'`,
          `metadata.request.search <> '?token=${own}' and event_message like '%${word(4)}%'`,
          `metadata.request.size = '1000000000.0' and event_message like '%${word(5)}%'`,
        ];
        const statements = conditions.flatMap((condition) => [
          `select id from auth_logs where ${condition} order by timestamp desc, id limit 100`,
          `select count(*) as n, min(m.request.n) as least from auth_logs t cross join unnest(t.metadata) as m where ${condition}`,
          `select t.id, r.search from auth_logs t cross join unnest(t.metadata) as m cross join unnest(m.request) as r where ${condition.replaceAll('metadata.request', 'r')} order by t.id limit 3`,
        ]);
        statements.push(
          `select count(t.id) as n, count(u.id) as m from auth_logs u left join auth_logs t on t.id = u.id and t.event_message like '%${first}%' where u.id in ('3', '4')`,
        );
        const answers = async () => {
          const found: unknown[] = [];
          for (const sql of statements)
            found.push([
              sql,
              await search(served, 'endpoints/query/logs.all', { project: 'p', sql }),
            ]);
          return found;
        };
        const before = await answers();
        expect(JSON.stringify(before)).to.include('[{"id":"3"}]').and.include('"n":1,');
        while ((await store.settling.settle('auth_logs'))?.rows);
        expect(await answers()).to.deep.equal(before);
      }),
    ));

  it(`passes over blocks that cannot have the text, and over no row that is stored or settled later ${SLOW}`, () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const { store } = served;
        const all = lines();
        const write = (from: number, until: number) =>
          served.write('auth_logs/a.ndjson', all.slice(from, until).map(written).join(''));
        const mayHave = (text: string, isEscaped = false, isWord = false) =>
          store.mayHave('auth_logs', [{ text, escaped: isEscaped, begins: isWord, ends: isWord }]);
        const word = (i: number) => all[i]?.event_message.split(' ')[1] as string;
        const count = async (text: string, condition: string | null) => {
          const sql = `select count(*) from auth_logs where contains(event_message, '${text}') and ${condition}`;
          return Number((await store.query(sql, {}, { maxRows: 1 })).rows[0]?.[0]);
        };
        expect(await mayHave(word(0))).to.equal(null);
        write(0, RUN + 500);
        await served.lines(RUN + 500, 'auth_logs');
        await store.settling.settle('auth_logs');
        const early = await mayHave(word(ROWS - 1));
        expect(early, 'no block has it').to.match(/^\(text_block is null or text_block > \d+\)$/);
        expect(await count(word(0), early)).to.equal(0);
        write(RUN + 500, ROWS);
        await served.lines(ROWS, 'auth_logs');
        expect(await count(word(ROWS - 1), early)).to.equal(1);
        await store.settling.settle('auth_logs');
        expect(await count(word(2 * RUN - 1), early)).to.equal(1);
        const late = await mayHave(word(2 * RUN - 1));
        expect(late).to.match(FEW);
        expect(await count(word(2 * RUN - 1), late)).to.equal(1);
        for (const i of [0, 1, RUN + 2, RUN + 3])
          expect(await mayHave(tokenOf(all[i]), true)).to.match(FEW);
        for (const word of ['f'.repeat(12), 'nowhere', 'q'])
          expect(await mayHave(word, true, true), word).not.to.match(/(?:, \d+){4}/);
        for (const i of [0, RUN + 2])
          expect(await mayHave(`${word(i)}`.toUpperCase(), false, true)).to.match(FEW);
      }),
    ));
});
