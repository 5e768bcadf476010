import { parseArgs } from 'node:util';

/** What can be measured, in the order of the page. */
export const SECTIONS = [
  'ingest',
  'formats',
  'engine',
  'http',
  'sql',
  'search',
  'peer',
  'victorialogs',
  'studio',
  'cached',
  'fresh',
  'restart',
  'scale',
  'cluster',
] as const;

/** These take long, and are left out unless they are asked for. */
const LONG: readonly Section[] = ['studio', 'scale', 'cluster'];

export type Section = (typeof SECTIONS)[number];

export interface Options {
  /** Edge lines; the other eight sources have a tenth as many together. */
  readonly rows: number;
  readonly runs: number;
  readonly seed: number;
  readonly sections: readonly Section[];
  /** Millions of rows of the sections `scale` and `studio`. */
  readonly sizes: readonly number[];
  /** A folder of requests, a file `.sql` each, in place of those of test/caller-sql-oracle/own. */
  readonly requests: string | null;
  /** Whether docs/benchmarks.md and its charts are written. */
  readonly write: boolean;
}

const HELP = `npm run bench -- [options]

  --rows N       edge lines (1000000); the other eight sources have a tenth as many together
  --runs N       how often each thing is measured; medians count (3)
  --seed N       other lines (1)
  --only a,b     ${SECTIONS.join(', ')}; or none, to write the page from the last results
  --sizes a,b    millions of rows of "scale" and "studio" (1,3,10)
  --requests F   a folder of requests for "studio", a file .sql each
  --write        write docs/benchmarks.md and its charts
`;

/** Reads the command line; ends the process with its help on --help or a fault. */
export function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        rows: { type: 'string', default: '1000000' },
        runs: { type: 'string', default: '3' },
        seed: { type: 'string', default: '1' },
        only: {
          type: 'string',
          default: SECTIONS.filter((name) => !LONG.includes(name)).join(','),
        },
        sizes: { type: 'string', default: '1,3,10' },
        requests: { type: 'string' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) end(HELP, 0);
    return {
      rows: positive('rows', values.rows),
      runs: positive('runs', values.runs),
      seed: positive('seed', values.seed),
      sections: sectionsOf(values.only),
      sizes: values.sizes.split(',').map((size) => positive('sizes', size)),
      requests: values.requests ?? null,
      write: values.write,
    };
  } catch (error) {
    return end(`${error instanceof Error ? error.message : error}\n\n${HELP}`, 2);
  }
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`Expected --${name} to be a number above 0, got "${text}".`);
  return number;
}

function sectionsOf(text: string): Section[] {
  const names = text === 'none' ? [] : text.split(',');
  for (const name of names) {
    if (!(SECTIONS as readonly string[]).includes(name))
      throw new Error(`Expected --only to name ${SECTIONS.join(', ')} or none, got "${name}".`);
  }
  return SECTIONS.filter((name) => names.includes(name));
}

function end(message: string, code: number): never {
  console.error(message);
  process.exit(code);
}
