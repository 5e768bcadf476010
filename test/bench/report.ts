import { type Chart, NAMES } from './charts.ts';
import {
  type Cached,
  ENGINES,
  type Engine,
  type EngineName,
  type Formats,
  type Forwarding,
  type Fresh,
  type Http,
  type Ingest,
  type OwnSql,
  type PeerTable,
  type Restart,
  type Results,
  type Searched,
  type Size,
  type StoredLines,
  type Studio,
  type VictoriaLogsResults,
  type VictoriaTable,
} from './results.ts';
import { type Latency, median, medianLatency, quantile } from './statistics.ts';
import { markdownTable, ratio, ratioByHand, short, targetsTable } from './targets.ts';

/** The figures of docs/benchmarks.md, as Markdown. */
export function report(results: Results, charts: readonly Chart[]): string {
  const {
    ingest,
    formats,
    engine,
    http,
    sql,
    search,
    peer,
    victorialogs,
    studio,
    cached,
    fresh,
    restart,
    scale,
    cluster,
  } = results;
  const images = (...files: string[]) =>
    charts
      .filter(({ file }) => files.includes(file))
      .map(({ file, alt }) => `![${alt}](img/${file})`);
  return [
    machine(results),
    '## Targets',
    'Ratios are medians of pairs within a run.',
    targetsTable(results),
    ...(ingest ? ['## Bulk ingest', ingestTable(ingest), ...images('ingest.svg')] : []),
    ...(ingest ? images('disk.svg', 'memory.svg') : []),
    ...(formats ? ['## Formats of lines', formatsTable(formats)] : []),
    ...(engine ? ['## Questions at the engine', ...engineTables(engine)] : []),
    ...images('logs-all.svg', 'api-counts.svg'),
    ...(http ? ['## Questions over HTTP', httpTable(http)] : []),
    ...(sql ? ['## SQL of callers', sqlTable(sql)] : []),
    ...(search ? ['## Search queries', searchTable(search)] : []),
    ...(peer ? ['## Questions of callers beside ClickHouse', ...peer.tables.map(peerTable)] : []),
    ...(victorialogs ? ['## VictoriaLogs', ...victoriaTexts(victorialogs)] : []),
    ...(studio ? ["## Requests of Studio's kind", ...studio.sizes.map(studioText)] : []),
    ...(cached ? ['## Cached answers', cachedTable(cached)] : []),
    ...(fresh ? ['## From write to visible', freshText(fresh)] : []),
    ...(restart ? ['## Start and recovery', restartTable(restart)] : []),
    ...(cluster ? ['## Forwarding to ClickHouse', ...forwardingTables(cluster)] : []),
    ...(scale ? ['## Scale', scaleTable(scale.sizes), ...images('scale.svg')] : []),
  ].join('\n\n');
}

function machine({ machine: on, ingest, measured }: Results): string {
  const versions = ENGINES.flatMap((name) => {
    const [loaded] = ingest?.loaded[name] ?? [];
    return loaded ? [`${NAMES[name].replace(' alone', '')} ${loaded.version}`] : [];
  });
  return [
    `Measured on ${on.cores} cores of ${on.cpu}, ${on.memoryGib} GiB, Linux ${on.kernel}, Node ${on.node};`,
    `${[...versions, ...on.tools].join(', ')}.`,
    `${sectionsMeasured(measured).join(' ')}`,
  ].join('\n');
}

/** A sentence for the sections that were measured on a day with the same number of rows and runs. */
function sectionsMeasured(measured: Results['measured']): string[] {
  const groups = new Map<string, string[]>();
  for (const [name, { date, rows, runs }] of Object.entries(measured)) {
    const times = runs === 1 ? 'one run' : `medians of ${runs} runs`;
    const how =
      name === 'scale' || name === 'studio'
        ? `${date.slice(0, 10)}, one run of each size`
        : `${date.slice(0, 10)}, ${whole(rows)} edge lines, ${times}`;
    groups.set(how, [...(groups.get(how) ?? []), name]);
  }
  return [...groups].map(([how, names]) => `Sections ${names.join(', ')}: ${how}.`);
}

function ingestTable({ lines, bytes, loaded }: Ingest): string {
  const rows = measuredEngines(loaded).map((name) => {
    const of = (value: (run: (typeof loaded)[EngineName][number]) => number) =>
      median(loaded[name].map(value));
    const rate = ratio(loaded, name, 'tailpond', ({ ms }) => ms);
    return [
      NAMES[name],
      whole(of(({ ms }) => (lines / ms) * 1000)),
      short(of(({ ms }) => bytes / 1e3 / ms)),
      name === 'tailpond' || rate === null ? '' : short(rate),
      short(of(({ peakMb }) => peakMb)),
      short(of(({ diskBytes }) => diskBytes / bytes)),
    ];
  });
  const head = [
    'engine',
    'lines/s',
    'MB/s',
    "tailpond's rate / this one's",
    'peak memory, MB',
    'disk, bytes per byte of input',
  ];
  return `${whole(lines)} lines of nine sources, ${short(bytes / 1e6)} MB.\n\n${markdownTable(head, rows)}`;
}

/** A row of the table for each format. Ratios are medians of the runs, each with the first format in the same run. */
export function formatsTable({ rows, formats }: Formats): string {
  const cells = (stored: readonly StoredLines[]) =>
    stored.length === 0
      ? ['', '', '']
      : [
          whole(median(stored.map(({ ms }) => (rows / ms) * 1000))),
          short(median(stored.map(({ seconds }) => (seconds / rows) * 1e6))),
          short(median(stored.map(({ peakMb }) => peakMb))),
        ];
  const [first] = formats;
  const lines = formats.map(({ name, bytes, own, theirs }) => {
    const toFirst = (of: (run: StoredLines, base: StoredLines) => number) =>
      short(median(own.flatMap((run, n) => (first?.own[n] ? [of(run, first.own[n])] : []))));
    const [rate = '', processor = '', memory = ''] = cells(own);
    return [
      name,
      whole(bytes / rows),
      rate,
      toFirst(({ ms }, base) => base.ms / ms),
      processor,
      toFirst(({ seconds }, base) => seconds / base.seconds),
      memory,
      ...cells(theirs),
    ];
  });
  const head = [
    'format',
    'bytes a row',
    'rows/s',
    'ratio to the first',
    'processor, µs a row',
    'ratio to the first',
    'peak memory, MB',
    'VictoriaLogs, rows/s',
    'processor, µs a row',
    'peak memory, MB',
  ];
  return `${whole(rows)} rows of each format.\n\n${markdownTable(head, lines)}`;
}

function engineTables({ asked, scanned, agree }: Engine): string[] {
  const rows = measuredEngines(asked).map((name) => {
    const list = medianLatency(asked[name].map((questions) => questions.list));
    const counts = medianLatency(asked[name].map((questions) => questions.counts));
    return [name === 'duckdb' ? 'DuckDB, the SQL alone' : NAMES[name], ...ms(list), ...ms(counts)];
  });
  const scan = (name: string, value: number | null, columns: (text: string) => string[]) =>
    value === null ? [] : [[name, ...columns(short(value))]];
  rows.push(
    ...scan('grep and tail on the file', scanned.grepListMs, (text) => [text, '', '', '']),
    ...scan('jq on the file', scanned.jqCountsMs, (text) => ['', '', text, '']),
  );
  const head = ['ms', '`logs.all` p50', 'p99', '`usage.api-counts` daily p50', 'p99'];
  const same = agree
    ? 'All engines gave the same answers.'
    : '**The engines did not all give the same answers**, so these figures do not compare like with like.';
  return [markdownTable(head, rows), same];
}

function httpTable({ questions }: Http): string {
  const rows = questions.map(({ name, first, fresh, cached }) => [
    name === 'logs.all' ? '`logs.all`' : `\`usage.api-counts\` ${name}`,
    ...ms(first),
    ...ms(fresh),
    ...(cached ? ms(cached) : ['', '']),
  ]);
  const head = [
    'ms',
    'first after a start, p50',
    'p99',
    'not cached, p50',
    'p99',
    'cached, p50',
    'p99',
  ];
  return markdownTable(head, rows);
}

/** Each source has the number of lines that the edge logs have; one of 20 projects is asked for. */
function sqlTable({ questions }: OwnSql): string {
  const rows = questions.map((question) => [
    question.name,
    short(median(question.handMs)),
    short(median(question.ownMs)),
    short(ratioByHand(question)),
    short(question.translate.p50),
  ]);
  const head = ['question', 'by hand, ms', "caller's, ms", 'ratio', 'read and written anew, ms'];
  return markdownTable(head, rows);
}

function searchTable({ rows, questions }: Searched): string {
  const cells = questions.map((question) => [
    `\`${question.name}\``,
    whole(question.entries),
    short(median(question.handMs)),
    short(median(question.ownMs)),
    short(ratioByHand(question)),
  ]);
  const head = ['query', 'entries', 'by hand, ms', 'q, ms', 'ratio'];
  return [
    `A histogram of the entries that are found among ${whole(rows)} of \`edge_logs\`, by SQL that somebody writes who knows DuckDB, and by \`q=\`.`,
    markdownTable(head, cells),
  ].join('\n\n');
}

/** The questions to a table, next to ClickHouse's engine and PostgreSQL. */
export function peerTable(table: PeerTable): string {
  const rows = table.questions.map(({ name, ms: own, clickhouseMs, postgresMs, agree }) => [
    name,
    short(own),
    clickhouseMs === null ? '' : short(clickhouseMs),
    clickhouseMs === null ? '' : `${short(own / clickhouseMs)}${agree ? '' : ' (other rows)'}`,
    typeof postgresMs === 'number' ? short(postgresMs) : '',
  ]);
  const of = table.projects === 1 ? 'one project' : `${table.projects} projects`;
  const head = ['', 'tailpond, ms', 'ClickHouse, ms', 'ratio', 'PostgreSQL, ms'];
  return [
    `${whole(table.rows)} edge lines of ${of}, metadata of ${table.arrays ? 'arrays' : 'objects'}. Settled in`,
    `${short(table.settleMs / 1000)} s; peak memory ${short(table.ingestPeakMb)} MB in ingest, ${short(table.settledPeakMb)} MB until settled;`,
    `disk ${short(table.diskShare)} bytes per byte of input.\n\n${markdownTable(head, rows)}`,
  ].join('\n');
}

function victoriaTexts({ version, tables }: VictoriaLogsResults): string[] {
  return [
    `VictoriaLogs ${version} and tailpond store the same edge lines and answer the same questions over HTTP. A ratio below 1 of a time means that tailpond is faster.`,
    ...tables.map(victoriaTable),
  ];
}

/** The questions to both, and what they take to store the lines. */
export function victoriaTable({
  rows,
  bytes,
  projects,
  runs,
  times,
  own,
  theirs,
  questions,
}: VictoriaTable): string {
  const line = (name: string, ownValue: number, theirValue: number) => [
    name,
    short(theirValue),
    short(ownValue),
    short(ownValue / theirValue),
  ];
  const middle = (name: string, of: (stored: StoredLines) => number) =>
    line(name, median(own.map(of)), median(theirs.map(of)));
  const last = (name: string, of: (stored: StoredLines | undefined) => number) =>
    line(name, of(own.at(-1)), of(theirs.at(-1)));
  const perRow = (seconds: number | null = null) => ((seconds ?? Number.NaN) / rows) * 1e6;
  const of = projects === 1 ? 'one project' : `${projects} projects`;
  const about = projects === 1 ? '' : ' Questions of one project ask for one that has 2 % of them.';
  const head = ['', 'VictoriaLogs', 'tailpond', 'ratio'];
  return [
    `${whole(rows)} lines of ${of}, medians of ${times} in ms.${about}`,
    markdownTable(
      head,
      questions.map(({ name, ms: ownMs, theirMs }) => line(name, ownMs, theirMs)),
    ),
    `Storing them, ${runs === 1 ? 'once' : `medians of ${runs}`}; until settled, and the disk, once.`,
    markdownTable(head, [
      middle('rows/s', (stored) => (rows / stored.ms) * 1000),
      middle('processor, µs a row', ({ seconds }) => perRow(seconds)),
      last('processor until settled, µs a row', (stored) => perRow(stored?.settledSeconds)),
      middle('peak memory, MB', ({ peakMb }) => peakMb),
      last('disk, bytes per byte of input', (stored) => (stored?.diskBytes ?? Number.NaN) / bytes),
    ]),
  ].join('\n\n');
}

function studioText({ rows, settleMs, idleMb, requests }: Studio['sizes'][number]): string {
  const slowest = requests.toSorted((a, b) => b.ms - a.ms).slice(0, 8);
  const times = requests.map((request) => request.ms);
  return [
    `${whole(rows)} rows of nine sources and one project in 30 days, settled in ${short(settleMs / 60_000)} minutes; ${requests.length} requests,`,
    `each over the last 7 days: p50 ${short(median(times))} ms, p95 ${short(quantile(times, 0.95))} ms. Resident memory before them: ${short(idleMb)} MB. The slowest:\n\n${markdownTable(
      ['request', 'ms'],
      slowest.map(({ name, ms: own }) => [name, short(own)]),
    )}`,
  ].join('\n');
}

function cachedTable({ pairs, answerBytes, duringIngest }: Cached): string {
  const during = medianLatency(duringIngest);
  return markdownTable(
    ['', 'tailpond', 'bare Express'],
    [
      [
        `requests/s, 50 connections, an answer of ${answerBytes} bytes`,
        whole(median(pairs.map(({ tailpond }) => tailpond))),
        whole(median(pairs.map(({ express }) => express))),
      ],
      [`during bulk ingest, p50, ms`, short(during.p50), ''],
      [`during bulk ingest, p99, ms`, short(during.p99), ''],
    ],
  );
}

function freshText({ runs, cores }: Fresh): string {
  const { p50, p99, samples } = medianLatency(runs);
  return `At 1,000 lines/s over nine sources: p50 ${short(p50)} ms, p99 ${short(p99)} ms (${whole(samples)} lines). With nobody asking, the service uses ${short(median(cores))} of a core.`;
}

function restartTable({ readyMs, idleMb, recoveries }: Restart): string {
  const of = (value: (recovery: (typeof recoveries)[number]) => number) =>
    short(median(recoveries.map(value)));
  return markdownTable(
    ['', ''],
    [
      ['start to `/readyz` 200, ms', short(median(readyMs))],
      ['resident memory when idle, MB', short(median(idleMb))],
      ['killed in bulk ingest, with this share of the rows stored', of(({ killedAt }) => killedAt)],
      ['after the kill to `/readyz` 200, ms', of((recovery) => recovery.readyMs)],
      ['after the kill until every line is stored, once, ms', of(({ wholeMs }) => wholeMs)],
    ],
  );
}

function forwardingTables({
  lines,
  alone,
  forwarded,
  two,
  fresh,
  cores,
  answers,
  dialect,
}: Forwarding): string[] {
  const of = <T>(runs: readonly T[], value: (run: T) => number) => median(runs.map(value));
  const rate = (runs: readonly { readonly ms: number }[], count: number) =>
    whole((count / of(runs, ({ ms }) => ms)) * 1000);
  const perRow = (seconds: number, count: number) => short((seconds / count) * 1e6);
  const { p50, p99 } = medianLatency(fresh);
  return [
    markdownTable(
      ['', 'rows/s', 'processor of nodes, µs a row', 'of servers'],
      [
        [
          'INSERT of the file by ClickHouse itself',
          rate(alone, lines),
          '',
          perRow(
            of(alone, (run) => run.processorSeconds),
            lines,
          ),
        ],
        [
          'one node, one server',
          rate(forwarded, lines),
          perRow(
            of(forwarded, (run) => run.nodeSeconds),
            lines,
          ),
          perRow(
            of(forwarded, (run) => run.serverSeconds),
            lines,
          ),
        ],
        [
          'two nodes, two servers, all on this machine',
          rate(two, 2 * lines),
          perRow(
            of(two, (run) => run.nodeSeconds),
            2 * lines,
          ),
          perRow(
            of(two, (run) => run.serverSeconds),
            2 * lines,
          ),
        ],
      ],
    ),
    `At 1,000 lines/s over nine sources a line is visible after ${short(p50)} ms (p50) and ${short(p99)} ms (p99). With nobody asking, the node uses ${short(of(cores, ({ node }) => node))} of a core and the server ${short(of(cores, ({ server }) => server))}.`,
    markdownTable(
      [
        `of ${whole(lines)} rows, over HTTP`,
        'from ClickHouse, p50, ms',
        'p99',
        'from the store, p50, ms',
        'p99',
      ],
      answers.map(({ name, clickhouse, store }) => [name, ...msOr(clickhouse), ...msOr(store)]),
    ),
    'SQL in ClickHouse’s dialect over `logs.all.otel`, of the project that has 28 % of the rows:',
    markdownTable(
      [
        `of ${whole(lines)} rows, over HTTP`,
        'ClickHouse is asked itself, p50, ms',
        'p99',
        'over fetched rows, p50, ms',
        'p99',
      ],
      dialect.map(({ name, asked, fetched }) => [name, ...msOr(asked), ...msOr(fetched)]),
    ),
  ];
}

/** For questions that may be refused. */
function msOr(latency: Latency | null): string[] {
  return latency ? ms(latency) : ['refused', ''];
}

function scaleTable(sizes: readonly Size[]): string {
  const row = (name: string, of: (size: Size) => string) => [name, ...sizes.map(of)];
  const rows = [
    row('ingest, lines/s', ({ rows, ingestMs }) => whole((rows / ingestMs) * 1000)),
    row('peak memory, MB', ({ peakMb }) => short(peakMb)),
    row('disk, GB', ({ diskBytes }) => short(diskBytes / 1e9)),
    row('disk / input', ({ diskBytes, inputBytes }) => short(diskBytes / inputBytes)),
    row('start to `/readyz` 200, ms', ({ readyMs }) => short(median(readyMs))),
    row('resident memory when idle, MB', ({ idleMb }) => short(idleMb)),
    row('`logs.all` at the engine, p50, ms', ({ engine }) => short(engine.list.p50)),
    row('`logs.all` over HTTP, p50, ms', ({ list }) => short(list.p50)),
    row('`logs.all` over HTTP, p99, ms', ({ list }) => short(list.p99)),
    row('`logs.all`, answers/s', ({ listsPerSecond }) => whole(listsPerSecond)),
    row('`usage.api-counts` daily, not cached, p50, ms', ({ counts }) => short(counts.p50)),
  ];
  return markdownTable(['edge rows', ...sizes.map(({ rows: count }) => whole(count))], rows);
}

function measuredEngines(values: Readonly<Record<EngineName, readonly unknown[]>>): EngineName[] {
  return ENGINES.filter((name) => values[name].length > 0);
}

function ms({ p50, p99 }: Latency): string[] {
  return [short(p50), short(p99)];
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
