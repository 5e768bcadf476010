import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { eventually, type Service, withFolder, withService } from '../support/helpers.ts';

/** A query of the Infinity data source. */
interface Target {
  readonly url: string;
  readonly url_options: {
    readonly params: readonly { readonly key: string; readonly value: string }[];
  };
  readonly root_selector: string;
  readonly columns: readonly {
    readonly selector: string;
    readonly text: string;
    readonly type: string;
  }[];
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly query: { readonly infinityQuery?: Target };
    }[];
  };
}

const DASHBOARD = JSON.parse(
  readFileSync(join(ROOT, 'docs/grafana-logs.json'), 'utf8'),
) as Dashboard;
const BEGIN = Date.parse('2026-11-20T10:00:00Z');
const at = (minutes: number) => new Date(BEGIN + minutes * 60_000).toISOString();
/** What Grafana puts in the place of its variables. */
const VALUES: Readonly<Record<string, string>> = {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: so Grafana writes them
  '${__from:date:iso}': at(0),
  '${__to:date:iso}': at(60),
  '${project}': '*',
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: so Grafana writes them
};

describe('the dashboard of entries for Grafana', () => {
  it('finds all that its panels show, for one source, several and all', () =>
    withFolder((data) =>
      withService(data, async (service) => {
        const entry = (id: string, minute: number, status: number) =>
          `${JSON.stringify({ id, timestamp: at(minute), project: 'p', event_message: `request ${id}`, metadata: { request: { path: '/a', method: 'GET' }, response: { status_code: status } } })}\n`;
        appendFileSync(join(data, 'logs/edge_logs/a.log'), entry('a', 1, 200) + entry('b', 2, 503));
        appendFileSync(join(data, 'logs/app_logs/a.log'), entry('c', 3, 503));
        await eventually(async () => {
          const { body } = await service.get('/api/entries/*');
          expect(body.result).to.have.length(3);
        });
        const [sources] = await rowsOf(
          service,
          DASHBOARD.templating.list.flatMap(({ query }) => query.infinityQuery ?? []),
          { source: '' },
        );
        expect(sources?.map(([name]) => name))
          .to.include('edge_logs')
          .and.to.include('app_logs');
        for (const [source, q, ids] of [
          ['edge_logs', '', ['b', 'a']],
          ['edge_logs,app_logs', 'status:503', ['c', 'b']],
          ['*', '', ['c', 'b', 'a']],
        ] as const) {
          const panels = new Map<string, unknown[][]>();
          for (const { title, targets } of DASHBOARD.panels) {
            const [rows = []] = await rowsOf(service, targets, { source, q });
            panels.set(title, rows);
          }
          const entries = panels.get('Newest entries') ?? [];
          expect(entries.map(([, , , id]) => id)).to.eql(ids);
          expect(entries.at(-1)?.slice(1, 3)).to.eql(
            q ? ['request b', 'error'] : ['request a', 'info'],
          );
          const sum = (title: string, column: number) =>
            panels.get(title)?.reduce((all, row) => all + Number(row[column]), 0);
          expect(sum('Entries', 2)).to.equal(ids.length);
          for (const title of ['Status', 'Project']) expect(sum(title, 1)).to.equal(ids.length);
          expect(panels.get('Path')?.[0]?.[0]).to.equal('/a');
        }
      }),
    ));
});

/** The values of the columns of each target, asked as the data source does. */
async function rowsOf(
  service: Service,
  targets: readonly Target[],
  { source, q = '' }: { readonly source: string; readonly q?: string },
): Promise<unknown[][][]> {
  const filled = (text: string) =>
    // biome-ignore lint/suspicious/noTemplateCurlyInString: so Grafana writes them
    (VALUES[text] ?? text).replace('${source:csv}', source).replace('${q}', q);
  return Promise.all(
    targets.map(async ({ url, url_options: { params }, root_selector, columns }) => {
      const search = new URLSearchParams(
        params.map(({ key, value }): [string, string] => [key, filled(value)]),
      );
      expect(search.toString()).not.to.include('%24%7B');
      const { status, body } = await service.get(`${filled(url)}?${search}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      const rows = (root_selector === '' ? body : body[root_selector]) as Record<string, unknown>[];
      expect(rows).to.be.an('array');
      return rows.map((row) =>
        columns.map(({ selector, type }) => {
          const value = row[selector] ?? null;
          if (type === 'timestamp') expect(Date.parse(String(value))).to.be.a('number').and.not.NaN;
          if (type === 'number' && value !== null) expect(value).to.be.a('number');
          return value;
        }),
      );
    }),
  );
}
