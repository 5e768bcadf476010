/**
 * SQL of the severity and the status that a text names, by the lists of server/lines: lines that are stored as they are mean the same as those
 * that are read in Node.js.
 */
import {
  BY_FOUR,
  BY_HUNDRED,
  BY_PRIORITY,
  BY_TEN,
  SEVERITY_WORDS,
  type Severity,
} from '../../lines/index.ts';
import { quoted } from '../engine.ts';

/** The most frequent first: the rest is not looked at then. */
const ORDER: readonly Severity[] = ['info', 'error', 'warn', 'debug', 'fatal', 'trace'];

/** Names of members that have a severity number of OpenTelemetry. */
export const OTEL_NUMBER = /number$/i;

/** Returns an expression of the severity that `text` names, a text or NULL. */
export function severityText(text: string): string {
  // Lists, as the engine makes a join of an IN with so many words, which takes memory and a quarter of the time more.
  const words = ORDER.map(
    (severity) =>
      `when list_contains(${listOf(SEVERITY_WORDS[severity])}, lower(${text})) then '${severity}'`,
  );
  const number = numberOf(text);
  return `case when ${text} is null then null ${words.join(' ')}
    when regexp_full_match(${text}, '[0-7]') then ${listOf(BY_PRIORITY)}[${number} + 1]
    when regexp_full_match(${text}, '[1-9]\\d') then ${listOf(BY_TEN)}[least(${number} // 10, ${BY_TEN.length})]
    when regexp_full_match(${text}, '[1-9]\\d\\d') then ${listOf(BY_HUNDRED)}[${number} // 100] end`;
}

/** Returns the same of a severity number of OpenTelemetry. */
export function severityNumber(text: string): string {
  return `case when regexp_full_match(${text}, '[1-9]|1\\d|2[0-4]') then ${listOf(BY_FOUR)}[(${numberOf(text)} + 3) // 4] end`;
}

/** Returns an expression of the status of HTTP that `text` begins with: 404, 404.0 and `404 Not Found`. */
export function statusText(text: string): string {
  return `case when ${text} is not null then nullif(regexp_extract(${text}, '^([1-5]\\d\\d)(\\.0+)?( .*)?$', 1), '')::smallint end`;
}

/** Returns a text of digits as a number. The engine also casts texts of rows that a CASE has left out, and a failed cast would fail the batch. */
function numberOf(text: string): string {
  return `try_cast(${text} as usmallint)`;
}

function listOf(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`;
}
