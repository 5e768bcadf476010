import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['/', 'go to the filter'],
  ['j, k', 'next row, row before'],
  ['Enter', 'open or close the row'],
  ['Esc', 'close the row, leave the field'],
  ['l', 'live tail on or off'],
  ['r', 'load again'],
  ['Ctrl+Enter', 'run the SQL'],
  ['1, 2, 3, 4', 'logs, SQL, API usage, ingest'],
  ['t', 'theme: as the system, dark, light'],
  ['u', 'times local or in UTC'],
  ['?', 'this help'],
];

/** The keys, in a dialog. */
export function Help({ close }: { readonly close: () => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${KEYS.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}</dl>
    <p class="dim">
      Drag over the histogram to narrow the time range. The address holds the view, so that it can
      be shared; never the token.
    </p>
    <p class="actions">
      <button type="button" class="primary" onClick=${() => dialog.current?.close()}>Close</button>
    </p>
  </dialog>`;
}
