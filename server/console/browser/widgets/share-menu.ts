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

/** Rows as a file. */
export interface Exported {
  /** What the file is called, but its ending. */
  readonly name: string;
  readonly formats: readonly ExportFormat[];
  readonly pathOf: (format: ExportFormat) => string;
  /** The body of a POST; null for a GET. */
  readonly bodyOf?: (format: ExportFormat) => object;
}

export type ExportFormat = 'ndjson' | 'csv' | 'parquet';

interface ShareMenuProps {
  /** The address of what is shown, with its very range. */
  readonly link: string;
  /** The command that asks the same. */
  readonly curl: string;
  readonly exports: readonly Exported[];
}

const NAMES = { ndjson: 'NDJSON', csv: 'CSV', parquet: 'Parquet' } as const;

/** Shares the view: as a link, as a command, and all of it as a file. */
export function ShareMenu({ link, curl, exports }: ShareMenuProps): ComponentChildren {
  const [got, setGot] = useState<number | null>(null);
  const stopping = useRef<AbortController | null>(null);
  const start = async ({ name, pathOf, bodyOf }: Exported, format: ExportFormat) => {
    const given = new AbortController();
    stopping.current = given;
    setGot(0);
    try {
      const request = { path: pathOf(format), body: bodyOf?.(format) };
      await download(request, `${name}.${format}`, given.signal, setGot);
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
    name: 'share',
    label: 'Share',
    children: (close) => {
      const item = (label: string, action: () => unknown, name = label) => html`<button
        type="button"
        aria-label=${name}
        onClick=${() => {
          close();
          void action();
        }}
      >${label}</button>`;
      return html`<ul class="choices">
          <li>${item('Copy link', () => copy(link, 'Link to this range'))}</li>
          <li>${item('Copy curl', () => copy(curl, 'curl command'))}</li>
        </ul>
        ${exports.map(
          (exported) => html`<div key=${exported.name}>
            <h2>Export ${exported.name}</h2>
            <ul class="choices">
              ${exported.formats.map(
                (format) => html`<li key=${format}>
                  ${item(NAMES[format], () => start(exported, format), `Export ${exported.name} as ${NAMES[format]}`)}
                  ${
                    !exported.bodyOf &&
                    item(
                      'curl',
                      () =>
                        copy(
                          curlOf(exported.pathOf(format), { output: `${exported.name}.${format}` }),
                          'curl command',
                        ),
                      `Copy the curl command for ${NAMES[format]} of ${exported.name}`,
                    )
                  }
                </li>`,
              )}
            </ul>
          </div>`,
        )}
        <p class="dim">
          A file has every row of this choice. Above ${bytes(BLOB_MAX_BYTES)}, take the curl command.
        </p>`;
    },
  });
}
