import type { Content } from './content.ts';
import { readToEnd } from './copies.ts';
import { holds } from './identity.ts';
import { isGzip } from './name.ts';
import type { TailedFile } from './tailed-file.ts';
import type { KnownFile } from './types.ts';

/** The truncation that follows a copy comes sooner. */
const AT_REST_MS = 5_000;

/** Whether a file that stands at a path has been read as far as it goes, and stays as it is. */
export function isAtRest(file: TailedFile, now: number): boolean {
  if (!file.found || file.known.shadowOf !== null) return false;
  if (isGzip(file.known.path) ? file.known.finished !== file.version : mayTakeLastLine(file))
    return false;
  return file.exhausted === file.version && now - file.changedAt > AT_REST_MS;
}

/** Whether its last line, without a newline, is still to be looked at. */
function mayTakeLastLine({ known, size, version, judged }: TailedFile): boolean {
  return size > known.offset && judged !== version;
}

/**
 * What a shadow goes on as beside its original, which is at rest; null while it may be a copy. One that has more bytes is none
 * of what the original holds now: the two only begin alike, or the original was truncated and began again with the same bytes,
 * unseen. Throws what reading throws.
 */
export async function apart(
  shadow: TailedFile,
  content: Content,
  original: TailedFile,
): Promise<KnownFile | null> {
  const isLonger = (await content.read(Buffer.alloc(1), endOf(original))) > 0;
  if (!isLonger) return null;
  const states = [shadow.known, original.known].toSorted((a, b) => b.offset - a.offset);
  for (const state of states) if (await holds(content, state)) return goneOn(shadow.known, state);
  return null;
}

/** How many bytes a file holds that was read as far as it goes. Of a `.gz` the last line is taken, newline or not. */
function endOf({ known, size }: TailedFile): number {
  return isGzip(known.path) ? known.offset : size;
}

/** What a shadow goes on as without its original: as that one, where its bytes are still those; else as far as it is known to be read. */
export async function inheritance(
  shadow: TailedFile,
  content: Content,
  original: KnownFile | undefined,
): Promise<KnownFile> {
  const known: KnownFile = { ...shadow.known, shadowOf: null };
  // It may have been read farther than what it is a copy of, by an original before that.
  if (!original || original.offset <= known.offset) return known;
  if (await holds(content, original).catch(() => false)) return goneOn(known, original);
  // An older, shorter copy: every byte of it was read through the original.
  if (!content.gzip && shadow.size < original.offset)
    return { ...known, ...(await readToEnd(content, shadow.size)) };
  return known;
}

/** A file of its own, read as far as `state` was. */
function goneOn(known: KnownFile, { offset, head, anchor, openLine }: KnownFile): KnownFile {
  return { ...known, offset, head, anchor, openLine, shadowOf: null, finished: null };
}
