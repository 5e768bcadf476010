import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProjectCount } from '../data/answers.ts';
import { curlOf } from '../data/curl.ts';
import { useAnswer } from '../data/loading.ts';
import { counted } from '../data/quantities.ts';
import { boundsOf, fixedRange } from '../data/range.ts';
import { pathOf } from '../data/request.ts';
import { useSources } from '../data/sources.ts';
import { hashOf, type SqlView } from '../data/view.ts';
import { Field } from '../widgets/field.ts';
import { useKeys } from '../widgets/keys.ts';
import { RangeMenu } from '../widgets/range-menu.ts';
import { ResultChart } from '../widgets/result-chart.ts';
import { type ResultRow, ResultTable } from '../widgets/result-table.ts';
import { ShareMenu } from '../widgets/share-menu.ts';
import { ViewsMenu } from '../widgets/views-menu.ts';
import type { PageProps } from './explorer.ts';

const ENDPOINT = '/api/endpoints/query/logs.all';
/** The columns of each view of that endpoint. */
const COLUMNS = [
  ['id', 'string'],
  ['timestamp', 'timestamp'],
  ['event_message', 'string'],
  ['metadata', 'record'],
  ['project', 'string'],
] as const;
const NAMES = COLUMNS.map(([name]) => name).join(', ');
const ALL_COLUMNS = /\bselect(\s+)\*(?=\s+from\b)/gi;

/** SQL of one's own over the entries, as a table and, where it has times and numbers, as a chart. */
export function Sql({ view, show, zone, isDark }: PageProps<SqlView>): VNode {
  const { sql, project, range, isRun } = view;
  const [draft, setDraft] = useState(sql);
  const [turn, setTurn] = useState(0);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => setDraft(sql), [sql]);
  const editor = useRef<HTMLTextAreaElement>(null);
  const sources = useSources([]);
  const projects = useAnswer<ProjectCount[]>('/api/projects/*');
  const { from, to } = boundsOf(range, now);
  const asked = {
    sql,
    project: project || '*',
    iso_timestamp_start: new Date(from).toISOString(),
    iso_timestamp_end: new Date(to).toISOString(),
  };
  const { answer, problem, loading, isOld } = useAnswer<ResultRow[]>(
    isRun ? ENDPOINT : null,
    turn,
    asked,
  );
  const change = (part: Partial<SqlView>) => {
    setNow(Date.now());
    show({ ...view, ...part });
  };
  const run = () => {
    // The dialect has no *: a caller would get whatever columns a later version adds.
    const expanded = draft.replace(ALL_COLUMNS, `select$1${NAMES}`);
    setTurn(turn + 1);
    change({ sql: expanded, isRun: true });
    setDraft(expanded);
  };
  useKeys({ r: () => isRun && run() });
  const rows = answer?.result ?? [];
  const link = hashOf({ ...view, range: fixedRange(from, to) });
  return html`<div class="sql">
    <h1 class="unseen">SQL</h1>
    <div class="bar unfolded" role="search" aria-label="Project and time range">
      ${h(Field, {
        id: 'project',
        label: 'Project',
        value: project,
        placeholder: '* for all',
        options: (projects.answer?.result ?? []).flatMap((one) => one.project ?? []),
        onValue: (value) => change({ project: value.trim() || '*' }),
      })}
      ${h(RangeMenu, { range, now, zone, onRange: (next) => change({ range: next }) })}
      <div class="buttons">
        <button type="button" class="primary" title="Ctrl+Enter" onClick=${run}>Run</button>
        ${h(ViewsMenu, { view, show })}
        ${h(ShareMenu, {
          link: new URL(link, location.href).href,
          curl: curlOf(pathOf(ENDPOINT, asked)),
          exports: isRun
            ? [
                {
                  name: 'result',
                  formats: ['ndjson', 'csv'],
                  pathOf: (format) => pathOf(ENDPOINT, { format }),
                  bodyOf: () => asked,
                },
              ]
            : [],
        })}
      </div>
    </div>
    <div class="editor">
      <textarea
        id="search"
        ref=${editor}
        rows="9"
        aria-label="SQL"
        spellcheck=${false}
        value=${draft}
        onInput=${(event: Event) => setDraft((event.currentTarget as HTMLTextAreaElement).value)}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          run();
        }}
      ></textarea>
      ${h(Views, {
        sources,
        onView: (name) => {
          setDraft(`select ${NAMES}\nfrom ${name}\norder by timestamp desc\nlimit 100`);
          editor.current?.focus();
        },
      })}
    </div>
    <div class=${loading ? 'progress busy' : 'progress'}></div>
    ${
      !isRun &&
      html`<p class="status" role="status">
        This statement came with a link or a saved view, and has not run. Read it, then press Run: it runs with your token.
      </p>`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      answer &&
      html`<div class=${isOld ? 'result old' : 'result'}>
        <p class="status dim">
          ${counted(rows.length, 'row', 'rows')}${answer.truncated && ', and there may be more: no answer has more'} · ${Math.round(answer.tookMs)} ms
        </p>
        ${h(ResultChart, { rows, zone, isDark })} ${h(ResultTable, { rows, zone })}
      </div>`
    }
  </div>`;
}

function Views({
  sources,
  onView,
}: {
  readonly sources: readonly string[];
  readonly onView: (name: string) => void;
}): VNode {
  return html`<aside aria-label="Views">
    <h2>Views</h2>
    <ul class="names">
      ${sources.map(
        (name) =>
          html`<li key=${name}><button type="button" class="quiet" onClick=${() => onView(name)}>${name}</button></li>`,
      )}
    </ul>
    <h2>Columns of each</h2>
    <dl>
      ${COLUMNS.map(([name, type]) => html`<dt><code>${name}</code></dt><dd class="dim">${type}</dd>`)}
    </dl>
    <p class="dim">
      <code>metadata.request.path</code> is a member of a record. Only entries of the time range
      above are read.
    </p>
  </aside>`;
}
