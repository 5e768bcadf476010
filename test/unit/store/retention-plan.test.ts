import { expect } from 'chai';
import fc from 'fast-check';
import { allSources, type Source } from '../../../ingest/index.ts';
import type { Limits } from '../../../server/store/index.ts';
import {
  FLOOR_MS,
  plan,
  RAGGED_MS,
  type RetentionSegment,
  type RowGroup,
} from '../../../server/store/retention/plan.ts';
import { keep, size, unlimited } from '../../support/helpers.ts';
import { DAY, HOUR } from '../../support/simulated-store.ts';

const NOW = Date.UTC(2026, 5, 1);

/** A part whose row groups were stored at these moments, each given by its newest and oldest stamp. */
function part(
  stamps: readonly (number | [number, number])[],
  of: { source?: Source; kind?: RetentionSegment['kind']; bytes?: number } = {},
): RetentionSegment {
  const { source = 'edge_logs', kind = 'rows', bytes = 100 } = of;
  const groups = stamps.map((stamp, i): RowGroup => {
    const [oldestMs, newestMs] = typeof stamp === 'number' ? [stamp, stamp] : stamp;
    return { rows: 10, bytes, oldestMs, newestMs, until: 10 * (i + 1) };
  });
  return { source, kind, groups };
}

const now = { wallMs: NOW, trustedMs: NOW };
const ago = (ms: number) => NOW - ms;

describe('the plan of retention', () => {
  /** The plan, as "source kind why until", and "~" behind a cut within a row group. */
  function check(
    parts: RetentionSegment[],
    limits: Limits,
    expected: string[],
    moment = now,
    used = parts.flatMap(({ groups }) => groups).reduce((sum, { bytes }) => sum + bytes, 0),
  ) {
    const steps = plan(parts, used, limits, moment).map(
      ({ source, kind, why, group, cutoffMs }) =>
        `${source} ${kind} ${why} ${group.until}${cutoffMs === null ? '' : '~'}`,
    );
    expect(steps).to.deep.equal(expected);
  }

  it('removes row groups whose newest row has expired, oldest first over all sources', () => {
    const days = (...list: number[]) => list.map((day) => ago(day * DAY));
    check(
      [
        part(days(10, 8, 6)),
        part(days(9, 3), { source: 'auth_logs' }),
        part(days(12, 1), { source: 'auth_logs', kind: 'rejected' }),
      ],
      keep(7 * DAY),
      [
        'auth_logs rejected age 10',
        'edge_logs rows age 10',
        'auth_logs rows age 10',
        'edge_logs rows age 20',
      ],
    );
  });

  it('has an age for each source, and none where it is off', () => {
    const parts = allSources().map((source) => part([ago(20 * DAY), ago(10 * DAY)], { source }));
    const limits = keep(Infinity, { edge_logs: 15 * DAY, postgres_logs: 5 * DAY });
    check(parts, limits, [
      'edge_logs rows age 10',
      'postgres_logs rows age 10',
      'postgres_logs rows age 20',
    ]);
    check(parts, unlimited(), []);
  });

  it('cuts into a row group when its first rows expired nearly a day ago, and not before', () => {
    const limits = keep(7 * DAY);
    check([part([[ago(7 * DAY + RAGGED_MS + 1), NOW]])], limits, ['edge_logs rows age 10~']);
    check([part([[ago(7 * DAY + RAGGED_MS), NOW]])], limits, []);
    check([part([ago(9 * DAY), [ago(9 * DAY), NOW]])], limits, [
      'edge_logs rows age 10',
      'edge_logs rows age 20~',
    ]);
  });

  it('removes the oldest row groups while there are more bytes than allowed', () => {
    const parts = [
      part([ago(5 * HOUR), ago(3 * HOUR), NOW]),
      part([ago(4 * HOUR), ago(2 * HOUR), NOW], { source: 'auth_logs' }),
    ];
    check(parts, size(600), []);
    check(parts, size(599), ['edge_logs rows size 10']);
    check(parts, size(350), [
      'edge_logs rows size 10',
      'auth_logs rows size 10',
      'edge_logs rows size 20',
    ]);
  });

  it('takes away from what has more bytes than its source may have, rejected lines included', () => {
    const parts = [
      part([ago(5 * HOUR), ago(3 * HOUR)]),
      part([ago(4 * HOUR)], { kind: 'rejected' }),
      part([ago(9 * HOUR)], { source: 'auth_logs' }),
    ];
    check(parts, size(Infinity, { edge_logs: 100 }), [
      'edge_logs rows size 10',
      'edge_logs rejected size 10',
    ]);
  });

  it('counts what goes by age before it looks at the size', () => {
    const limits = { ...size(100), keepMs: keep(DAY).keepMs };
    check([part([ago(2 * DAY), ago(HOUR * 2)])], limits, ['edge_logs rows age 10']);
  });

  it('never removes what was stored within the last hour', () => {
    const parts = [part([ago(HOUR + 1), ago(HOUR), ago(1), NOW])];
    check(parts, size(0), ['edge_logs rows size 10']);
    check(parts, keep(0), ['edge_logs rows age 10']);
  });

  it('keeps rows that were stored while the clock was behind as long as their neighbours', () => {
    const never = Date.UTC(1970, 0, 1);
    const limits = keep(7 * DAY);
    check([part([ago(DAY), never, ago(HOUR)])], limits, []);
    check([part([never, ago(HOUR)])], limits, []);
    check([part([ago(2 * DAY), ago(90 * DAY), ago(DAY)])], limits, []);
    check([part([ago(9 * DAY), never, ago(8 * DAY), ago(DAY)])], limits, [
      'edge_logs rows age 10',
      'edge_logs rows age 20',
      'edge_logs rows age 30',
    ]);
  });

  it('lets rows of the future go with those behind them, neither later nor earlier', () => {
    const future = NOW + 365 * DAY;
    const limits = keep(7 * DAY);
    check([part([ago(9 * DAY), future, ago(8 * DAY), ago(DAY)])], limits, [
      'edge_logs rows age 10',
      'edge_logs rows age 20',
      'edge_logs rows age 30',
    ]);
    check([part([ago(9 * DAY), future, ago(DAY)])], limits, ['edge_logs rows age 10']);
    check([part([future, future])], size(0), []);
  });

  it('removes nothing on the word of a clock that was never set, or that is not believed', () => {
    const parts = [part([ago(9 * DAY), ago(8 * DAY), NOW])];
    const limits = { ...size(0), keepMs: keep(DAY).keepMs };
    check(parts, limits, [], { wallMs: 1000, trustedMs: 1000 });
    check(parts, limits, [], { wallMs: NOW + 365 * DAY, trustedMs: ago(9 * DAY) });
  });

  it('holds to its limits whatever there is', () => {
    const stamp = fc.integer({ min: ago(40 * DAY), max: NOW + DAY });
    const group = fc.record({ a: stamp, b: stamp, bytes: fc.nat(1000) });
    const parts = fc.array(
      fc.record({
        source: fc.constantFrom(...allSources()),
        kind: fc.constantFrom('rows' as const, 'rejected' as const),
        groups: fc.array(group, { maxLength: 8 }),
      }),
      { maxLength: 6 },
    );
    const limit = fc.oneof(fc.constant(Infinity), fc.nat(5000));
    const age = fc.oneof(fc.constant(Infinity), fc.integer({ min: HOUR, max: 30 * DAY }));
    let [planned, cuts] = [0, 0];
    fc.assert(
      fc.property(parts, age, limit, limit, (shapes, keepMs, maxBytes, maxSource) => {
        const all = shapes.map(({ source, kind, groups }): RetentionSegment => {
          const made = groups.map(({ a, b, bytes }, i) => ({
            rows: 10,
            bytes,
            oldestMs: Math.min(a, b),
            newestMs: Math.max(a, b),
            until: 10 * (i + 1),
          }));
          return { source, kind, groups: made };
        });
        const sources = Object.fromEntries(allSources().map((source) => [source, maxSource]));
        const limits = { ...size(maxBytes, sources), keepMs: keep(keepMs).keepMs };
        const used = all.flatMap(({ groups }) => groups).reduce((sum, { bytes }) => sum + bytes, 0);
        const steps = plan(all, used, limits, now);
        const whole = steps.filter(({ cutoffMs }) => cutoffMs === null);
        planned += whole.length;
        cuts += steps.length - whole.length;

        for (const { group, why, cutoffMs } of steps) {
          // Nothing of the newest hour, and by age nothing that is younger.
          if (cutoffMs === null) expect(group.newestMs === ago(FLOOR_MS)).to.equal(false);
          if (cutoffMs !== null) expect(cutoffMs).to.equal(NOW - keepMs);
          if (cutoffMs === null && group.newestMs <= NOW)
            expect(group.newestMs).to.be.lessThan(why === 'age' ? NOW - keepMs : ago(FLOOR_MS));
        }
        for (const { source, kind, groups } of all) {
          // The beginning of each part, without a gap; two parts may have the same name here.
          const same = all.filter((other) => other.source === source && other.kind === kind);
          if (same.length > 1) continue;
          const own = whole.filter((step) => step.source === source && step.kind === kind);
          expect(own.map((step) => step.group)).to.deep.equal(groups.slice(0, own.length));
        }
        // Never more than asked: without the last row group it would have been too much still.
        const bySize = whole.filter(({ why }) => why === 'size');
        const last = bySize.at(-1);
        if (last) {
          const gone = whole.filter((step) => step !== last);
          const left = (of: (source: Source) => boolean) =>
            all
              .filter(({ source }) => of(source))
              .flatMap(({ groups }) => groups)
              .filter((candidate) => !gone.some((step) => step.group === candidate))
              .reduce((sum, { bytes }) => sum + bytes, 0);
          const tooMuch =
            left(() => true) > maxBytes || left((source) => source === last.source) > maxSource;
          expect(tooMuch).to.equal(true);
        }
      }),
      { numRuns: 2000 },
    );
    expect(planned).to.be.greaterThan(500);
    expect(cuts).to.be.greaterThan(50);
  });
});
