import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Due, Kept, LedgerEntry } from './answers.ts';
import { copy } from './copy.ts';
import { curlOf } from './curl.ts';
import type { PageProps } from './explorer.ts';
import { useKeys } from './keys.ts';
import { type Loaded, useAnswer } from './loading.ts';
import { bytes, count, counted } from './quantities.ts';
import { RejectedLines } from './rejected-lines.ts';
import { ago, duration } from './times.ts';
import type { LedgerView } from './view.ts';

/** Lines are stored within a second or two of their writing; later than this, something holds them up. */
const LATE_SECONDS = 60;

/** What was read, stored, rejected and removed of each source, and its rejected lines. */
export function Ledger({ view, show, zone }: PageProps<LedgerView>): VNode {
  const [turn, setTurn] = useState(0);
  const reload = () => setTurn((before) => before + 1);
  const ledger = useAnswer<LedgerEntry[]>('/api/ledger', turn);
  const kept = useAnswer<Kept[]>('/api/sources');
  const due = useAnswer<Due[]>('/api/retention', turn);
  useKeys({ r: reload });
  const entries = ledger.answer?.result ?? [];
  const choose = (source: LedgerView['source']) => show({ page: 'ledger', source });
  return html`<div class="ledger">
    <div class="bar">
      <h1>Ledger</h1>
      <p class="dim sums">${ledger.answer && sums(entries)}</p>
      <div class="buttons">
        <button type="button" title="Load again (r)" onClick=${reload}>Reload</button>
        <button type="button" onClick=${() => copy(curlOf('/api/ledger'), 'curl command')}>Copy curl</button>
      </div>
    </div>
    ${ledger.problem && html`<p class="problem" role="alert">${ledger.problem}</p>`}
    ${!ledger.problem && table(ledger, kept.answer?.result ?? [], choose)}
    ${notRead(entries)}
    ${due.answer && retention(due.answer.result)}
    ${!ledger.problem && h(RejectedLines, { source: view.source, choose, turn, reload, zone })}
  </div>`;
}

function sums(entries: readonly LedgerEntry[]): string {
  const sum = (of: (entry: LedgerEntry) => number | undefined) =>
    entries.reduce((all, entry) => all + (of(entry) ?? 0), 0);
  return [
    counted(
      sum((entry) => entry.stored),
      'entry stored',
      'entries stored',
    ),
    `${bytes(sum((entry) => entry.size))} on disk`,
    `${bytes(sum((entry) => entry.pending_bytes))} to be read`,
    `${count(sum((entry) => entry.rejected))} rejected`,
  ].join(' · ');
}

function table(
  { loading, answer }: Loaded<LedgerEntry[]>,
  kept: readonly Kept[],
  choose: (source: LedgerView['source']) => void,
): VNode {
  const days = new Map(kept.map(({ token, retention_days }) => [token, retention_days]));
  const rows = (answer?.result ?? []).filter(({ source }) => source !== null);
  return html`<div class=${loading ? 'scroll loading' : 'scroll'} aria-busy=${String(loading)}><table>
    <thead><tr>
      <th scope="col">Source</th>
      <th scope="col" class="number">Files</th>
      <th scope="col" class="number">Lag</th>
      <th scope="col" class="number">To be read</th>
      <th scope="col" class="number">Lines</th>
      <th scope="col" class="number">Stored</th>
      <th scope="col" class="number">Rejected</th>
      <th scope="col" class="number">Removed</th>
      <th scope="col" class="number">On disk</th>
      <th scope="col">Kept</th>
      <th scope="col">Newest</th>
    </tr></thead>
    <tbody>
      ${rows.map(
        (entry) => html`<tr key=${entry.source}>
          <th scope="row">${entry.source}</th>
          <td class="number">${count(entry.files ?? 0)}</td>
          <td class=${(entry.lag_seconds ?? 0) > LATE_SECONDS ? 'number warn' : 'number'}>
            ${duration(entry.lag_seconds ?? 0)}
          </td>
          <td class="number">${bytes(entry.pending_bytes ?? 0)}</td>
          <td class="number">${count(entry.lines ?? 0)}</td>
          <td class="number">${count(entry.stored ?? 0)}</td>
          <td class="number">${
            entry.rejected
              ? html`<button type="button" class="link" onClick=${() => choose(entry.source)}>
                  ${count(entry.rejected)}
                </button>`
              : '0'
          }</td>
          <td class="number">${count(entry.removed ?? 0)}</td>
          <td class="number">${bytes(entry.size ?? 0)}</td>
          <td>${entry.source && keptFor(days.get(entry.source))}</td>
          <td title=${entry.newest ?? ''}>${entry.newest ? ago(entry.newest) : '–'}</td>
        </tr>`,
      )}
    </tbody>
  </table></div>`;
}

function keptFor(days: number | null | undefined): string {
  if (days === undefined) return '';
  return days === null ? 'for ever' : counted(Math.round(days * 10) / 10, 'day', 'days');
}

function notRead(entries: readonly LedgerEntry[]): VNode | null {
  const refused = entries.flatMap((entry) => entry.refused);
  if (refused.length === 0) return null;
  return html`<section>
    <h2>Files that are not read</h2>
    <ul class="plain">
      ${refused.map(({ path, reason }) => html`<li key=${path}><code>${path}</code> ${reason}</li>`)}
    </ul>
  </section>`;
}

function retention(due: readonly Due[]): VNode {
  return html`<section>
    <h2>To be removed next</h2>
    ${due.length === 0 && html`<p class="plain dim">Nothing: all is within the limits.</p>`}
    <ul class="plain">
      ${due.map(
        ({ source, why, would_remove_rows, would_remove_rejected, bytes: size }) =>
          html`<li key=${`${source} ${why}`}>
            <code>${source}</code> ${counted(would_remove_rows, 'entry', 'entries')} and
            ${` ${counted(would_remove_rejected, 'rejected line', 'rejected lines')}`} (${why}),
            ${` ${bytes(size)}`}
          </li>`,
      )}
    </ul>
  </section>`;
}
