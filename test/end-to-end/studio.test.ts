import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ERRORS } from '../../server/errors.ts';
import { ROOT } from '../../server/root.ts';
import { DIFFERENCES } from '../studio/differences.ts';
import { STRANGE_PROJECT } from '../studio/events.ts';
import { EXPECTED } from '../studio/expected/index.ts';
import { OWN } from '../studio/own/index.ts';
import { withEntries } from '../studio/pond.ts';
import { type Failure, replay } from '../studio/replay.ts';
import { requestsOf } from '../studio/request.ts';

/** Requests of Supabase Studio, which are another project's and stand beside this one where they are at hand. */
const FOLDER = join(ROOT, '../shared/studio-queries');

// Without consumer SQL there is nothing to hold requests against.
if ('SQL_INVALID' in ERRORS) {
  describe('requests in the dialect of Supabase Studio', function () {
    this.timeout(300_000);

    it('answer the right rows, or say what is wrong with them', () =>
      withEntries(async (target, events) => {
        const { failures } = await replay(target, OWN, events);
        expect(unknown(failures)).to.deep.equal([]);
        const failed = new Set(failures.map(({ name }) => name));
        const mended = [...DIFFERENCES].filter((name) => !failed.has(name) && !(name in EXPECTED));
        expect(mended, 'no difference any more').to.deep.equal([]);
      }));

    it('are answered whatever values the entries hold', () =>
      withEntries(async (target) => {
        const { failures } = await replay({ ...target, project: STRANGE_PROJECT }, OWN);
        expect(unknown(failures)).to.deep.equal([]);
      }));

    if (existsSync(FOLDER))
      it('answer the right rows when Studio itself sends them', () =>
        withEntries(async (target, events) => {
          const { failures } = await replay(target, requestsOf(FOLDER), events);
          expect(unknown(failures)).to.deep.equal([]);
        }));
  });
}

/** The failures that are not known as differences from BigQuery. */
function unknown(failures: readonly Failure[]): string[] {
  return failures
    .filter(({ name }) => !DIFFERENCES.has(name))
    .map(({ name, message }) => `${name}: ${message}`);
}
