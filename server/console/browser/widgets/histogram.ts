import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Bucket } from '../data/answers.ts';
import type { Loaded } from '../data/loading.ts';
import { count, counted } from '../data/quantities.ts';
import { span, type Zone } from '../data/times.ts';
import { brush } from './brush.ts';
import { Plot } from './chart.ts';
import { color } from './color.ts';

interface HistogramProps {
  readonly loaded: Loaded<Bucket[]>;
  /** Milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly zone: Zone;
  readonly isDark: boolean;
  readonly onRange: (from: number, to: number) => void;
}

const HEIGHT = 116;

/** How many entries of which severity there are over time; a drag narrows the range. */
export function Histogram({ loaded, from, to, zone, isDark, onRange }: HistogramProps): VNode {
  const [point, setPoint] = useState<number | null>(null);
  const buckets = loaded.answer?.result ?? NONE;
  const step = loaded.answer?.stepSeconds ?? 60;
  const data = useMemo(
    () => filled(buckets, step, from / 1000, to / 1000),
    [buckets, step, from, to],
  );
  const range = useRef(onRange);
  range.current = onRange;
  const total = buckets.reduce((sum, { entries }) => sum + entries, 0);
  const most = Math.max(0, ...(data[1] as number[]));
  const label = `${counted(total, 'entry', 'entries')} from ${span(from, to, zone)}, at most ${count(most)} in one of the bars`;
  return html`<section
    class=${loaded.isOld ? 'histogram loading' : 'histogram'}
    aria-label="Entries over time"
  >
    <p class="readout">
      ${loaded.problem ?? reading(data, point, step, zone) ?? summary(loaded, total)}
    </p>
    <div role="img" aria-label=${label}>
      ${h(Plot, {
        data,
        from: from / 1000,
        to: to / 1000,
        height: HEIGHT,
        zone,
        isDark,
        kind: 'histogram',
        series: GRADES.map(({ color: name }) => bars(name)),
        onPoint: setPoint,
        onReady: (plot) => brush(plot, (begin, end) => range.current(begin * 1000, end * 1000)),
      })}
    </div>
  </section>`;
}

const NONE: readonly Bucket[] = [];

function summary({ answer }: Loaded<Bucket[]>, total: number): string {
  return answer ? `${counted(total, 'entry', 'entries')} in this range` : ' ';
}

function reading(
  data: uPlot.AlignedData,
  point: number | null,
  step: number,
  zone: Zone,
): string | null {
  const begin = point === null ? undefined : data[0][point];
  if (begin === undefined || point === null) return null;
  const entries = data[1]?.[point] ?? 0;
  const errors = data[3]?.[point] ?? 0;
  const graver = errors > 0 ? `, ${counted(errors, 'error', 'errors')}` : '';
  return `${span(begin * 1000, (begin + step) * 1000, zone)} · ${counted(entries, 'entry', 'entries')}${graver}`;
}

/** The severities that have a colour of their own, the gravest first, and what else there is. */
const GRADES: readonly {
  readonly of: readonly (string | null)[];
  readonly color: `--${string}`;
}[] = [
  { of: ['info', 'debug', 'trace', null], color: '--bar' },
  { of: ['warn'], color: '--warn' },
  { of: ['error', 'fatal'], color: '--error' },
];

/**
 * The buckets with those between them that have no entries. Each grade is as high as it and the graver ones together, and drawn before
 * these: the first is as high as all.
 */
function filled(
  buckets: readonly Bucket[],
  step: number,
  from: number,
  to: number,
): uPlot.AlignedData {
  const begins = buckets.map(({ timestamp }) => Math.round(Date.parse(timestamp) / 1000));
  const anchor = begins[0] ?? 0;
  const first = anchor + Math.floor((from - anchor) / step) * step;
  const places = Array.from({ length: Math.ceil((to - first) / step) }, (_, i) => first + i * step);
  const heights = GRADES.map((_, grade) => {
    const graver = GRADES.slice(grade).flatMap(({ of }) => of);
    const entries = new Map<number, number>();
    for (const [i, bucket] of buckets.entries()) {
      const begin = begins[i] ?? 0;
      if (graver.includes(bucket.severity ?? null))
        entries.set(begin, (entries.get(begin) ?? 0) + bucket.entries);
    }
    return places.map((place) => entries.get(place) ?? 0);
  });
  return [places, ...heights];
}

function bars(name: `--${string}`): uPlot.Series {
  return {
    fill: () => color(name),
    width: 0,
    points: { show: false },
    ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ align: 1, size: [0.88, 60] }) } : {}),
  };
}
