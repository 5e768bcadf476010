import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { ENGINES, type EngineName, type Results } from './results.ts';
import { median } from './statistics.ts';

export interface Chart {
  readonly file: string;
  /** What a reader who cannot see it should know. */
  readonly alt: string;
  readonly svg: string;
}

/** How the engines are called in charts and tables. */
export const NAMES: Record<EngineName, string> = {
  tailpond: 'tailpond',
  duckdb: 'DuckDB alone',
  clickhouse: 'ClickHouse engine',
  postgres: 'PostgreSQL',
};

/** Bars of what was measured of each engine, and curves over the number of rows; those without a figure are left out. */
export async function drawCharts(results: Results): Promise<Chart[]> {
  const { ingest, engine, scale } = results;
  const charts: Chart[] = [];
  if (ingest) {
    const { loaded } = ingest;
    charts.push(
      await bars(
        'ingest.svg',
        'Bulk ingest, thousand lines per second (more is better)',
        values((name) => loaded[name].map(({ ms }) => ingest.lines / ms)),
      ),
      await bars(
        'disk.svg',
        'Disk, bytes per byte of input (less is better)',
        values((name) => loaded[name].map(({ diskBytes }) => diskBytes / ingest.bytes)),
      ),
      await bars(
        'memory.svg',
        'Peak memory of bulk ingest, MB (less is better)',
        values((name) => loaded[name].map(({ peakMb }) => peakMb)),
      ),
    );
  }
  if (engine) {
    const { asked } = engine;
    charts.push(
      await bars(
        'logs-all.svg',
        'logs.all at the engine, p50 in ms (less is better, logarithmic)',
        values((name) => asked[name].map(({ list }) => list.p50)),
        'log',
      ),
      await bars(
        'api-counts.svg',
        'usage.api-counts daily at the engine, p50 in ms (less is better, logarithmic)',
        values((name) => asked[name].map(({ counts }) => counts.p50)),
        'log',
      ),
    );
  }
  if (scale) {
    const points = scale.sizes.flatMap(({ rows, list, counts }) => [
      { rows: rows / 1e6, ms: list.p50, question: 'logs.all p50' },
      { rows: rows / 1e6, ms: list.p99, question: 'logs.all p99' },
      { rows: rows / 1e6, ms: counts.p50, question: 'usage.api-counts daily p50' },
    ]);
    charts.push(await curves('scale.svg', 'Answers over HTTP, ms, by million rows', points));
  }
  return charts;
}

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly label: string;
}

const BLUE = '#2563a8';
const GREY = '#a3adb8';
const WIDTH = 460;
/** A white ground, so that the text can be read where the page is dark. */
const CONFIG = { background: 'white', font: 'sans-serif', view: { stroke: null }, padding: 12 };

function values(of: (name: EngineName) => readonly number[]): Bar[] {
  return ENGINES.flatMap((engine) => {
    const runs = of(engine);
    if (runs.length === 0) return [];
    const value = median(runs);
    return [{ name: NAMES[engine], value, label: String(Number(value.toPrecision(3))) }];
  });
}

async function bars(
  file: string,
  title: string,
  rows: readonly Bar[],
  scale: 'linear' | 'log' = 'linear',
): Promise<Chart> {
  const from = scale === 'log' ? { scale: { type: 'log', domainMin: 1 } } : {};
  const y = { field: 'name', type: 'nominal', sort: null, title: null };
  const x = { field: 'value', type: 'quantitative', title: null, ...from };
  const spec = {
    title: { text: title, anchor: 'start', fontSize: 13 },
    width: WIDTH,
    height: { step: 28 },
    data: { values: rows },
    encoding: { y, x },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: {
          color: {
            condition: { test: "datum.name === 'tailpond'", value: BLUE },
            value: GREY,
          },
          ...(scale === 'log' ? { x2: { datum: 1 } } : {}),
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 4 },
        encoding: { text: { field: 'label', type: 'nominal' } },
      },
    ],
    config: CONFIG,
  };
  const told = rows.map(({ name, label }) => `${name} ${label}`).join(', ');
  return { file, alt: `${title}: ${told}`, svg: await draw(spec) };
}

async function curves(file: string, title: string, points: readonly object[]): Promise<Chart> {
  const spec = {
    title: { text: title, anchor: 'start', fontSize: 13 },
    width: WIDTH,
    height: 220,
    data: { values: points },
    mark: { type: 'line', point: true },
    encoding: {
      x: { field: 'rows', type: 'quantitative', title: 'million rows' },
      y: { field: 'ms', type: 'quantitative', title: 'ms' },
      color: { field: 'question', type: 'nominal', title: null },
    },
    config: CONFIG,
  };
  return { file, alt: title, svg: await draw(spec) };
}

async function draw(spec: object): Promise<string> {
  const svg = await new View(parse(compile(spec as TopLevelSpec).spec), {
    renderer: 'none',
  }).toSVG();
  return `${svg}\n`;
}
