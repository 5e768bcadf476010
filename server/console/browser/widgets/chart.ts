import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { dateTime, type Zone } from '../data/times.ts';
import { color } from './color.ts';

export interface PlotProps {
  readonly data: uPlot.AlignedData;
  /** Seconds, both shown. */
  readonly from: number;
  readonly to: number;
  readonly height: number;
  readonly zone: Zone;
  /** Changes when the series do, so that the plot is made anew. */
  readonly kind: string;
  readonly series: readonly uPlot.Series[];
  readonly isDark: boolean;
  /** Which place of the data the pointer is at. */
  readonly onPoint: (index: number | null) => void;
  /** Given the plot once it is drawn; gives what undoes that. */
  readonly onReady?: (plot: uPlot) => () => void;
}

/** Bars over time, as wide as their place. */
export function Plot(props: PlotProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { data, from, to, zone, kind, isDark } = props;

  // It is made anew for these alone; the rest is set below.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(options(latest, element.clientWidth), latest.current.data, element);
    plot.current = made;
    const undo = latest.current.onReady?.(made);
    const watch = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: latest.current.height }),
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      undo?.();
      made.destroy();
      plot.current = null;
    };
  }, [zone, kind, isDark]);

  // The bounds are read by the scale's range.
  useEffect(() => plot.current?.setData(data), [data, from, to]);
  return html`<div class="plot" ref=${place}></div>`;
}

function options(latest: { current: PlotProps }, width: number): uPlot.Options {
  const { series, height, zone, onPoint } = latest.current;
  const axis = {
    stroke: color('--dim'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: color('--grid'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    // What a drag does is not the plot's: it would reset what brush.ts selects.
    cursor: { y: false, points: { show: false }, bind: { mousedown: () => null } },
    tzDate: (seconds) =>
      zone === 'utc' ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000),
    scales: {
      x: { time: true, range: () => [latest.current.from, latest.current.to] },
      y: { range: (_plot, _least, most) => [0, Math.max(most ?? 0, 1) * 1.08] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        gap: 4,
        space: 70,
        values: (_plot, splits, _axis, _space, distance) =>
          ticks(splits, distance, latest.current.zone),
      },
      {
        ...axis,
        size: 44,
        gap: 4,
        space: 28,
        incrs: COUNTS,
        values: (_plot, splits) => splits.map(short),
      },
    ],
    series: [{}, ...series],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Times of day, as fine as the distance of the ticks in seconds needs; the date where a day begins. */
function ticks(splits: readonly number[], distance: number, zone: Zone): string[] {
  const end = distance < 1 ? 23 : distance < 60 ? 19 : 16;
  return splits.map((seconds) => {
    const text = dateTime(seconds * 1000, zone);
    return distance >= 86_400 || text.endsWith(' 00:00:00.000')
      ? text.slice(5, 10)
      : text.slice(11, end);
  });
}

/** The distances of the lines across: entries are whole. */
const COUNTS = [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((n) => [n, 2 * n, 5 * n]);

/** `12000` as `12k`, so that it fits beside the plot. */
function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e4 ? `${value / 1e3}k` : String(value);
}
