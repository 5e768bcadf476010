// Asks search queries of the store in argv[2], argv[3] times each, beside the same SQL by hand, and prints what it took as JSON.
import { join } from 'node:path';
import { ROOT } from '../../server/config/package-root.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { boundsOf } from '../../server/explore/engine.ts';
import { filterOf } from '../../server/explore/filter.ts';
import { histogram } from '../../server/explore/histogram.ts';
import { storeEntries } from '../../server/explore/store-entries.ts';
import { openStore } from '../../server/store/index.ts';
import type { Searched } from './results.ts';

const [, , folder = '', runs = ''] = process.argv;
const store = await openStore({
  folder,
  sql: join(ROOT, 'sql'),
  memory: 1e9,
  maxLine: 1 << 20,
  minFree: 0,
  onFatal(error) {
    throw error;
  },
});
const engine = storeEntries(store);
/** No question takes as long. */
const hour = () => deadlineIn(3_600_000);
const HOUR_US = 3_600_000_000;
const { rows: asked } = await store.query(
  `select min(timestamp)::varchar, (max(timestamp) + interval 1 second)::varchar,
    min(regexp_extract(event_message, '^[A-Z]+ . \\d+ . [\\d.]+ . (\\w+)', 1))
  from edge_logs`,
  {},
  { maxRows: 1, deadline: hour() },
);
const [from = '', to = '', word = ''] = (asked[0] ?? []).map(String);

/** Each as it is asked, and as somebody writes it who knows DuckDB. */
const QUESTIONS: readonly (readonly [q: string, where: string])[] = [
  ['status:>=500', 'status >= 500'],
  ['path:/rest/*', `starts_with(path, '/rest/')`],
  [
    'todos',
    `(regexp_matches(event_message, '(?i)\\btodos\\b') or regexp_matches(metadata::varchar, '(?i)\\btodos\\b'))`,
  ],
  [
    word,
    `(regexp_matches(event_message, '(?i)\\b${word}\\b') or regexp_matches(metadata::varchar, '(?i)\\b${word}\\b'))`,
  ],
  ['request.cf.country:DE', `(metadata ->> '$.request.cf.country') = 'DE'`],
  [
    'status:5xx path:/auth/* -request.method:GET',
    `status between 500 and 599 and starts_with(path, '/auth/') and (metadata ->> '$.request.method') <> 'GET'`,
  ],
];

const time = async <T>(action: () => Promise<T>) => {
  const begin = performance.now();
  const result = await action();
  return { result, ms: performance.now() - begin };
};

const questions: Searched['questions'][number][] = [];
for (const [q, where] of QUESTIONS) {
  const [handMs, ownMs, found]: [number[], number[], number[]] = [[], [], []];
  for (let run = 0; run < Number(runs); run++) {
    const hand = await time(() =>
      store.callerPool.query(
        `select time_bucket(to_microseconds(${HOUR_US}), timestamp) as bucket, count(*) as entries
          from edge_logs where timestamp >= '${from}' and timestamp < '${to}' and ${where} group by bucket order by bucket`,
        {},
        { maxRows: 10_000, deadline: hour() },
      ),
    );
    const bounds = { from: iso(from), to: iso(to) };
    const own = await time(async () => {
      const values = { project: null, search: null, q, ...bounds, ...boundsOf(bounds) };
      const filter = await filterOf('edge_logs', values, store, engine, hour());
      return histogram([filter], { most: 500, graded: false }, engine, hour());
    });
    handMs.push(hand.ms);
    ownMs.push(own.ms);
    const sums = [
      hand.result.rows.reduce((sum, [, entries]) => sum + Number(entries), 0),
      own.result.buckets.reduce((sum, { entries }) => sum + entries, 0),
    ];
    if (sums[0] !== sums[1]) throw new Error(`${q} finds ${sums[1]}, ${where} ${sums[0]}`);
    found.push(sums[0] ?? 0);
  }
  questions.push({ name: q, entries: found[0] ?? 0, handMs, ownMs });
}
await store.shutdown();
console.log(JSON.stringify(questions));

function iso(text: string): string {
  return `${text.replace(' ', 'T')}Z`;
}
