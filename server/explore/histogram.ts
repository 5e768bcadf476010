import { AppError } from '../errors.ts';
import type { Plain, RowColumn } from '../store/index.ts';
import { between, type EntryEngine, type Filter } from './engine.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Lengths of a bucket, in seconds, that people count in. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 7, 30, 90, 365].map((n) => n * DAY),
];

export interface Histogram {
  /** The buckets that have entries: when each begins, ISO 8601 in UTC, and how many it has. */
  readonly buckets: readonly { readonly timestamp: string; readonly entries: number }[];
  readonly stepSeconds: number;
}

const BUCKETS: readonly RowColumn[] = [
  { name: 'bucket', kind: 'plain', type: 'TIMESTAMP' },
  { name: 'entries', kind: 'plain', type: 'BIGINT' },
];

/** How many entries came when, in at most `most` buckets and one that is cut off at each end. Throws `PARAMETER_INVALID`. */
export async function histogram(
  { source, where, values }: Filter,
  most: number,
  { words, ask }: Pick<EntryEngine, 'words' | 'ask'>,
  signal: AbortSignal,
): Promise<Histogram> {
  const [from, to] = [values.from, values.to].map((moment) => Date.parse(moment ?? ''));
  const seconds = ((to ?? 0) - (from ?? 0)) / 1000;
  if (!(seconds > 0)) {
    const detail = 'Expected "to" to be later than "from".';
    throw new AppError('PARAMETER_INVALID', { faults: [{ parameter: 'to', detail }] });
  }
  const stepSeconds =
    STEPS.find((step) => seconds / step <= most) ?? Math.ceil(seconds / most / DAY) * DAY;
  const { rows } = await ask(
    `select ${words.bucket} as bucket, count(*) as entries
      from ${words.table(source)}
      where ${where} and ${between(words)}
      group by bucket
      order by bucket`,
    BUCKETS,
    { ...values, step_us: String(BigInt(stepSeconds) * 1_000_000n) },
    { maxRows: most + 2, signal },
  );
  const buckets = rows.map(([timestamp, entries]) => ({
    timestamp: String(timestamp),
    entries: Number(entries),
  }));
  return { buckets, stepSeconds };
}

const MOST = 100;
const PROJECTS: readonly RowColumn[] = [
  { name: 'project', kind: 'plain', type: 'VARCHAR' },
  { name: 'entries', kind: 'plain', type: 'BIGINT' },
];

/** The projects of a source that have most entries, and how many they have. */
export async function projects(
  { source, where, values }: Filter,
  { words, ask }: Pick<EntryEngine, 'words' | 'ask'>,
  signal: AbortSignal,
): Promise<Plain[]> {
  const { rows } = await ask(
    `select project, count(*) as entries
      from ${words.table(source)}
      where project is not null and ${where}
      group by project
      order by entries desc, project
      limit ${MOST}`,
    PROJECTS,
    values,
    { maxRows: MOST, signal },
  );
  return rows.map(([project = null, entries]) => ({ project, entries: Number(entries) }));
}
