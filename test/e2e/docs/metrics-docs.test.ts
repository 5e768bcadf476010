import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { type Family, readExposition } from '../../support/exposition.ts';
import { withApp, withFolder } from '../../support/helpers.ts';

const PAGE = read('docs/metrics.md');
const ALERTS = (
  readYaml(read('docs/alerts.yml')) as { groups: { rules: Alert[] }[] }
).groups.flatMap(({ rules }) => rules);
const DASHBOARD = JSON.parse(read('docs/grafana-dashboard.json')) as Dashboard;
const PANELS = DASHBOARD.panels.filter(({ type }) => type !== 'row');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Record<string, unknown>[] };
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: unknown;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly targets: readonly { readonly expr: string; readonly datasource: unknown }[];
}

/** What Prometheus adds to every series of a target. */
const OF_A_TARGET = ['job', 'instance'];

describe('the docs of the metrics', () => {
  let families: Map<string, Family>;

  before(() =>
    withFolder((data) =>
      withApp(
        data,
        async ({ get, write, lines }) => {
          write('edge_logs/a.ndjson', '{"id":"1"}\n');
          await lines(1);
          await get('/api/endpoints/query/logs.all?project=p');
          await get('/metrics');
          families = readExposition((await get('/metrics')).text);
        },
        { forwarder: { status: () => [{ source: 'edge_logs', trouble: null, stopped: null }] } },
      ),
    ),
  );

  /** The labels of a metric; null when its samples have none at present to tell by. */
  const labelsOf = (name: string) => {
    const samples = families.get(name)?.samples ?? [];
    if (samples.length === 0) return null;
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    labels.delete('le');
    return [...labels].sort();
  };

  /** Fails for a metric or a label that there is not. */
  const check = (expression: string) => {
    const text = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
    for (const [, name = '', selector = ''] of text.matchAll(
      /\b((?:tailpond|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g,
    )) {
      if (name === 'up') continue;
      const family = families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
      expect([...families.keys()], expression).to.include(family);
      const suffixed = family !== name || families.get(name)?.type !== 'histogram';
      expect(suffixed, `${name} is a histogram: _bucket, _sum or _count`).to.equal(true);
      const known = labelsOf(family);
      const asked = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label);
      if (known) expect([...known, ...OF_A_TARGET], expression).to.include.members(asked);
    }
    const all = new Set([...families.keys()].flatMap((name) => labelsOf(name) ?? []));
    for (const [, names = ''] of text.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of names.split(/, */))
        expect([...all, ...OF_A_TARGET, 'le'], expression).to.include(label);
  };

  it('list every metric of ours with its type, labels and meaning, and no other', () => {
    const listed = table('Metric').filter(([name]) => name?.startsWith('`tailpond_'));
    const given = [...families.values()].filter(({ name }) => name.startsWith('tailpond_'));
    expect(listed.map(([name]) => name)).to.have.members(given.map(({ name }) => code(name)));
    for (const [name = '', type, labels = '', help] of listed) {
      const family = families.get(name.slice(1, -1));
      expect([type, help], name).to.deep.equal([family?.type, family?.help]);
      const known = labelsOf(name.slice(1, -1));
      if (known) expect(codes(labels).sort(), name).to.deep.equal(known);
    }
  });

  it('list every metric of the process', () => {
    const listed = table('Metric').filter(([name]) => !name?.startsWith('`tailpond_'));
    const given = [...families.keys()].filter((name) => !name.startsWith('tailpond_'));
    const names = listed.map(([name = '']) => name.slice(1, -1));
    expect(names).to.include.members(given);
    if (process.platform === 'linux') expect(given).to.include.members(names);
    for (const [name = '', type] of listed)
      expect(families.get(name.slice(1, -1))?.type ?? type, name).to.equal(type);
  });

  it('explain every label of ours, and no other', () => {
    const ours = [...families.keys()].filter((name) => /^tailpond_(?!build_info)/.test(name));
    const labels = new Set(ours.flatMap((name) => labelsOf(name) ?? []));
    expect(table('Label').map(([label]) => label)).to.have.members([...labels].map(code));
  });

  it('give each metric that ends in _total as a counter, and no counter another name', () => {
    for (const { name, type } of families.values())
      if (name.startsWith('tailpond_'))
        expect(name.endsWith('_total'), name).to.equal(type === 'counter');
  });

  it('alert by metrics and labels that there are, and say what to do', () => {
    for (const { alert, expr, labels, annotations } of ALERTS) {
      check(expr);
      expect(labels.severity, alert).to.be.oneOf(['critical', 'warning']);
      expect(annotations, alert).to.have.all.keys('summary', 'description');
      expect(annotations.description?.length, alert).to.be.above(100);
    }
    const listed = table('Alert').map(([name, severity]) => [name, severity]);
    expect(listed).to.deep.equal(ALERTS.map(({ alert, labels }) => [code(alert), labels.severity]));
  });

  it('scrape the job that the alerts name, at the path that Prometheus asks without being told', () => {
    const yaml = /```yaml\n(.*?)```/s.exec(PAGE)?.[1] ?? '';
    const { scrape_configs } = readYaml(yaml) as { scrape_configs: Record<string, unknown>[] };
    expect(scrape_configs).to.have.length(1);
    expect(scrape_configs[0]).to.have.all.keys('job_name', 'authorization', 'static_configs');
    const down = ALERTS.find(({ alert }) => alert === 'TailpondDown');
    expect(down?.expr).to.include(`job="${scrape_configs[0]?.job_name}"`);
  });

  it('draw metrics and labels that there are, each panel with a unit, from the chosen source', () => {
    const [chosen] = DASHBOARD.templating.list;
    expect(chosen).to.include({ name: 'datasource', type: 'datasource' });
    const source = { type: 'prometheus', uid: `\${${chosen?.name}}` };
    expect(DASHBOARD.schemaVersion).to.be.at.least(39);
    for (const { title, description, datasource, fieldConfig, targets } of PANELS) {
      expect(fieldConfig.defaults.unit, title).to.be.a('string').and.not.empty;
      expect(description, title).to.be.a('string').and.not.empty;
      expect(datasource, title).to.deep.equal(source);
      for (const target of targets) {
        expect(target.datasource, title).to.deep.equal(source);
        check(target.expr);
      }
    }
    for (const { definition } of DASHBOARD.templating.list)
      if (definition !== undefined) check(String(definition));
  });

  it('lay panels beside each other, not upon', () => {
    const taken = new Map<string, string>();
    for (const { title, gridPos } of DASHBOARD.panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(x, title).to.be.below(24);
          expect(taken.get(`${x} ${y}`), `${title} lies upon it`).to.equal(undefined);
          taken.set(`${x} ${y}`, title);
        }
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
  });
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** By mocha's own parser; the project needs none. */
function readYaml(text: string): unknown {
  const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };
  return load(text);
}

/** The rows of all tables of the page whose first column is called `first`, as texts of their cells. */
function table(first: string): string[][] {
  const rows: string[][] = [];
  let inside = false;
  for (const line of PAGE.split('\n')) {
    if (line.startsWith(`| ${first} |`)) inside = true;
    else if (!line.startsWith('|')) inside = false;
    else if (inside && !line.startsWith('|---'))
      rows.push(
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
  }
  expect(rows, `no table of ${first}`).not.to.be.empty;
  return rows;
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');
}
