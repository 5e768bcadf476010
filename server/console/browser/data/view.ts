import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Source } from '../../../../ingest/source.ts';
import { type Range, readRange } from './range.ts';
import { LEVELS, type Level, textQuery } from './search-query.ts';

export interface LogsView {
  readonly page: 'logs';
  /** One, several as `edge_logs,auth_logs`, or `*` for all. */
  readonly source: string;
  /** Empty for all. */
  readonly project: string;
  /** A search query; empty for all. */
  readonly q: string;
  /** Only entries of these severities, as `error,fatal`; empty for any. */
  readonly level: string;
  /** Fields that have a column of their own, as `status,request.method`. */
  readonly columns: string;
  /** The id of the entry that is marked; empty for none. */
  readonly entry: string;
  readonly range: Range;
  readonly live: boolean;
}

export interface SqlView {
  readonly page: 'sql';
  readonly sql: string;
  /** `*` for all. */
  readonly project: string;
  readonly range: Range;
  /** True where the statement may run at once. A link's statement waits: it would run with the token of whoever opens the link. */
  readonly isRun: boolean;
}

export interface UsageView {
  readonly page: 'usage';
  readonly project: string;
  readonly interval: string;
}

export interface LedgerView {
  readonly page: 'ledger';
  /** The source whose rejected lines are shown; null for all. */
  readonly source: Source | null;
}

/** All that is needed to show the same again, but the token; it stands in the address, behind the `#`. */
export type View = LogsView | SqlView | UsageView | LedgerView;

export const INTERVALS = [
  ...['15min', '30min', '1hr', '3hr', '1day', '3day', '7day'],
  ...['minutely', 'hourly', 'daily'],
];

/** A view of each page as it is opened at first. */
export const FIRST = {
  logs: {
    page: 'logs',
    source: 'edge_logs',
    project: '',
    q: '',
    level: '',
    columns: '',
    entry: '',
    range: { last: '1h' },
    live: false,
  },
  sql: {
    page: 'sql',
    sql: `select timestamp_trunc(timestamp, minute) as minute, count(*) as entries
from edge_logs
group by minute
order by minute`,
    project: '*',
    range: { last: '1h' },
    isRun: true,
  },
  usage: { page: 'usage', project: '*', interval: '1day' },
  ledger: { page: 'ledger', source: null },
} as const satisfies Record<View['page'], View>;

/** Kept with a step of this tab's history, where no link can put it. */
interface Step {
  readonly isRun: boolean;
}

function stepOf(view: View): Step | null {
  return view.page === 'sql' ? { isRun: view.isRun } : null;
}

/** The view of the address; the second changes it, with `replace` in the place of the last step of the history. */
export function useView(): [View, (view: View, how?: 'replace') => void] {
  const [view, setView] = useState(viewOfStep);
  useEffect(() => {
    const changed = () => setView(viewOfStep());
    addEventListener('popstate', changed);
    return () => removeEventListener('popstate', changed);
  }, []);
  const show = useCallback((next: View, how?: 'replace') => {
    if (how || hashOf(next) === location.hash) history.replaceState(stepOf(next), '', hashOf(next));
    else history.pushState(stepOf(next), '', hashOf(next));
    setView(next);
  }, []);
  return [view, show];
}

function viewOfStep(): View {
  return readView(location.hash, history.state);
}

/** What stands behind the `#`. */
export function hashOf(view: View): string {
  const { page, ...rest } = view;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...rest, ...('range' in rest ? rest.range : {}) }))
    if (typeof value === 'string' && value !== '') search.set(name, value);
  if ('live' in rest && rest.live) search.set('live', '1');
  return search.size === 0 ? `#/${page}` : `#/${page}?${search}`;
}

/** A view out of any text: what is not understood is as at first. Without the step that ran its statement, a view of SQL waits. */
export function readView(hash: string, step: Step | null = null): View {
  const [, page, text] = /^#\/(\w+)(?:\?(.*))?$/s.exec(hash) ?? [];
  const search = new URLSearchParams(text);
  const given = search.get('source') ?? '';
  const [source] = /^[a-z][a-z0-9_]*$/.exec(given) ?? [];
  if (page === 'ledger') return { page, source: source ?? null };
  if (page === 'usage') {
    const interval = INTERVALS.find((name) => name === search.get('interval'));
    return {
      page,
      project: search.get('project') ?? FIRST.usage.project,
      interval: interval ?? FIRST.usage.interval,
    };
  }
  const range = readRange(search) ?? FIRST.logs.range;
  if (page === 'sql') {
    const sql = search.get('sql') ?? FIRST.sql.sql;
    return {
      page,
      sql,
      project: search.get('project') ?? FIRST.sql.project,
      range,
      isRun: sql === FIRST.sql.sql || step?.isRun === true,
    };
  }
  return {
    page: 'logs',
    source: /^(?:\*|[a-z][a-z0-9_]*(?:,[a-z][a-z0-9_]*)*)$/.test(given) ? given : FIRST.logs.source,
    project: search.get('project') ?? '',
    q: search.get('q') ?? queryOf(search.get('search')),
    level: levelsOf(search.get('level') ?? '').join(','),
    columns: search.get('columns') ?? '',
    entry: search.get('entry') ?? '',
    range,
    live: search.get('live') === '1' && 'last' in range,
  };
}

/** The parts of a list with commas. */
export function listOf(text: string): string[] {
  return text.split(',').filter((part) => part !== '');
}

/** The severities of a view. */
export function levelsOf(level: string): Level[] {
  const named = level.split(',');
  return LEVELS.filter((each) => named.includes(each));
}

/** The text of a link to an earlier version. */
function queryOf(text: string | null): string {
  return text ? textQuery(text) : '';
}
