// Asks the questions of questions.ts of the store in argv[2], argv[3] times each, and prints what it took as JSON.
import { join } from 'node:path';
import { translate } from '../../server/caller-sql/index.ts';
import { ROOT } from '../../server/config/package-root.ts';
import { deadlineIn } from '../../server/deadline.ts';
import { createCallerSql, PARSE } from '../../server/endpoints/caller-sql.ts';
import { loadEndpoints } from '../../server/endpoints/registry.ts';
import { openStore } from '../../server/store/index.ts';
import { nthProject } from '../support/projects.ts';
import { QUESTIONS } from './questions.ts';
import type { OwnSql } from './results.ts';
import { latency } from './statistics.ts';

const MAX_ROWS = 1000;
/** What reading and writing anew takes is asked this often, of each question. */
const TRANSLATIONS = 20;

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
const list = (await loadEndpoints([join(ROOT, 'sql/endpoints')], store)).find('logs.all');
if (!list) throw new Error('BUG: logs.all is not there');
const values = {
  project: nthProject(0),
  any_project: 'false',
  iso_timestamp_start: null,
  iso_timestamp_end: null,
};
const callerSql = createCallerSql(store);
/** No question takes as long. */
const hour = () => deadlineIn(3_600_000);

const time = async (action: () => Promise<unknown>) => {
  const begin = performance.now();
  await action();
  return performance.now() - begin;
};
/** The view, as a table that a statement by hand can name. */
const byHand = (source: string, sql: string) =>
  `with entries as (select id, timestamp, event_message, metadata from main.${source} where project = $project::varchar) ${sql}`;
const parse = async (text: string) =>
  String(
    (await store.callerPool.query(PARSE, { text }, { maxRows: 1, deadline: hour() })).rows[0]?.[0],
  );

const questions: OwnSql['questions'][number][] = [];
for (const { name, source, own, hand } of QUESTIONS) {
  const asked = { text: own, dialect: 'bigquery' } as const;
  const [handMs, ownMs, translateMs]: [number[], number[], number[]] = [[], [], []];
  for (let run = 0; run < Number(runs); run++) {
    const sql = byHand(source, hand);
    handMs.push(
      await time(() =>
        store.query(sql, { project: values.project }, { maxRows: MAX_ROWS, deadline: hour() }),
      ),
    );
    ownMs.push(await time(() => callerSql.run({ asked, query: list, values, deadline: hour() })));
  }
  const world = {
    dialect: 'bigquery',
    views: await list.views(),
    parameters: new Map(),
    maxRows: MAX_ROWS,
  } as const;
  for (let n = 0; n < TRANSLATIONS; n++)
    translateMs.push(await time(() => translate(own, world, parse)));
  questions.push({ name, handMs, ownMs, translate: latency(translateMs) });
}
await store.shutdown();
console.log(JSON.stringify({ questions } satisfies OwnSql));
