import { distinctPatterns, nthProject } from '../support/projects.ts';
import type { Bench } from './bench.ts';
import { store } from './load.ts';
import { progress } from './progress.ts';
import type { Http } from './results.ts';
import { type Service, startService } from './service.ts';
import { latency } from './statistics.ts';

const STARTS = 5;
const LISTS = 400;
const COUNTS = 60;
const CACHED = 400;

const LIST = 'logs.all';
const INTERVALS = ['daily', 'hourly', 'minutely'];

/** Each endpoint over HTTP on a store that holds the lines: right after a start, not cached, cached. */
export async function measureHttp(bench: Bench): Promise<Http> {
  const folder = await store(bench, 'tailpond');
  const names = [LIST, ...INTERVALS];
  const starts = STARTS * bench.options.runs;
  const bar = progress('questions over HTTP', starts * names.length + 1);
  const first = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let start = 0; start < starts; start++) {
    for (const name of names) {
      await withService(folder, async (service) => {
        first.get(name)?.push(await service.time(question(name, start)));
      });
      bar.step();
    }
  }
  let questions: Http['questions'] = [];
  await withService(folder, async (service) => {
    questions = await inTurn(names, async (name) => {
      const fresh = await times(service, name === LIST ? LISTS : COUNTS, (n) => question(name, n));
      const cached =
        name === LIST ? null : latency(await times(service, CACHED, () => question(name, 0)));
      return { name, first: latency(first.get(name) ?? []), fresh: latency(fresh), cached };
    });
  });
  bar.end();
  return { questions };
}

/** The path of the nth question; those of usage.api-counts have each a cache key of their own. */
export function question(name: string, n: number): string {
  if (name === LIST) return `${LIST}?project=${nthProject(n)}`;
  const [pattern = ''] = distinctPatterns(1, n);
  return `usage.api-counts?interval=${name}&project=${encodeURIComponent(pattern)}`;
}

export async function times(
  service: Service,
  count: number,
  path: (n: number) => string,
): Promise<number[]> {
  const ms: number[] = [];
  for (let n = 0; n < count; n++) ms.push(await service.time(path(n)));
  return ms;
}

/** Starts the service on a folder, and stops it whatever happens. */
export async function withService<T>(
  folder: string,
  use: (service: Service) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const service = await startService(folder, settings);
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

export async function inTurn<T, R>(
  items: readonly T[],
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await act(item));
  return results;
}
