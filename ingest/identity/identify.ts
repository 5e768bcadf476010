/**
 * Which file is it? Bytes decide; a name or an inode only says whose bytes to compare with.
 *
 * A *stream* is a sequence of bytes of which a beginning was taken. A file is met when it stands at a path and is not the file of a
 * stream that is being read: same device, inode and birth. It then
 *
 *   continues  a stream that no other file holds, if it holds all that was taken of it: renamed while nothing ran, packed, moved to
 *              another disk, put back. It is read on from where the stream was left.
 *   is a copy  of a file that is being read, if its name is a rotation of that one's and it holds nothing else. It is not read. When
 *              the original is truncated, replaced or gone it is met anew; when the two go on differently, too.
 *   resumes    where it parts from a stream that it begins like. Either no file holds that one whole, and this is an older copy: what is
 *              proven to have been taken is not read again. Or the file is no copy of the one that holds it: they begin alike, as logs
 *              with a header do, and it is read on by itself from the line in which they part.
 *   is new     and read from its start, at once.
 *
 * This module decides, without I/O, from facts that were read before (tracker.ts).
 */

import type { Compared } from './compare.ts';

/** The file that was met. */
export interface Met {
  /** Bytes that it holds, without NULs at its end; of a `.gz` what it holds unpacked, or null as long as that is not known. */
  readonly size: number | null;
}

/** A stream that the file might hold. */
export interface Candidate {
  readonly id: number;
  /** Bytes that were taken of it. */
  readonly offset: number;
  /** Why it is a candidate: the strongest of what is so. */
  readonly relation: 'same-file' | 'same-path' | 'rotation';
  /** The file holds it up to here at least; and whether it goes on differently before the offset. */
  readonly proven: number;
  readonly contradicted: boolean;
  /** The other file that holds it: one at a path, or one that only a handle leads to. */
  readonly holder: 'none' | 'path' | 'handle';
  /** How the file compares with that one, byte by byte; null without one. */
  readonly compared: Compared | null;
}

export type Decision =
  | { readonly kind: 'continue'; readonly id: number }
  | { readonly kind: 'copy'; readonly of: number; readonly equal: number }
  | { readonly kind: 'resume'; readonly of: number; readonly at: number }
  | { readonly kind: 'new' };

/** So much of an older copy must be proven for the rest of it to be taken for what was read, too. */
const MOST = 3 / 4;

const RELATIONS = ['same-file', 'same-path', 'rotation'] as const;

/** Says what a file is, of all the streams that it might hold. */
export function identify(met: Met, candidates: readonly Candidate[]): Decision {
  const ranked = candidates.toSorted(
    (a, b) => RELATIONS.indexOf(a.relation) - RELATIONS.indexOf(b.relation) || b.offset - a.offset,
  );
  for (const { id, offset, proven, holder, compared } of ranked) {
    if (proven < offset) continue;
    if (holder === 'none') return { kind: 'continue', id };
    // A file that took the place of the deleted one, with all of its bytes and more.
    if (holder === 'handle' && compared?.outcome === 'longer') return { kind: 'continue', id };
  }
  for (const { id, compared } of ranked)
    if (compared?.outcome === 'within' || compared?.outcome === 'more')
      return { kind: 'copy', of: id, equal: compared.equal };
  const partings = candidates.flatMap((candidate) => {
    const at = partsAt(met, candidate);
    return at > 0 ? [{ kind: 'resume' as const, of: candidate.id, at }] : [];
  });
  return partings.toSorted((a, b) => b.at - a.at)[0] ?? { kind: 'new' };
}

/** Up to where a file is to be taken for a stream that it does not hold whole; 0 when it has nothing to do with it. */
function partsAt({ size }: Met, candidate: Candidate): number {
  const { relation, proven, contradicted, holder, compared } = candidate;
  const isRotation = relation === 'rotation';
  // Of two files that are both there one begins like the other.
  if (holder !== 'none') return isRotation ? (compared?.line ?? 0) : 0;
  // The same file with fewer bytes, or with others, was truncated.
  if (relation === 'same-file') return 0;
  const isMostly = size !== null && proven >= MOST * size;
  if (!isRotation) return isMostly || !contradicted ? proven : 0;
  // Nobody writes to what was rotated: an older copy ends where it ends.
  return isMostly && !contradicted ? size : 0;
}
