import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Served, withApp, withFolder } from '../support/helpers.ts';
import { edgeLines } from '../support/lines.ts';
import { PROJECTS } from '../support/projects.ts';
import { SLOW } from '../support/slow.ts';
import { LONG } from './case.ts';

/** At least so often each question is asked, and for as long as files come. */
const TIMES = LONG ? 20 : 8;
const FILES = LONG ? 28 : 12;
const LINES = 20_000;
/** Files that are stored before the first question. */
const FIRST = 7;
/** What lies between the entries of two files. */
const SPAN_MS = 3_600_000;
const START = Date.parse('2026-11-01T00:00:00Z');

interface Entry {
  readonly id: string;
  readonly timestamp: number;
}

/** One kind of question, and what its answers must be. */
interface Question {
  readonly path: string;
  /** Entries there are for it, when they do not change: the answer is always the newest 100 of them. */
  readonly settled?: number;
}

const BUSY = PROJECTS[0] as string;
const RARE = 'rare';
const FEW = 'few';
const at = (hours: number) => encodeURIComponent(new Date(START + hours * SPAN_MS).toISOString());

const QUESTIONS: Record<string, Question> = {
  'no bounds': { path: `project=${BUSY}` },
  'an end in the past': { path: `project=${BUSY}&iso_timestamp_end=${at(3)}`, settled: 100 },
  'a start long ago': { path: `project=${BUSY}&iso_timestamp_start=${at(-1000)}` },
  'both bounds in the past': {
    path: `project=${BUSY}&iso_timestamp_start=${at(1)}&iso_timestamp_end=${at(2)}`,
    settled: 100,
  },
  'a project whose entries are old and far apart': { path: `project=${RARE}`, settled: 100 },
  'a project of few entries': { path: `project=${FEW}`, settled: 60 },
};

describe(`the newest entries, under bulk ingest and checkpoints ${SLOW}`, function () {
  this.timeout(300_000);

  it('are all there in every answer of logs.all, newest first', () =>
    withFolder((data) =>
      withApp(data, async (served) => {
        const drop = prepare(data);
        for (let i = 0; i < FIRST; i++) drop();
        await served.lines(FIRST * LINES);

        const tally: Record<string, { answers: number; faults: string[] }> = {};
        const kinds = Object.entries(QUESTIONS);
        let coming = true;
        const isAsked = (kind: string) => (tally[kind]?.answers ?? 0) >= TIMES;
        const ask = async (turn: number) => {
          const last = new Map<string, number>();
          while (coming || !kinds.every(([kind]) => isAsked(kind))) {
            const [kind, question] = kinds[turn++ % kinds.length] as [string, Question];
            const entries = await answer(served, question.path);
            tally[kind] ??= { answers: 0, faults: [] };
            const { faults } = tally[kind];
            tally[kind].answers++;
            const wanted = question.settled ?? 100;
            if (entries.length !== wanted) faults.push(`${entries.length} rows`);
            else if (
              entries.some((entry, i) => entry.timestamp > (entries[i - 1]?.timestamp ?? Infinity))
            )
              faults.push('not newest first');
            const oldest = entries.at(-1)?.timestamp ?? 0;
            const before = last.get(kind) ?? oldest;
            // Entries only ever become newer; those of the past stay as they are.
            if (entries.length > 0) {
              if (question.settled ? oldest !== before : oldest < before)
                faults.push('other entries than before');
              last.set(kind, oldest);
            }
          }
        };
        const bulk = async () => {
          for (let i = FIRST; i < FILES; i++) {
            drop();
            // A pause is long enough for the checkpoint of an idle service, every third time.
            await delay(i % 3 === 0 ? 1000 : 300);
          }
          coming = false;
        };
        await Promise.all([bulk(), ask(0), ask(1), ask(2), ask(4)]);

        for (const kind of Object.keys(QUESTIONS)) {
          const { answers, faults } = tally[kind] ?? { answers: 0, faults: [] };
          console.log(`      ${kind}: ${answers} answers, ${faults.length} wrong`);
        }
        for (const [kind, { faults }] of Object.entries(tally))
          expect(faults, kind).to.deep.equal([]);
        // All of them were asked beside files that were stored.
        await served.lines(FILES * LINES);
      }),
    ));
});

async function answer(served: Served, query: string): Promise<Entry[]> {
  const { status, body } = await served.get(`/api/endpoints/query/logs.all?${query}`);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.result;
}

/** Makes the files beside the drop folder; each call moves the next one in, whole. */
function prepare(data: string): () => void {
  const [made, dropped] = [join(data, 'made'), join(data, 'logs', 'edge_logs')];
  mkdirSync(made, { recursive: true });
  for (let number = 0; number < FILES; number++) {
    const lines = [
      ...edgeLines(LINES, { seed: number, end: START + (number + 1) * SPAN_MS, spanMs: SPAN_MS }),
    ];
    // 140 entries of one project, 60 of another, all in the first files.
    if (number < FIRST) {
      for (let i = 0; i < 20; i++) rename(lines, i * 997, RARE);
      for (let i = 0; i < (number < 6 ? 10 : 0); i++) rename(lines, i * 997 + 1, FEW);
    }
    writeFileSync(join(made, `${number}.ndjson`), `${lines.join('\n')}\n`);
  }
  let next = 0;
  return () => {
    const name = `${next++}.ndjson`;
    renameSync(join(made, name), join(dropped, name));
  };
}

function rename(lines: string[], index: number, project: string) {
  lines[index] = (lines[index] as string).replace(/"project":"[^"]*"/, `"project":"${project}"`);
}
