import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { count } from '../data/quantities.ts';
import { dateTime, type Zone } from '../data/times.ts';
import { Plot } from './chart.ts';
import { color } from './color.ts';
import { columnsOf, type ResultRow, timeOf } from './result-table.ts';

interface ResultChartProps {
  readonly rows: readonly ResultRow[];
  readonly zone: Zone;
  readonly isDark: boolean;
}

/** The colours of the columns of numbers; more columns are in the table only. */
const COLORS = ['--bar', '--storage', '--auth', '--realtime'] as const;

/** The numbers of an answer over its first column of times; nothing where it has none, or where a time comes twice. */
export function ResultChart({ rows, zone, isDark }: ResultChartProps): VNode | null {
  const chart = useMemo(() => chartOf(rows), [rows]);
  const [point, setPoint] = useState<number | null>(null);
  if (!chart) return null;
  const { names, data, from, to } = chart;
  const at = point === null ? undefined : data[0][point];
  return html`<section class="histogram" aria-label="Chart">
    <p class="readout legend">
      ${names.map(
        (name, i) => html`<span key=${name}>
          <i style=${{ background: `var(${COLORS[i]})` }}></i>${name}
          ${point !== null && html`<b>${count(data[i + 1]?.[point] ?? 0)}</b>`}
        </span>`,
      )}
      <span class="dim">${at !== undefined && dateTime(at * 1000, zone).slice(0, 19)}</span>
    </p>
    <div role="img" aria-label="The numbers of the table below over time">
      ${h(Plot, {
        data,
        from,
        to,
        height: 160,
        zone,
        isDark,
        kind: names.join(),
        series: names.map((_, i) => line(COLORS[i] ?? '--bar')),
        onPoint: setPoint,
      })}
    </div>
  </section>`;
}

function chartOf(rows: readonly ResultRow[]) {
  const columns = columnsOf(rows);
  const time = columns.find((name) => rows.every((row) => timeOf(row[name] ?? null) !== null));
  const names = columns
    .filter(
      (name) =>
        name !== time &&
        rows.every((row) => typeof row[name] === 'number' || row[name] === null) &&
        rows.some((row) => typeof row[name] === 'number'),
    )
    .slice(0, COLORS.length);
  if (time === undefined || names.length === 0 || rows.length < 2) return null;
  const dated = rows
    .map((row) => ({ row, at: (timeOf(row[time] ?? null) ?? 0) / 1000 }))
    .sort((a, b) => a.at - b.at);
  const places = dated.map(({ at }) => at);
  if (new Set(places).size < places.length) return null;
  const values = names.map((name) => dated.map(({ row }) => row[name] as number | null));
  const data: uPlot.AlignedData = [places, ...values];
  return { names, data, from: places[0] ?? 0, to: places.at(-1) ?? 1 };
}

function line(name: `--${string}`): uPlot.Series {
  return { stroke: () => color(name), width: 1.5, points: { show: false } };
}
