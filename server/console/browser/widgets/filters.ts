import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ProjectCount } from '../data/answers.ts';
import { curlOf } from '../data/curl.ts';
import { useAnswer } from '../data/loading.ts';
import { boundsOf, fixedRange } from '../data/range.ts';
import { pathOf } from '../data/request.ts';
import { withLevels } from '../data/search-query.ts';
import { useSources } from '../data/sources.ts';
import type { Zone } from '../data/times.ts';
import { hashOf, type LogsView, levelsOf, listOf, type View } from '../data/view.ts';
import { Field } from './field.ts';
import { RangeMenu } from './range-menu.ts';
import { type Exported, ShareMenu } from './share-menu.ts';
import { SourceMenu } from './source-menu.ts';
import { ViewsMenu } from './views-menu.ts';

interface FiltersProps {
  readonly view: LogsView;
  readonly now: number;
  readonly zone: Zone;
  readonly show: (view: View) => void;
  readonly change: (part: Partial<LogsView>, how?: 'replace') => void;
  readonly toggleLive: () => void;
  readonly reload: () => void;
  /** The request of what is listed, or followed. */
  readonly path: string;
  readonly times: { readonly from: string; readonly to: string | null };
}

/** The filters of the entries, and the buttons beside them. On a phone all but the search are folded away. */
export function Filters(props: FiltersProps): VNode {
  const { view, now, zone, show, change, toggleLive, reload, path, times } = props;
  const { source, project, q, range, live } = view;
  const [unfolded, setUnfolded] = useState(false);
  const asked = withLevels(q, levelsOf(view.level));
  const named = source === '*' ? [] : listOf(source);
  const sources = useSources(named);
  const projects = useAnswer<ProjectCount[]>(`/api/projects/${source}`);
  const { from, to } = boundsOf(range, now);
  const fixed = hashOf({ ...view, live: false, range: fixedRange(from, to) });
  const exportOf = (name: string): Exported => ({
    name,
    formats: ['ndjson', 'csv', 'parquet'],
    pathOf: (format) => pathOf(`/api/export/${name}`, { ...times, project, q: asked, format }),
  });
  return html`<div class=${unfolded ? 'bar unfolded' : 'bar'} role="search" aria-label="Entries">
    ${h(SourceMenu, { source, onSource: (next) => change({ source: next }) })}
    ${h(Field, {
      id: 'search',
      label: 'Search',
      value: q,
      placeholder: 'words, "a phrase", status:>=500, path:/rpc/*, -not',
      onValue: (value) => change({ q: value }, 'replace'),
    })}
    ${h(Field, {
      id: 'project',
      label: 'Project',
      value: project,
      placeholder: '* for all',
      options: (projects.answer?.result ?? []).flatMap((one) => one.project ?? []),
      onValue: (value) => change({ project: value.trim() }),
    })}
    ${h(RangeMenu, { range, now, zone, onRange: (next) => change({ range: next }) })}
    <div class="buttons">
      <button
        type="button"
        class="fold"
        aria-expanded=${String(unfolded)}
        onClick=${() => setUnfolded(!unfolded)}
      >Filters</button>
      <button
        type="button"
        aria-pressed=${String(live)}
        title="Follow what arrives (l)"
        onClick=${toggleLive}
      >Live</button>
      <button type="button" title="Load again (r)" onClick=${reload}>Reload</button>
      ${h(ViewsMenu, { view, show })}
      ${h(ShareMenu, {
        link: new URL(fixed, location.href).href,
        curl: curlOf(path, { stream: live }),
        exports: (source === '*' ? sources : named).map(exportOf),
      })}
    </div>
  </div>`;
}
