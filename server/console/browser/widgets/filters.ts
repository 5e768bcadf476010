import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import type { ProjectCount } from '../data/answers.ts';
import { curlOf } from '../data/curl.ts';
import { useAnswer } from '../data/loading.ts';
import { boundsOf, fixedRange } from '../data/range.ts';
import { pathOf } from '../data/request.ts';
import { withLevels } from '../data/search-query.ts';
import { useSources } from '../data/sources.ts';
import type { Zone } from '../data/times.ts';
import { hashOf, type LogsView, levelsOf } from '../data/view.ts';
import { copy } from './copy.ts';
import { ExportMenu } from './export-menu.ts';
import { Field } from './field.ts';
import { RangeMenu } from './range-menu.ts';

interface FiltersProps {
  readonly view: LogsView;
  readonly now: number;
  readonly zone: Zone;
  readonly change: (part: Partial<LogsView>, how?: 'replace') => void;
  readonly toggleLive: () => void;
  readonly reload: () => void;
  /** The request of what is listed, or followed. */
  readonly path: string;
  readonly times: { readonly from: string; readonly to: string | null };
}

/** The filters of the entries, and the buttons beside them. */
export function Filters(props: FiltersProps): VNode {
  const { view, now, zone, change, toggleLive, reload, path, times } = props;
  const { source, project, q, range, live } = view;
  const asked = withLevels(q, levelsOf(view.level));
  const sources = useSources(source);
  const projects = useAnswer<ProjectCount[]>(`/api/projects/${source}`);
  const copyLink = () => {
    const { from, to } = boundsOf(range, now);
    const fixed = hashOf({ ...view, live: false, range: fixedRange(from, to) });
    void copy(new URL(fixed, location.href).href, 'Link to this range');
  };
  return html`<div class="bar" role="search" aria-label="Entries">
    <label class="field source">
      <span>Source</span>
      <select
        id="source"
        value=${source}
        onChange=${(event: Event) =>
          change({ source: (event.currentTarget as HTMLSelectElement).value })}
      >
        ${sources.map((name) => html`<option value=${name}>${name}</option>`)}
      </select>
    </label>
    ${h(RangeMenu, { range, now, zone, onRange: (next) => change({ range: next }) })}
    ${h(Field, {
      id: 'project',
      label: 'Project',
      value: project,
      placeholder: '* for all',
      options: (projects.answer?.result ?? []).flatMap((one) => one.project ?? []),
      onValue: (value) => change({ project: value.trim() }),
    })}
    ${h(Field, {
      id: 'search',
      label: 'Search',
      value: q,
      placeholder: 'words, "a phrase", status:>=500, path:/rpc/*, -not',
      onValue: (value) => change({ q: value }, 'replace'),
    })}
    <div class="buttons">
      <button
        type="button"
        aria-pressed=${String(live)}
        title="Follow what arrives (l)"
        onClick=${toggleLive}
      >Live</button>
      <button type="button" title="Load again (r)" onClick=${reload}>Reload</button>
      <button
        type="button"
        onClick=${() => copy(curlOf(path, { stream: live }), 'curl command')}
      >Copy curl</button>
      <button type="button" title="With this very range" onClick=${copyLink}>Copy link</button>
      ${h(ExportMenu, {
        source,
        pathOf: (format) =>
          pathOf(`/api/export/${source}`, { ...times, project, q: asked, format }),
      })}
    </div>
  </div>`;
}
