import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { WINDOWS } from '../../caller-sql-oracle/dataset.ts';
import { type Event, STRANGE_PROJECT } from '../../caller-sql-oracle/events.ts';
import { OF_ENTRIES, OWN } from '../../caller-sql-oracle/own/index.ts';
import { type Failure, replay, type Target } from '../../caller-sql-oracle/replay.ts';
import { type Request, requestsOf } from '../../caller-sql-oracle/request.ts';
import { withEntries } from '../../caller-sql-oracle/with-entries.ts';
import { whyNoClickHouse, withClickHouse } from '../../clickhouse/server.ts';
import { makeTables } from '../../clickhouse/tables.ts';
import { LONG } from '../../faults/case.ts';
import { withFolder } from '../../support/helpers.ts';
import { missing } from '../../support/missing.ts';
import { opened } from '../../support/opened.ts';
import { SLOW } from '../../support/slow.ts';

/** Requests of Supabase Studio, which are another project's and stand beside this one where they are at hand. */
const FOLDER = join(ROOT, '../shared/studio-queries');

interface Entries {
  readonly target: Target;
  readonly events: readonly Event[];
}

/** The requests are sent in so many tests of one service, so that none takes long. */
const PARTS = 10;
const STUDIOS = existsSync(FOLDER) ? requestsOf(FOLDER) : [];
const REQUESTS = [...OWN, ...STUDIOS];
/** One of so many requests goes to ClickHouse, which takes ten times as long. */
const SAMPLE = LONG ? 1 : 4;

describe(`requests in the dialect of Supabase Studio ${SLOW}`, () => {
  // Each request is asked in one window where rows are settled, and in the other one where they are not.
  asked('answer the right rows, or say what is wrong with them', REQUESTS, 0, withEntries, true);
  asked(
    'answer the same when rows are settled',
    [...Object.values(OF_ENTRIES).flat(), ...STUDIOS],
    1,
    (action) => withEntries(action, { settled: true }),
    false,
  );

  const reason = whyNoClickHouse();
  const forwarded = 'answer the right rows when these are forwarded to ClickHouse';
  if (reason) {
    it(forwarded, function () {
      missing(this, 'ClickHouse', reason);
    });
    return;
  }
  const first = Math.floor(Math.random() * SAMPLE);
  const sample = REQUESTS.filter((_, n) => n % SAMPLE === first);
  asked(
    `${forwarded}, ${first + 1} of ${SAMPLE}`,
    sample,
    first,
    (action) =>
      withFolder((folder) =>
        withClickHouse(folder, async (server) => {
          await makeTables(server);
          return withEntries(action, { clickhouse: server.url });
        }),
      ),
    true,
  );
});

/**
 * Sends requests to one service, which `serve` starts: each in the window of its number, from `first` on, or in all of them in the long form.
 * `withStrange`: also for the project with strange values, of which no answer is known.
 */
function asked(
  title: string,
  requests: readonly Request[],
  first: number,
  serve: (action: (target: Target, events: readonly Event[]) => Promise<void>) => Promise<void>,
  withStrange: boolean,
) {
  describe(title, function () {
    this.timeout(300_000);
    const entries = opened<Entries>((action) =>
      serve((target, events) => action({ target, events })),
    );

    for (let part = 0; part < PARTS; part++)
      it(`in part ${part + 1} of ${PARTS}`, async () => {
        const { target, events } = entries();
        const some = requests.filter((_, n) => n % PARTS === part);
        const { failures } = await replay(target, some, events, (n) =>
          LONG ? WINDOWS : WINDOWS.slice((first + n) % WINDOWS.length).slice(0, 1),
        );
        expect(named(failures)).to.deep.equal([]);
        if (!withStrange) return;
        const strange = await replay({ ...target, project: STRANGE_PROJECT }, some);
        expect(named(strange.failures)).to.deep.equal([]);
      });
  });
}

function named(failures: readonly Failure[]): string[] {
  return failures.map(({ name, message }) => `${name}: ${message}`);
}
