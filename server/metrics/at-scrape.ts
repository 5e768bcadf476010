import { Counter, Gauge, type Registry } from 'prom-client';

/** Values of a metric, each with its labels; null if there is no value. */
export type Readings = readonly (readonly [Readonly<Record<string, string>>, number | null])[];

export interface LookedUp {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: () => Readings | Promise<Readings>;
}

/** Adds a metric that something else counts already: its values are looked up at each scrape, and none are kept. */
export function lookedUp(registry: Registry, { kind, name, help, labels, read }: LookedUp): void {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  const present = async () =>
    (await read()).filter((reading): reading is [Record<string, string>, number] => {
      return reading[1] !== null;
    });
  if (kind === 'gauge')
    new Gauge({
      ...options,
      async collect() {
        const readings = await present();
        this.reset();
        for (const [own, value] of readings) this.set(own, value);
      },
    });
  else
    new Counter({
      ...options,
      async collect() {
        const readings = await present();
        this.reset();
        for (const [own, value] of readings) this.inc(own, value);
      },
    });
}
