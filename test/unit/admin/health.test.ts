import { expect } from 'chai';
import { checkReady, type Parts } from '../../../server/admin/health.ts';
import { AppError } from '../../../server/errors.ts';

/** Parts of which nothing is wrong, but for these. */
function parts({
  noRoom = null,
  lastError = null,
  probe = async () => {},
  stopped = [],
}: {
  noRoom?: string | null;
  lastError?: string | null;
  probe?: () => Promise<void>;
  stopped?: readonly string[];
}): Parts {
  return {
    store: { probe },
    ingest: { status: () => ({ sources: [], refused: [], noRoom, lastError }) },
    forwarder: {
      status: () =>
        ['auth_logs', 'edge_logs'].map((source) => ({ source, stopped: stopped.includes(source) })),
    },
  } as unknown as Parts;
}

const faultsOf = (given: Parameters<typeof parts>[0]) =>
  checkReady(parts(given)).then(
    () => null,
    (error: AppError) => error,
  );

describe('readiness', () => {
  it('names every condition that is not met, in one order', async () => {
    expect(await faultsOf({})).to.equal(null);
    const cause = new Error('gone');
    const error = await faultsOf({
      lastError: 'ENOSPC: no space left on device',
      probe: async () => {
        throw cause;
      },
      stopped: ['edge_logs', 'auth_logs'],
    });
    expect(error).to.be.instanceOf(AppError).and.to.include({ code: 'UNHEALTHY', cause });
    expect(error?.detail).to.equal(
      'The disk is full: lines cannot be stored at present; the log says why. The store does not answer. Rows of auth_logs are not forwarded any more; the log says why. Rows of edge_logs are not forwarded any more; the log says why.',
    );
    const full = await faultsOf({ noRoom: 'No room.', lastError: 'No room.' });
    expect(full?.detail).to.equal('No room.');
    expect((await faultsOf({ lastError: 'EIO' }))?.detail).to.match(/^Lines cannot be stored/);
  });
});
