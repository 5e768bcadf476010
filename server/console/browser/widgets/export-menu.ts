import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { curlOf } from '../data/curl.ts';
import { BLOB_MAX_BYTES, download } from '../data/download.ts';
import { bytes } from '../data/quantities.ts';
import { messageOf } from '../data/request.ts';
import { copy } from './copy.ts';
import { Menu } from './menu.ts';
import { notify } from './toasts.ts';

interface ExportMenuProps {
  /** What the file is called, but its ending. */
  readonly source: string;
  readonly pathOf: (format: string) => string;
}

const FORMATS = [
  { format: 'ndjson', name: 'NDJSON' },
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
];

/** All that was chosen, not only what is listed, as a file; and the command for what is too large for a browser. */
export function ExportMenu({ source, pathOf }: ExportMenuProps): ComponentChildren {
  const [got, setGot] = useState<number | null>(null);
  const stopping = useRef<AbortController | null>(null);
  const start = async (format: string) => {
    const given = new AbortController();
    stopping.current = given;
    setGot(0);
    try {
      await download(pathOf(format), `${source}.${format}`, given.signal, setGot);
    } catch (error) {
      notify(given.signal.aborted ? 'The export was stopped.' : messageOf(error));
    }
    setGot(null);
  };
  if (got !== null)
    return html`<button type="button" class="exporting" onClick=${() => stopping.current?.abort()}>
      Stop export (${bytes(got)})
    </button>`;
  return h(Menu, {
    name: 'export',
    label: 'Export',
    children: (close) => html`<ul class="choices">
        ${FORMATS.map(
          ({ format, name }) => html`<li>
            <button
              type="button"
              onClick=${() => {
                close();
                void start(format);
              }}
            >${name}</button>
            <button
              type="button"
              class="quiet"
              aria-label=${`Copy the curl command for ${name}`}
              onClick=${() => {
                close();
                void copy(
                  curlOf(pathOf(format), { output: `${source}.${format}` }),
                  'curl command',
                );
              }}
            >curl</button>
          </li>`,
        )}
      </ul>
      <p class="dim">Every entry of this choice. Above ${bytes(BLOB_MAX_BYTES)}, take the curl command.</p>`,
  });
}
