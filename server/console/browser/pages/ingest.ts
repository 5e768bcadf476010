import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Homeless, KeptSource, LedgerEntry, Removal } from '../data/answers.ts';
import { curlOf } from '../data/curl.ts';
import { useAnswer } from '../data/loading.ts';
import { bytes, count, counted } from '../data/quantities.ts';
import { ago, duration } from '../data/times.ts';
import type { LedgerView } from '../data/view.ts';
import { copy } from '../widgets/copy.ts';
import { useKeys } from '../widgets/keys.ts';
import type { PageProps } from './explorer.ts';
import { RejectedLines } from './rejected-lines.ts';

/** Lines are stored within a second or two of their writing; later than this, something holds them up. */
const LATE_SECONDS = 60;

/** What was read, stored, rejected and removed of each source, and its rejected lines. */
export function Ingest({ view, show, zone }: PageProps<LedgerView>): VNode {
  const [turn, setTurn] = useState(0);
  const reload = () => setTurn((before) => before + 1);
  const ledger = useAnswer<(LedgerEntry | Homeless)[]>('/api/ledger', turn);
  const kept = useAnswer<KeptSource[]>('/api/sources');
  const due = useAnswer<Removal[]>('/api/retention', turn);
  useKeys({ r: reload });
  const all = ledger.answer?.result ?? [];
  const entries = all.filter((entry) => entry.source !== null);
  const choose = (source: LedgerView['source']) => show({ page: 'ledger', source });
  return html`<div class="ledger">
    <div class="bar">
      <h1>Ingest</h1>
      <p class="dim sums">${ledger.answer && sums(entries)}</p>
      <div class="buttons">
        <button type="button" title="Load again (r)" onClick=${reload}>Reload</button>
        <button type="button" onClick=${() => copy(curlOf('/api/ledger'), 'curl command')}>Copy curl</button>
      </div>
    </div>
    ${ledger.problem && html`<p class="problem" role="alert">${ledger.problem}</p>`}
    ${!ledger.problem && table(ledger.loading, entries, kept.answer?.result ?? [], choose)}
    ${odd(entries)}
    ${notRead(all)}
    ${due.answer && retention(due.answer.result)}
    ${!ledger.problem && h(RejectedLines, { source: view.source, choose, turn, reload, zone })}
  </div>`;
}

function sums(entries: readonly LedgerEntry[]): string {
  const sum = (of: (entry: LedgerEntry) => number) =>
    entries.reduce((all, entry) => all + of(entry), 0);
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
  loading: boolean,
  entries: readonly LedgerEntry[],
  kept: readonly KeptSource[],
  choose: (source: LedgerView['source']) => void,
): VNode {
  const days = new Map(kept.map(({ token, retention_days }) => [token, retention_days]));
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
      ${entries.map(
        (entry) => html`<tr key=${entry.source}>
          <th scope="row">${entry.source}</th>
          <td class="number">${count(entry.files)}</td>
          <td class=${entry.lag_seconds > LATE_SECONDS ? 'number warn' : 'number'}>
            ${duration(entry.lag_seconds)}
          </td>
          <td class="number">${bytes(entry.pending_bytes)}</td>
          <td class="number">${count(entry.lines)}</td>
          <td class="number">${count(entry.stored)}</td>
          <td class="number">${
            entry.rejected
              ? html`<button type="button" class="link" onClick=${() => choose(entry.source)}>
                  ${count(entry.rejected)}
                </button>`
              : '0'
          }</td>
          <td class="number">${count(entry.removed)}</td>
          <td class="number">${bytes(entry.size)}</td>
          <td>${keptFor(days.get(entry.source))}</td>
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

/** Rows that were stored otherwise than their programs meant, and why. */
function odd(entries: readonly LedgerEntry[]): VNode | null {
  const found = entries.filter((entry) => oddities(entry).length > 0);
  if (found.length === 0) return null;
  return html`<section>
    <h2>Odd rows</h2>
    <ul class="plain">
      ${found.map(
        (entry) => html`<li key=${entry.source}>
          <code>${entry.source}</code> ${oddities(entry).join(', ')}
          ${entry.undated_forms.map(
            ({ field, form, rows }) => html`<br /><code>${field}</code> is not a time:
              ${' '}<code>${form}</code> (${counted(rows, 'row', 'rows')})`,
          )}
        </li>`,
      )}
    </ul>
  </section>`;
}

function oddities({ undated, future, repaired, doubled }: LedgerEntry): string[] {
  const named = { undated, 'of the future': future, repaired, 'with a name twice': doubled };
  return Object.entries(named)
    .filter(([, rows]) => rows > 0)
    .map(([name, rows]) => `${count(rows)} ${name}`);
}

function notRead(entries: readonly (LedgerEntry | Homeless)[]): VNode | null {
  const refused = entries.flatMap((entry) => entry.refused);
  if (refused.length === 0) return null;
  return html`<section>
    <h2>Files that are not read</h2>
    <ul class="plain">
      ${refused.map(({ path, reason }) => html`<li key=${path}><code>${path}</code> ${reason}</li>`)}
    </ul>
  </section>`;
}

function retention(due: readonly Removal[]): VNode {
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
