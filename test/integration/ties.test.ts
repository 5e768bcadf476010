import { expect } from 'chai';
import { type Served, withApp, withFolder } from '../support/helpers.ts';
import { seeded } from '../support/random.ts';
import { SLOW } from '../support/slow.ts';

interface Line {
  readonly source: string;
  readonly id: string;
  readonly timestamp: string;
  readonly event_message: string;
}

const SOURCES = ['edge_logs', 'auth_logs', 'app_logs'];

/** Lines of two moments. Each third one has the id of the one before, as where shippers send the ids of requests. */
const LINES: readonly Line[] = Array.from({ length: 390 }, (_, i) => ({
  source: SOURCES[Math.floor(i / 3) % 3] ?? '',
  id: `i${String((i % 3 === 2 ? i - 1 : i) * 7919).slice(-3)}-${i % 3 === 2 ? i - 1 : i}`,
  timestamp: `2026-08-21T12:00:0${i % 13 === 0 ? 1 : 0}.123456Z`,
  event_message: `m${i}`,
}));

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const newestFirst = (a: Line, b: Line) =>
  compare(b.timestamp, a.timestamp) ||
  compare(a.source, b.source) ||
  compare(a.id, b.id) ||
  compare(a.event_message, b.event_message);

const QUESTIONS = [
  '/api/endpoints/query/logs.all?project=p',
  '/api/endpoints/query/logs.all.otel?project=p',
  '/api/entries/edge_logs?limit=70',
  '/api/entries/edge_logs?limit=70&q=project:p',
  '/api/entries/*?limit=200',
  '/api/entries/app_logs,edge_logs?limit=140&to=2026-08-21T12:00:00.123457Z',
];

/** Stores the lines in an order of its own, a part after the other. */
async function store(served: Served, seed: number) {
  const random = seeded(seed);
  const shuffled = LINES.map((line) => ({ line, at: random() })).sort((a, b) => a.at - b.at);
  const counts = new Map<string, number>();
  for (const part of [shuffled.slice(0, 200), shuffled.slice(200)])
    for (const source of SOURCES) {
      const own = part.map(({ line }) => line).filter((line) => line.source === source);
      const text = own.map(
        ({ source: _, ...line }) => `${JSON.stringify({ ...line, project: 'p' })}\n`,
      );
      served.write(`${source}/a.ndjson`, text.join(''));
      counts.set(source, (counts.get(source) ?? 0) + own.length);
      await served.lines(counts.get(source) ?? 0, source as 'edge_logs');
    }
}

async function answers({ get }: Served) {
  const all: { etag: string; text: string }[] = [];
  for (const path of QUESTIONS) {
    const { status, headers, text } = await get(path);
    expect(status, `${path}: ${text}`).to.equal(200);
    // When each was stored is another moment each time.
    const told = text.replaceAll(/"ingested_at":"[^"]*"/g, '"ingested_at":""');
    all.push({ etag: path.includes('entries') ? '' : (headers.etag ?? ''), text: told });
  }
  return all;
}

describe('entries of one timestamp', () => {
  it(`come in one order, by source and id, however they were stored, after a restart and after settling ${SLOW}`, () =>
    withFolder((first) =>
      withFolder(async (second) => {
        const before = await withApp(first, async (served) => {
          await store(served, 1);
          return answers(served);
        });
        expect(await withApp(first, answers)).to.deep.equal(before);
        const others = await withApp(second, async (served) => {
          await store(served, 2);
          for (const source of SOURCES) await served.store.settling.settle(source, 1);
          return answers(served);
        });
        expect(others).to.deep.equal(before);
        const sorted = LINES.toSorted(newestFirst);
        const edge = sorted.filter(({ source }) => source === 'edge_logs');
        const two = sorted.filter(
          ({ source, timestamp }) => source !== 'auth_logs' && timestamp.includes(':00.'),
        );
        const expected = [
          edge.slice(0, 100),
          sorted.slice(0, 100),
          edge.slice(0, 70),
          edge.slice(0, 70),
          sorted.slice(0, 200),
          two.slice(0, 140),
        ];
        for (const [i, { text }] of before.entries()) {
          const { result } = JSON.parse(text) as { result: Line[] };
          expect(
            result.map((entry) => entry.event_message),
            QUESTIONS[i],
          ).to.deep.equal(expected[i]?.map((line) => line.event_message));
        }
      }),
    ));
});
