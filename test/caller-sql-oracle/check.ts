import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../server/config/package-root.ts';
import { STRANGE_PROJECT } from './events.ts';
import { OWN } from './own/index.ts';
import { type Report, replay } from './replay.ts';
import { requestsOf } from './request.ts';
import { withEntries } from './with-entries.ts';

const HELP = `npm run studio:check -- [folder] [options]

Sends every *.sql of a folder to logs.all as its parameter sql, and prints what fails. Without --url the service is
started on entries that are made for it; then the rows are checked too, and the requests of test/caller-sql-oracle/own, and whether
strange values are borne.

  folder         ../shared/studio-queries without it
  --url URL      of a service that runs already, with entries of its own
  --token T      its access token
  --project P    whose entries are asked for (default)
  --seed N       other entries (1), when the service is started here
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    token: { type: 'string', default: '' },
    project: { type: 'string', default: 'default' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(HELP);
else process.exitCode = (await run()) ? 0 : 1;

async function run(): Promise<boolean> {
  const requests = requestsOf(positionals[0] ?? join(ROOT, '../shared/studio-queries'));
  const { url, token, project } = values;
  if (url) return print('', await replay({ url, token, project }, requests));
  return withEntries(
    async (target, events) => {
      const studio = print('', await replay(target, requests, events));
      const own = print('own: ', await replay(target, OWN, events));
      const strange = { ...target, project: STRANGE_PROJECT };
      const borne = print('strange values: ', await replay(strange, [...requests, ...OWN]));
      return studio && own && borne;
    },
    { seed: Number(values.seed) },
  );
}

/** Prints the failures, and the counts behind them; gives whether all is well. */
function print(title: string, report: Report): boolean {
  const { failures, ran, total, right, known, refused, refusable } = report;
  for (const { name, message } of failures) console.log(`${name}: ${message}`);
  console.log(
    `${title}ran ${ran}/${total}, right ${right}/${known}, refused ${refused}/${refusable}`,
  );
  return failures.length === 0;
}
