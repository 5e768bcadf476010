import type { PeerKind } from './peer-questions.ts';
import type {
  EngineName,
  OwnSql,
  PeerTable,
  PerEngine,
  Questions,
  Results,
  Size,
} from './results.ts';
import { median, quantile } from './statistics.ts';

/** What tailpond must reach, and aims for. */
export interface Target {
  readonly what: string;
  readonly must: number;
  readonly aim: number;
  /** Whether more is better. */
  readonly more: boolean;
  readonly unit: '' | 'ms' | 'MB' | 's';
  /** The measured value; null when nothing was measured that says it. */
  readonly of: (results: Results) => number | null;
}

/** Ratios are medians of the ratios of pairs: two engines in the same run, one after the other. */
export const TARGETS: readonly Target[] = [
  ingestTarget('raw DuckDB', 'duckdb', 0.85, 0.95),
  ingestTarget('ClickHouse engine', 'clickhouse', 0.6, 1),
  ingestTarget('PostgreSQL', 'postgres', 4, 6),
  questionTarget('`logs.all` p50 / ClickHouse, at the engine', 'list', 2, 1),
  questionTarget('`usage.api-counts` daily p50 / ClickHouse, at the engine', 'counts', 1.2, 0.7),
  {
    what: '`logs.all` p50, 10 million rows / 1 million rows',
    must: 1.5,
    aim: 1.1,
    more: false,
    unit: '',
    of: ({ scale }) => {
      const at = (rows: number) => sizeOf(scale?.sizes, rows)?.engine.list.p50;
      const [large, small] = [at(10e6), at(1e6)];
      return large && small ? large / small : null;
    },
  },
  {
    what: 'SQL of callers / the same by hand, the slowest of the questions',
    must: 1.5,
    aim: 1.1,
    more: false,
    unit: '',
    of: ({ sql }) => (sql ? Math.max(...sql.questions.map(ratioByHand)) : null),
  },
  {
    what: 'a search query / the same by hand, the slowest',
    must: 1.3,
    aim: 1,
    more: false,
    unit: '',
    of: ({ search }) => (search ? Math.max(...search.questions.map(ratioByHand)) : null),
  },
  {
    what: 'SQL of callers, read and written anew, p50 of the slowest',
    must: 5,
    aim: 2,
    more: false,
    unit: 'ms',
    of: ({ sql }) =>
      sql ? Math.max(...sql.questions.map(({ translate }) => translate.p50)) : null,
  },
  peerTarget('charts, lists and top paths of callers', 'caller', 1, 0.3),
  peerTarget('`logs.all` and `usage.api-counts` over HTTP', 'endpoint', 1, 0.7),
  peerTarget("a search, against ClickHouse's scan", 'search', 1, 0.5),
  peerTarget('a rare word, against its text index', 'word', 20, 3),
  {
    what: 'histogram of a search for a rare word',
    must: 500,
    aim: 100,
    more: false,
    unit: 'ms',
    of: ({ peer }) => slowest(peer, 'histogram', ({ ms }) => ms),
  },
  {
    what: "requests of Studio's kind, 10 million rows in 30 days, last 7 days, p95",
    must: 1000,
    aim: 200,
    more: false,
    unit: 'ms',
    of: ({ studio }) => {
      const size = studio?.sizes.find(({ rows }) => rows === 10e6);
      return size
        ? quantile(
            size.requests.map(({ ms }) => ms),
            0.95,
          )
        : null;
    },
  },
  {
    what: 'disk / input bytes, settled, the largest table',
    must: 0.18,
    aim: 0.14,
    more: false,
    unit: '',
    of: ({ peer }) => peer?.tables.toSorted((a, b) => b.rows - a.rows)[0]?.diskShare ?? null,
  },
  {
    what: 'resident memory, peak of ingest and settling',
    must: 600,
    aim: 400,
    more: false,
    unit: 'MB',
    of: ({ peer }) =>
      peer ? Math.max(...peer.tables.map(({ settledPeakMb }) => settledPeakMb)) : null,
  },
  {
    what: 'cached answer, requests/s / bare Express',
    must: 0.7,
    aim: 0.9,
    more: true,
    unit: '',
    of: ({ cached }) => middle(cached?.pairs.map(({ tailpond, express }) => tailpond / express)),
  },
  {
    what: 'cached answer during bulk ingest, HTTP p99',
    must: 50,
    aim: 20,
    more: false,
    unit: 'ms',
    of: ({ cached }) => middle(cached?.duringIngest.map(({ p99 }) => p99)),
  },
  {
    what: 'write to visible, p99 at 1,000 lines/s',
    must: 400,
    aim: 100,
    more: false,
    unit: 'ms',
    of: ({ fresh }) => middle(fresh?.runs.map(({ p99 }) => p99)),
  },
  {
    what: 'cores at 1,000 lines/s over nine sources',
    must: 0.25,
    aim: 0.1,
    more: false,
    unit: '',
    of: ({ fresh }) => middle(fresh?.cores),
  },
  {
    what: 'disk / input bytes',
    must: 0.18,
    aim: 0.12,
    more: false,
    unit: '',
    of: ({ ingest }) =>
      middle(ingest?.loaded.tailpond.map(({ diskBytes }) => diskBytes / ingest.bytes)),
  },
  {
    what: 'resident memory, idle with 10 million rows',
    must: 250,
    aim: 150,
    more: false,
    unit: 'MB',
    of: ({ scale }) => sizeOf(scale?.sizes, 10e6)?.idleMb ?? null,
  },
  {
    what: 'resident memory, peak of bulk ingest',
    must: 600,
    aim: 400,
    more: false,
    unit: 'MB',
    of: ({ ingest }) => middle(ingest?.loaded.tailpond.map(({ peakMb }) => peakMb)),
  },
  {
    what: 'rows forwarded, a second of processor of node and server / INSERT of the same file',
    must: 0.8,
    aim: 1,
    more: true,
    unit: '',
    of: ({ cluster }) =>
      middle(
        cluster?.forwarded.map(({ nodeSeconds, serverSeconds }, run) => {
          const alone = cluster.alone[run]?.processorSeconds ?? Number.NaN;
          return alone / (nodeSeconds + serverSeconds);
        }),
      ),
  },
  {
    what: 'write to visible in ClickHouse, p99 at 1,000 lines/s',
    must: 3000,
    aim: 1000,
    more: false,
    unit: 'ms',
    of: ({ cluster }) => middle(cluster?.fresh.map(({ p99 }) => p99)),
  },
  {
    what: 'resident memory of a node that forwards, peak',
    must: 700,
    aim: 500,
    more: false,
    unit: 'MB',
    of: ({ cluster }) => middle(cluster?.forwarded.map(({ peakMb }) => peakMb)),
  },
  {
    what: 'start with 10 million rows to `/readyz` 200',
    must: 2,
    aim: 1,
    more: false,
    unit: 's',
    of: ({ scale }) => {
      const ms = middle(sizeOf(scale?.sizes, 10e6)?.readyMs);
      return ms === null ? null : ms / 1000;
    },
  },
];

/** The targets next to what was measured, as a Markdown table. */
export function targetsTable(results: Results): string {
  const rows = TARGETS.map((target) => {
    const value = target.of(results);
    return [
      target.what,
      withUnit(target.must, target),
      withUnit(target.aim, target),
      value === null ? 'not measured' : withUnit(value, target),
      value === null ? '' : verdict(value, target),
    ];
  });
  return markdownTable(['what', 'must', 'aim', 'measured', ''], rows);
}

export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The median of the ratios of two engines' values, run by run; null when one of them has none. */
export function ratio<T>(
  values: PerEngine<T> | undefined,
  above: EngineName,
  below: EngineName,
  of: (value: T) => number,
): number | null {
  const ratios = values?.[above].flatMap((value, run) => {
    const other = values[below][run];
    return other === undefined ? [] : [of(value) / of(other)];
  });
  return middle(ratios);
}

/** How much longer a caller's question takes than the same by hand: the median of pairs. */
export function ratioByHand({
  handMs,
  ownMs,
}: Pick<OwnSql['questions'][number], 'handMs' | 'ownMs'>): number {
  return median(ownMs.map((ms, run) => ms / (handMs[run] ?? Number.NaN)));
}

/** Three significant digits. */
export function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

function ingestTarget(name: string, engine: EngineName, must: number, aim: number): Target {
  return {
    what: `bulk ingest, lines/s / ${name}`,
    must,
    aim,
    more: true,
    unit: '',
    // The same lines: the ratio of rates is the inverse of the times'.
    of: ({ ingest }) => ratio(ingest?.loaded, engine, 'tailpond', ({ ms }) => ms),
  };
}

function questionTarget(what: string, key: keyof Questions, must: number, aim: number): Target {
  return {
    what,
    must,
    aim,
    more: false,
    unit: '',
    of: ({ engine }) =>
      ratio(engine?.asked, 'tailpond', 'clickhouse', (questions) => questions[key].p50),
  };
}

/** The slowest of the questions of a kind, over all tables. */
function peerTarget(what: string, kind: PeerKind, must: number, aim: number): Target {
  return {
    what: `${what} / ClickHouse`,
    must,
    aim,
    more: false,
    unit: '',
    of: ({ peer }) =>
      slowest(peer, kind, ({ ms, clickhouseMs }) => (clickhouseMs ? ms / clickhouseMs : null)),
  };
}

function slowest(
  peer: Results['peer'],
  kind: PeerKind,
  of: (question: PeerTable['questions'][number]) => number | null,
): number | null {
  const values = (peer?.tables ?? [])
    .flatMap(({ questions }) => questions.filter((question) => question.kind === kind))
    .map(of)
    .filter((value) => value !== null);
  return values.length === 0 ? null : Math.max(...values);
}

function sizeOf(sizes: readonly Size[] | undefined, rows: number): Size | undefined {
  return sizes?.find((size) => size.rows === rows);
}

function middle(values: readonly number[] | undefined): number | null {
  return values && values.length > 0 ? median(values) : null;
}

function withUnit(value: number, { unit }: Target): string {
  return unit === '' ? short(value) : `${short(value)} ${unit}`;
}

function verdict(value: number, { must, aim, more }: Target): string {
  const reaches = (goal: number) => (more ? value >= goal : value <= goal);
  if (reaches(aim)) return 'aim reached';
  return reaches(must) ? 'ok' : '**missed**';
}
