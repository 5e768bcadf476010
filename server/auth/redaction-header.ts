import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import { headerValues } from './header-values.ts';

/** The second name is Logflare's. */
const HEADERS = ['SVC-ENDPOINT-REDACT-PII', 'LF-ENDPOINT-REDACT-PII'];

/**
 * Whether the request's header turns redaction on or off; null when it says nothing. Throws `HEADER_INVALID` for
 * another value, or when the two names of the header disagree: what was meant to be hidden must not slip through.
 */
export function redaction(request: Pick<IncomingMessage, 'rawHeaders'>): boolean | null {
  const given = HEADERS.flatMap((name) =>
    headerValues(request, name).map((value) => ({ name, value: value.trim() })),
  ).filter(({ value }) => value !== '');
  const wishes = given.map(({ name, value }) => {
    const wish = value.toLowerCase();
    if (wish === 'true' || wish === 'false') return wish === 'true';
    const detail = `Expected ${name} to be true or false, got ${JSON.stringify(value.slice(0, 100))}.`;
    throw new AppError('HEADER_INVALID', { faults: [{ parameter: name, detail }] });
  });
  const [first] = wishes;
  if (first === undefined) return null;
  if (wishes.some((wish) => wish !== first)) {
    const detail = `${HEADERS.join(' and ')} disagree.`;
    throw new AppError('HEADER_INVALID', { faults: [{ parameter: HEADERS[0] ?? '', detail }] });
  }
  return first;
}
