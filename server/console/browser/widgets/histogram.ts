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

/** How many entries there are over time; a drag narrows the range. */
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
  const most = Math.max(0, ...buckets.map(({ entries }) => entries));
  const label = `${counted(total, 'entry', 'entries')} from ${span(from, to, zone)}, at most ${count(most)} in one of the bars`;
  return html`<section
    class=${loaded.loading ? 'histogram loading' : 'histogram'}
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
        series: [bars()],
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
  return `${span(begin * 1000, (begin + step) * 1000, zone)} · ${counted(entries, 'entry', 'entries')}`;
}

/** The buckets with those between them that have no entries. */
function filled(
  buckets: readonly Bucket[],
  step: number,
  from: number,
  to: number,
): uPlot.AlignedData {
  const entries = new Map(
    buckets.map((b) => [Math.round(Date.parse(b.timestamp) / 1000), b.entries]),
  );
  const anchor = [...entries.keys()][0] ?? 0;
  const first = anchor + Math.floor((from - anchor) / step) * step;
  const places = Array.from({ length: Math.ceil((to - first) / step) }, (_, i) => first + i * step);
  return [places, places.map((place) => entries.get(place) ?? 0)];
}

function bars(): uPlot.Series {
  return {
    fill: () => color('--bar'),
    width: 0,
    points: { show: false },
    ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ align: 1, size: [0.88, 60] }) } : {}),
  };
}
