import type { Content } from './content.ts';
import { DOCUMENT_BYTES, isDocument } from './document.ts';
import { kindOf, mayBePacked } from './packed-kinds.ts';

/**
 * How a file is to be read. `packed`: it was opened as text, and has to be opened again. `unclear`: too few bytes to tell. `refused` says
 * why it is not read.
 */
export type Form = 'lines' | 'packed' | 'empty' | 'unclear' | { readonly refused: string };

const DOCUMENT =
  'it is one JSON document over many lines; write each object into a line of its own, as `jq -c .[]` does';

/** Returns the form of a content that begins with `start`. Reads up to 64 KiB where that is not enough. */
export async function formOf(content: Content, start: Uint8Array): Promise<Form> {
  if (!content.packed) {
    if (start.length === 0) return 'empty';
    const kind = kindOf(start);
    if (kind?.unpack) return 'packed';
    if (kind) return { refused: `it is packed as ${kind.name}: unpack it, or pack it with gzip` };
    if (mayBePacked(start)) return 'unclear';
  }
  const is = isDocument(start);
  if (!is) return is === null ? 'unclear' : 'lines';
  const more = Buffer.alloc(DOCUMENT_BYTES);
  const length = await content.read(more, 0);
  return isDocument(more.subarray(0, length)) === false ? 'lines' : { refused: DOCUMENT };
}
