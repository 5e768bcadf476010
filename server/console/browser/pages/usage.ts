import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ApiCount, ProjectCount } from '../data/answers.ts';
import { curlOf } from '../data/curl.ts';
import { useAnswer } from '../data/loading.ts';
import { count } from '../data/quantities.ts';
import { pathOf } from '../data/request.ts';
import { dateTime, span, type Zone } from '../data/times.ts';
import { INTERVALS, type UsageView } from '../data/view.ts';
import { Plot } from '../widgets/chart.ts';
import { color } from '../widgets/color.ts';
import { copy } from '../widgets/copy.ts';
import { Field } from '../widgets/field.ts';
import type { PageProps } from './explorer.ts';

const AREAS = ['rest', 'storage', 'auth', 'realtime'] as const;
/** The bars of each interval, and all of it, in seconds; as the endpoint `usage.api-counts` has it. */
const WINDOWS: Record<string, { readonly step: number; readonly all: number }> = {
  '15min': { step: 60, all: 900 },
  '30min': { step: 60, all: 1800 },
  '1hr': { step: 60, all: 3600 },
  '3hr': { step: 60, all: 10_800 },
  '1day': { step: 3600, all: 86_400 },
  '3day': { step: 3600, all: 259_200 },
  '7day': { step: 86_400, all: 604_800 },
  minutely: { step: 60, all: 3600 },
  hourly: { step: 3600, all: 3600 },
  daily: { step: 86_400, all: 604_800 },
};

/** Requests to the API over time, by its areas: the saved query `usage.api-counts`. */
export function Usage({ view, show, zone, isDark }: PageProps<UsageView>): VNode {
  const { project, interval } = view;
  const [turn, setTurn] = useState(0);
  const [point, setPoint] = useState<number | null>(null);
  const projects = useAnswer<ProjectCount[]>('/api/projects/edge_logs');
  const path = pathOf('/api/endpoints/query/usage.api-counts', { project, interval });
  const { answer, problem, loading } = useAnswer<ApiCount[]>(project === '' ? null : path, turn);
  const rows = answer?.result ?? NONE;
  // An answer has its own now.
  const plotted = useMemo(() => stacked(rows, interval, Date.now() / 1000), [rows, interval]);
  const change = (part: Partial<UsageView>) => show({ ...view, ...part });
  return html`<div class="usage">
    <h1 class="unseen">API usage</h1>
    <div class="bar" role="search" aria-label="API usage">
      ${h(Field, {
        id: 'search',
        label: 'Project (regular expression)',
        value: project,
        placeholder: '* for all',
        options: (projects.answer?.result ?? []).flatMap((one) => one.project ?? []),
        onValue: (value) => change({ project: value.trim() }),
      })}
      <label class="field interval">
        <span>Interval</span>
        <select
          id="interval"
          value=${interval}
          onChange=${(event: Event) =>
            change({ interval: (event.currentTarget as HTMLSelectElement).value })}
        >
          ${INTERVALS.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
      <div class="buttons">
        <button type="button" onClick=${() => setTurn(turn + 1)}>Reload</button>
        <button type="button" onClick=${() => copy(curlOf(path), 'curl command')}>Copy curl</button>
      </div>
    </div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class=${loading ? 'histogram loading' : 'histogram'} aria-label="Requests over time">
      ${legend(rows, plotted, point, zone)}
      <div role="img" aria-label="Requests over time, as in the table below">
        ${h(Plot, {
          data: plotted.data,
          from: plotted.from,
          to: plotted.to,
          height: 260,
          zone,
          isDark,
          kind: 'usage',
          series: AREAS.map((area) => bars(area)),
          onPoint: setPoint,
        })}
      </div>
    </section>
    ${answer && (rows.length > 0 ? table(rows, zone) : empty(project))}
    ${project === '' && html`<div class="empty"><p>Enter a project, or a regular expression; <kbd>*</kbd> is all.</p></div>`}
  </div>`;
}

const NONE: readonly ApiCount[] = [];

function empty(project: string): VNode {
  return html`<div class="empty">
    <h2>No requests in this interval</h2>
    <p class="dim">
      The expression “${project}” is looked for in the URL of each entry of edge_logs. Try
      ${' '}<kbd>*</kbd> for all, or a longer interval.
    </p>
  </div>`;
}

function legend(
  rows: readonly ApiCount[],
  { data, step }: ReturnType<typeof stacked>,
  point: number | null,
  zone: Zone,
): VNode {
  const begin = point === null ? undefined : data[0][point];
  const shown =
    begin === undefined ? rows : rows.filter((row) => Date.parse(row.timestamp) / 1000 === begin);
  return html`<p class="readout legend">
    ${AREAS.map(
      (area) =>
        html`<span class=${area}>
          <i></i>${area} <b>${count(shown.reduce((sum, row) => sum + countOf(row, area), 0))}</b>
        </span>`,
    )}
    <span class="dim">
      ${begin === undefined ? 'in all' : span(begin * 1000, (begin + step) * 1000, zone)}
    </span>
  </p>`;
}

/** Each area drawn on top of those after it: the first is drawn at first, as high as all together. */
function stacked(rows: readonly ApiCount[], interval: string, now: number) {
  const { step, all } = WINDOWS[interval] ?? { step: 3600, all: 86_400 };
  const counts = new Map(rows.map((row) => [Date.parse(row.timestamp) / 1000, row]));
  const from = Math.floor((now - all) / step) * step;
  const to = (Math.floor(now / step) + 1) * step;
  const places = Array.from({ length: (to - from) / step }, (_, i) => from + i * step);
  const heights = AREAS.map((_, i) =>
    places.map((place) => {
      const row = counts.get(place);
      return row ? AREAS.slice(i).reduce((sum, area) => sum + countOf(row, area), 0) : 0;
    }),
  );
  const data: uPlot.AlignedData = [places, ...heights];
  return { data, from, to, step };
}

function countOf(row: ApiCount, area: (typeof AREAS)[number]): number {
  return row[`total_${area}_requests`];
}

function bars(area: string): uPlot.Series {
  return {
    fill: () => color(`--${area}`),
    width: 0,
    points: { show: false },
    ...(uPlot.paths.bars ? { paths: uPlot.paths.bars({ align: 1, size: [0.88, 80] }) } : {}),
  };
}

function table(rows: readonly ApiCount[], zone: Zone): VNode {
  return html`<div class="scroll"><table>
    <thead><tr>
      <th scope="col">Begin</th>
      ${AREAS.map((area) => html`<th scope="col" class="number">${area}</th>`)}
    </tr></thead>
    <tbody>
      ${rows.toReversed().map(
        (row) => html`<tr key=${row.timestamp}>
          <th scope="row">${dateTime(Date.parse(row.timestamp), zone).slice(0, 16)}</th>
          ${AREAS.map((area) => html`<td class="number">${count(countOf(row, area))}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table></div>`;
}
