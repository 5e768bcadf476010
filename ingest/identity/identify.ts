/**
 * Which file is it? Bytes decide; a name or an inode only says whose bytes to compare with.
 *
 * A *stream* is a sequence of bytes of which a beginning was taken. A file is met when it stands at a path and is not the file of a
 * stream that is being read: same device, inode and birth. It then
 *
 *   continues  a stream that no other file holds, if it holds all that was taken of it: renamed while nothing ran, packed, unpacked,
 *              moved to another disk, put back. It is read on from where the stream was left.
 *   is a copy  of a file that is being read, if its name is a rotation of that one's, or that one's is its own with `.gz`, or both are
 *              rotations of one log, and it holds nothing else. It is not read. When the original is truncated, replaced or gone it is
 *              met anew; when the two go on differently, too.
 *   resumes    where it parts from a stream that it begins like. Either no file holds that one whole, and this is an older copy: what is
 *              proven to have been taken is not read again, once it grows no more, since it may be on its way back. Or the file is
 *              not a copy of the one that holds it: they begin alike, as logs with a header do, and it is read on by itself from the
 *              line in which they part.
 *   is new     and read from its start, at once.
 *
 * This module decides, without I/O, from facts that were read before (decisions.ts).
 */

import type { Compared } from './compare.ts';
import type { Relation } from './streams.ts';

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
  readonly relation: Relation;
  /** The file held it last, as its inode and birth show, and has not been seen to be truncated or deleted since. */
  readonly isOwn: boolean;
  /** The file holds it up to here at least; and whether it goes on differently before the offset. */
  readonly proven: number;
  readonly contradicted: boolean;
  /** The other file that holds it: one at a path, or one that only a handle leads to. */
  readonly holder: 'none' | 'path' | 'handle';
  /** How the file compares with that one, byte by byte; null without one. */
  readonly compared: Compared | null;
}

export type Decision =
  | {
      readonly kind: 'continue';
      readonly id: number;
      readonly relation: Relation;
    }
  | {
      readonly kind: 'copy';
      readonly of: number;
      readonly relation: Relation;
      readonly equal: number;
      readonly isPart: boolean;
    }
  /** `isOpen`: all that the file holds is of the stream, so it may hold more of it yet. */
  | { readonly kind: 'resume'; readonly of: number; readonly at: number; readonly isOpen: boolean }
  | { readonly kind: 'new' };

/** A file at a known path that goes on differently is an older copy all the same if so much of it is proven. */
const MOST = 3 / 4;

const RELATIONS = ['same-file', 'same-path', 'unpacked', 'rotation', 'other-rotation'] as const;
const KINDS = ['continue', 'copy', 'resume'] as const;

interface Possibility {
  readonly decision: Exclude<Decision, { kind: 'new' }>;
  readonly relation: Relation;
  /** So many of its bytes speak for it. */
  readonly bytes: number;
}

/** Says what a file is: that for which most of its bytes speak, of all the streams that it might hold. */
export function identify(met: Met, candidates: readonly Candidate[]): Decision {
  const [best] = candidates
    .flatMap((candidate) => possibility(met, candidate) ?? [])
    .sort(
      (a, b) =>
        b.bytes - a.bytes ||
        KINDS.indexOf(a.decision.kind) - KINDS.indexOf(b.decision.kind) ||
        RELATIONS.indexOf(a.relation) - RELATIONS.indexOf(b.relation),
    );
  return best?.decision ?? { kind: 'new' };
}

/** What a file is if it has to do with this stream; null when it has not. */
function possibility(met: Met, candidate: Candidate): Possibility | null {
  const { id, offset, relation, isOwn, proven, holder, compared } = candidate;
  const isWhole = proven >= offset;
  // A file that took the place of the deleted one, with all of its bytes and more.
  const succeeds = holder === 'handle' && compared?.outcome === 'longer';
  if (isWhole && (holder === 'none' || succeeds)) {
    // The file itself goes on with its stream, whatever else begins like it.
    const bytes = isOwn ? Number.POSITIVE_INFINITY : offset;
    return { decision: { kind: 'continue', id, relation }, relation, bytes };
  }
  if (compared?.outcome === 'within' || compared?.outcome === 'more') {
    const { equal, outcome } = compared;
    const isPart = outcome === 'more';
    return { decision: { kind: 'copy', of: id, relation, equal, isPart }, relation, bytes: equal };
  }
  const at = partsAt(met, candidate);
  const isOpen = holder === 'none' && !candidate.contradicted;
  return at > 0 ? { decision: { kind: 'resume', of: id, at, isOpen }, relation, bytes: at } : null;
}

/** Up to where a file is to be taken for a stream that it does not hold whole; 0 when it has nothing to do with it. */
function partsAt({ size }: Met, candidate: Candidate): number {
  const { relation, proven, contradicted, holder, compared } = candidate;
  // Two files are both there, and one begins like the other. Two rotated files that differ are two logs.
  if (holder !== 'none') return relation === 'rotation' ? (compared?.line ?? 0) : 0;
  // The same file with fewer bytes, or with others, was truncated; and a log that begins as a packed one does is the next one.
  if (relation === 'same-file' || relation === 'unpacked') return 0;
  if (!contradicted) return proven;
  return relation === 'same-path' && size !== null && proven >= MOST * size ? proven : 0;
}
