import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Json } from '../data/answers.ts';
import { dateTime, type Zone } from '../data/times.ts';

/** A row of an answer to SQL. */
export type ResultRow = Readonly<Record<string, Json>>;

/** Microseconds since 1970 of the years 2001 to 2096: timestamps come so. */
const [LEAST_US, MOST_US] = [1e15, 4e15];
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/;

/** The time of a value in milliseconds; null when it is not a time. */
export function timeOf(value: Json): number | null {
  if (typeof value === 'number') return value >= LEAST_US && value < MOST_US ? value / 1000 : null;
  return typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(`${value}Z`) : null;
}

/** The columns of the rows, in their order. */
export function columnsOf(rows: readonly ResultRow[]): string[] {
  return Object.keys(rows[0] ?? {});
}

/** The rows of an answer to SQL. */
export function ResultTable({
  rows,
  zone,
}: {
  readonly rows: readonly ResultRow[];
  readonly zone: Zone;
}): VNode | null {
  const columns = columnsOf(rows);
  if (columns.length === 0) return html`<div class="empty"><p>No rows.</p></div>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Rows"><table>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>
      ${rows.map((row) => html`<tr>${columns.map((name) => cell(row[name] ?? null, zone))}</tr>`)}
    </tbody>
  </table></div>`;
}

function cell(value: Json, zone: Zone): VNode {
  const time = timeOf(value);
  if (value === null) return html`<td class="dim">–</td>`;
  if (time !== null) return html`<td title=${String(value)}>${dateTime(time, zone)}</td>`;
  if (typeof value === 'number') return html`<td class="number">${String(value)}</td>`;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return html`<td class="long" title=${text.slice(0, 2000)}>${text.slice(0, 500)}</td>`;
}
