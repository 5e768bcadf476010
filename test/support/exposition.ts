import { expect } from 'chai';

/** A metric of a /metrics answer, with all of its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** The family's name; for a histogram, with `_bucket`, `_sum` or `_count` behind it. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Reads Prometheus' text format, version 0.0.4, and fails for anything else. Each family has its HELP and TYPE once, before
 * its samples. No series comes twice, and buckets add up.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function readExposition(text: string): Map<string, Family> {
  expect(text.endsWith('\n'), 'the last line ends').to.equal(true);
  const families = new Map<string, Family & { samples: Sample[] }>();
  const series = new Set<string>();
  let help: { name: string; text: string } | null = null;
  let family: (Family & { samples: Sample[] }) | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# HELP ')) {
      const [, name = '', words = ''] = match(/^# HELP ([a-zA-Z_:][\w:]*) (.+)$/, line);
      expect(families.has(name), `${name} comes once`).to.equal(false);
      help = { name, text: words };
    } else if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] = match(/^# TYPE (\S+) (counter|gauge|histogram)$/, line);
      expect(help?.name, `HELP before TYPE of ${name}`).to.equal(name);
      family = { name, help: help?.text ?? '', type, samples: [] };
      families.set(name, family);
    } else {
      const sample = readSample(line);
      const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      expect(series.has(identity), `${line} comes once`).to.equal(false);
      series.add(identity);
      if (!family) throw new Error(`a sample before the first TYPE: ${line}`);
      expect(namesOf(family), line).to.include(sample.name);
      family.samples.push(sample);
    }
  }
  for (const each of families.values()) if (each.type === 'histogram') checkBuckets(each);
  return families;
}

/** Returns the value of a metric's only sample with these labels; it may have others too. Fails for none or several. */
export function sampleValue(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): number {
  const found = samplesOf(families, name, labels);
  expect(found.length, `${name} ${JSON.stringify(labels)}`).to.equal(1);
  return found[0]?.value ?? Number.NaN;
}

/** Returns the samples of this name that have these labels. */
export function samplesOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): readonly Sample[] {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  return (family?.samples ?? []).filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
}

function readSample(line: string): Sample {
  const [, name = '', braces = '', value = ''] = match(
    /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([+-]?(?:Inf|NaN|Nan|[\d.e+-]+))$/,
    line,
  );
  const labels: Record<string, string> = {};
  const pair = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
  while (pair.lastIndex < braces.length) {
    const [, label, text] = pair.exec(braces) ?? [];
    if (label === undefined || text === undefined) throw new Error(`labels of ${line}`);
    expect(labels, line).not.to.have.property(label);
    labels[label] = text.replace(/\\([\\"n])/g, (_, c) => (c === 'n' ? '\n' : c));
  }
  const number = Number(value.replace('Inf', 'Infinity'));
  // Read by Go's ParseFloat, in any letter case.
  expect(/^nan$/i.test(value) || !Number.isNaN(number), line).to.equal(true);
  return { name, labels, value: number };
}

function namesOf({ name, type }: Family): string[] {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
}

/** Checks that the counts of buckets never fall, and that the last one is the count of all. */
function checkBuckets({ name, samples }: Family) {
  const counts = samples.filter((sample) => sample.name === `${name}_count`);
  for (const { labels, value } of counts) {
    const own = samples.filter(
      (sample) =>
        sample.name === `${name}_bucket` &&
        Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    );
    const bounds = own.map((sample) => Number(sample.labels.le?.replace('+Inf', 'Infinity')));
    expect(bounds, name).to.deep.equal([...bounds].sort((a, b) => a - b));
    const values = own.map((sample) => sample.value);
    expect(values, name).to.deep.equal([...values].sort((a, b) => a - b));
    expect([bounds.at(-1), values.at(-1)], name).to.deep.equal([Infinity, value]);
  }
}

function match(pattern: RegExp, line: string): RegExpExecArray {
  const found = pattern.exec(line);
  if (!found) throw new Error(`not in the text format: ${line}`);
  return found;
}
