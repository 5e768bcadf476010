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
import { SAMPLE_SEED, sampleOf } from '../../support/sample.ts';
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
/** One of so many requests is asked of settled rows, … */
const SETTLED_SAMPLE = LONG ? 1 : 2;
/** … goes to ClickHouse, which takes ten times as long, … */
const FORWARDED_SAMPLE = LONG ? 1 : 6;
/** … and is sent for the project with strange values, too. */
const STRANGE_SAMPLE = LONG ? 1 : 3;

describe(`requests in the dialect of Supabase Studio, TAILPOND_TEST_SEED=${SAMPLE_SEED} ${SLOW}`, () => {
  asked('answer the right rows, or say what is wrong with them', REQUESTS, withEntries, {
    withStrange: true,
  });
  asked(
    'answer the same when rows are settled',
    sampleOf([...Object.values(OF_ENTRIES).flat(), ...STUDIOS], SETTLED_SAMPLE),
    (action) => withEntries(action, { settled: true }),
    { withStrange: false },
  );

  const reason = whyNoClickHouse();
  const forwarded = 'answer the right rows when these are forwarded to ClickHouse';
  if (reason) {
    it(forwarded, function () {
      missing(this, 'ClickHouse', reason);
    });
    return;
  }
  asked(
    forwarded,
    sampleOf(REQUESTS, FORWARDED_SAMPLE),
    (action) =>
      withFolder((folder) =>
        withClickHouse(folder, async (server) => {
          await makeTables(server);
          return withEntries(action, { clickhouse: server.url });
        }),
      ),
    { withStrange: true },
  );
});

/**
 * Sends requests to one service, which `serve` starts: each in one of the windows, or in all of them in the long form. `withStrange`: some
 * also for the project with strange values, of which no answer is known.
 */
function asked(
  title: string,
  requests: readonly Request[],
  serve: (action: (target: Target, events: readonly Event[]) => Promise<void>) => Promise<void>,
  { withStrange }: { readonly withStrange: boolean },
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
          LONG ? WINDOWS : WINDOWS.slice((SAMPLE_SEED + n) % WINDOWS.length).slice(0, 1),
        );
        expect(named(failures)).to.deep.equal([]);
        if (!withStrange) return;
        const strange = await replay(
          { ...target, project: STRANGE_PROJECT },
          sampleOf(some, STRANGE_SAMPLE),
        );
        expect(named(strange.failures)).to.deep.equal([]);
      });
  });
}

function named(failures: readonly Failure[]): string[] {
  return failures.map(({ name, message }) => `${name}: ${message}`);
}
