import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ERRORS } from '../../server/errors.ts';
import { ROOT } from '../../server/root.ts';
import { STRANGE_PROJECT } from '../studio/events.ts';
import { OWN } from '../studio/own/index.ts';
import { withEntries } from '../studio/pond.ts';
import { type Failure, replay } from '../studio/replay.ts';
import { type Request, requestsOf } from '../studio/request.ts';

/** Requests of Supabase Studio, which are another project's and stand beside this one where they are at hand. */
const FOLDER = join(ROOT, '../shared/studio-queries');

// Without consumer SQL there is nothing to hold requests against.
if ('SQL_INVALID' in ERRORS) {
  describe('requests in the dialect of Supabase Studio', () => {
    it('answer the right rows, or say what is wrong with them', () => hold(OWN));

    it('are answered whatever values the entries hold', () =>
      withEntries(async (target) => {
        const { failures } = await replay({ ...target, project: STRANGE_PROJECT }, OWN);
        expect(failures.map(told)).to.deep.equal([]);
      }));

    if (existsSync(FOLDER))
      it('answer the right rows when Studio itself sends them', () => hold(requestsOf(FOLDER)));
  });
}

async function hold(requests: readonly Request[]): Promise<void> {
  const { failures } = await withEntries((target, events) => replay(target, requests, events));
  expect(failures.map(told)).to.deep.equal([]);
}

function told({ name, message }: Failure): string {
  return `${name}: ${message}`;
}
