import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The clock and its timers, in ms; tests supply their own. */
export interface Clock {
  now(): number;
  setTimeout(action: () => void, ms: number): { unref(): void };
}

export interface Cached {
  readonly body: Buffer;
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
  /** The answer under `key`, or what `load` gives; one load a key at a time. A load that fails is not kept. */
  get(key: string, lifetime: Lifetime, load: () => Promise<Buffer>): Promise<Cached>;
  clear(): void;
}

interface Entry {
  readonly body: Buffer;
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
  const loading = new Map<string, Promise<Entry>>();

  const load = (key: string, lifetime: Lifetime, run: () => Promise<Buffer>): Promise<Entry> => {
    const running = loading.get(key);
    if (running) return running;
    const started = run()
      .then((body) => {
        const madeAt = clock.now();
        const askedAt = entries.peek(key)?.askedAt ?? madeAt;
        const entry = {
          body,
          etag: `W/"${hash('sha1', body, 'base64url')}"`,
          madeAt,
          askedAt,
          warming: false,
        };
        entries.set(key, entry);
        loading.delete(key);
        warmLater(key, entry, lifetime, run);
        return entry;
      })
      .finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  };

  const warmLater = (key: string, entry: Entry, lifetime: Lifetime, run: () => Promise<Buffer>) => {
    if (lifetime.warming === null || entry.warming || loading.has(key)) return;
    entry.warming = true;
    const warm = () => {
      entry.warming = false;
      const now = clock.now();
      const forgotten = entries.peek(key) !== entry;
      if (forgotten || now - entry.askedAt >= lifetime.caching * 1000) return;
      load(key, lifetime, run).catch((error) => {
        options.onRefreshFailed?.(error);
        if (alive(entry, lifetime)) warmLater(key, entry, lifetime, run);
      });
    };
    clock.setTimeout(warm, lifetime.warming * 1000).unref();
  };

  const alive = (entry: Entry, { caching }: Lifetime) =>
    clock.now() - entry.madeAt < caching * 1000;

  return {
    async get(key, lifetime, run) {
      const entry = entries.get(key);
      const now = clock.now();
      if (entry) entry.askedAt = now;
      if (entry && alive(entry, lifetime)) {
        warmLater(key, entry, lifetime, run);
        const { body, etag } = entry;
        return { body, etag, age: Math.floor((now - entry.madeAt) / 1000), hit: true };
      }
      const { body, etag } = await load(key, lifetime, run);
      return { body, etag, age: 0, hit: false };
    },
    clear: () => entries.clear(),
  };
}
