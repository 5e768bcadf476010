import { randomBytes } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';

/** The answer did not come from ClickHouse, though its status is 200. */
export class NotClickHouse extends Error {
  constructor(endpoint: string, answer: string) {
    super(`${endpoint} does not answer as ClickHouse does: ${excerpt(answer)}`);
  }
}

export interface Wanted {
  readonly endpoint: string;
  /** Expressions, and what stands behind FROM. */
  readonly select: readonly string[];
  readonly from: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
}

/**
 * Asks for one row, whose values are texts. The answer begins with a random text that the server has reversed: a page, a cache or an echo of
 * the request cannot. Throws NotClickHouse, and what the client throws.
 */
export async function provenRow(
  client: ClickHouseClient,
  { endpoint, select, from, values, settings = {}, signal }: Wanted,
): Promise<string[]> {
  const nonce = randomBytes(16).toString('hex');
  const texts = select.map((expression) => `toString(${expression})`);
  const answer = await client.query({
    query: `select ${['reverse({nonce: String})', ...texts].join(', ')} from ${from}`,
    query_params: { ...values, nonce },
    format: 'JSONCompactEachRow',
    abort_signal: signal,
    clickhouse_settings: settings,
  });
  const text = await answer.text();
  const row = readRow(text, nonce, select.length);
  if (!row) throw new NotClickHouse(endpoint, text);
  return row;
}

/** The values of a row that proves that the server computed it; null for any other text. */
export function readRow(text: string, nonce: string, length: number): string[] | null {
  const row = parsed(text);
  if (!Array.isArray(row) || row.length !== length + 1) return null;
  if (!row.every((value) => typeof value === 'string')) return null;
  const [proof, ...values] = row as string[];
  return proof === [...nonce].reverse().join('') ? values : null;
}

/** A number as ClickHouse writes one of a type without a sign; null for any other text. */
export function readNumber(text: string | undefined): number | null {
  const number = text !== undefined && /^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** So much of an answer tells a reader whose it is. */
const EXCERPT = 80;

/** The first characters of a text, all of them printable. */
function excerpt(text: string): string {
  const first = JSON.stringify(text.slice(0, EXCERPT)).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > EXCERPT ? `${first}…` : first;
}
