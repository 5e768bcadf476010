import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The clock and its timers, in ms; tests supply their own. */
export interface Clock {
  now(): number;
  setTimeout(action: () => void, ms: number): { unref(): void };
}

/** An answer, as it is kept. */
export interface Answer {
  readonly body: Buffer;
  /** The headers that say something about its rows. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Cached extends Answer {
  /** Made with the body, so that not every answer has to hash it. */
  readonly etag: string;
  /** Seconds since it was made. */
  readonly age: number;
  readonly hit: boolean;
}

export interface CacheOptions {
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly clock?: Clock;
  /** Told of a refresh in the background that failed; the old answer stays until its time is up. */
  readonly onRefreshFailed?: (error: unknown) => void;
}

/** How long an answer lives from its last refresh, and how often it is refreshed while it is asked for; in seconds. */
export interface Lifetime {
  readonly caching: number;
  readonly warming: number | null;
}

export interface Cache {
  /**
   * The answer under `key`, at once, or what `load` gives; one load a key at a time. A load that fails is not kept. `leaving` is
   * called by who has to wait; when all who wait for a load have left, its signal is aborted.
   */
  get(
    key: string,
    lifetime: Lifetime,
    load: Load,
    leaving?: () => AbortSignal,
  ): Cached | Promise<Cached>;
  stats(): CacheStats;
  clear(): void;
}

export interface CacheStats {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  /** Bytes of the answers with their keys. */
  readonly bytes: number;
}

/** Makes an answer. Should end when the signal is aborted, with its reason. */
export type Load = (signal: AbortSignal) => Promise<Answer>;

interface Loading {
  readonly entry: Promise<Entry>;
  readonly ending: AbortController;
  /** How many wait for it; Infinity for a load that goes on without them, too. */
  waiting: number;
}

interface Entry extends Answer {
  readonly etag: string;
  readonly madeAt: number;
  askedAt: number;
  /** Whether a refresh is to come. */
  warming: boolean;
}

/** Keeps answers. An entry that is asked for within its lifetime is refreshed in the background; another one ends. */
export function createCache(options: CacheOptions): Cache {
  const clock = options.clock ?? { now: () => performance.now(), setTimeout };
  const entries = new LRUCache<string, Entry>({
    max: options.maxEntries,
    maxSize: options.maxBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + 1,
  });
  const loading = new Map<string, Loading>();
  let hits = 0;
  let misses = 0;

  const load = (key: string, lifetime: Lifetime, run: Load): Loading => {
    const running = loading.get(key);
    if (running && !running.ending.signal.aborted) return running;
    const ending = new AbortController();
    const done = () => {
      if (loading.get(key) === started) loading.delete(key);
    };
    const entry = run(ending.signal)
      .then(({ body, headers }) => {
        const madeAt = clock.now();
        const askedAt = entries.peek(key)?.askedAt ?? madeAt;
        const made = {
          body,
          headers,
          etag: `W/"${hash('sha1', body, 'base64url')}"`,
          madeAt,
          askedAt,
          warming: false,
        };
        entries.set(key, made);
        done();
        warmLater(key, made, lifetime, run);
        return made;
      })
      .finally(done);
    const started: Loading = { entry, ending, waiting: 0 };
    loading.set(key, started);
    return started;
  };

  const waitFor = (started: Loading, leaving?: () => AbortSignal): Promise<Entry> => {
    const left = leaving?.();
    started.waiting += left ? 1 : Infinity;
    left?.addEventListener('abort', () => {
      if (--started.waiting === 0) started.ending.abort(left.reason);
    });
    return started.entry;
  };

  const warmLater = (key: string, entry: Entry, lifetime: Lifetime, run: Load) => {
    if (lifetime.warming === null || entry.warming || loading.has(key)) return;
    entry.warming = true;
    const warm = () => {
      entry.warming = false;
      const now = clock.now();
      const forgotten = entries.peek(key) !== entry;
      if (forgotten || now - entry.askedAt >= lifetime.caching * 1000) return;
      waitFor(load(key, lifetime, run)).catch((error) => {
        options.onRefreshFailed?.(error);
        if (alive(entry, lifetime)) warmLater(key, entry, lifetime, run);
      });
    };
    clock.setTimeout(warm, lifetime.warming * 1000).unref();
  };

  const alive = (entry: Entry, { caching }: Lifetime) =>
    clock.now() - entry.madeAt < caching * 1000;

  const kept = (key: string, lifetime: Lifetime, run: Load): Cached | null => {
    const entry = entries.get(key);
    if (!entry) return null;
    entry.askedAt = clock.now();
    if (!alive(entry, lifetime)) return null;
    warmLater(key, entry, lifetime, run);
    hits++;
    const { body, headers, etag } = entry;
    const age = Math.floor((entry.askedAt - entry.madeAt) / 1000);
    return { body, headers, etag, age, hit: true };
  };

  return {
    get(key, lifetime, run, leaving) {
      const there = kept(key, lifetime, run);
      if (there) return there;
      misses++;
      return waitFor(load(key, lifetime, run), leaving).then(({ body, headers, etag }) => {
        return { body, headers, etag, age: 0, hit: false };
      });
    },
    stats: () => ({ hits, misses, entries: entries.size, bytes: entries.calculatedSize }),
    clear: () => entries.clear(),
  };
}
