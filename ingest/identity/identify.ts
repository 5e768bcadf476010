/**
 * Decides which file a file is. Bytes decide. Names, paths and inodes only order the logs that it is compared with.
 *
 * A *stream* is a sequence of bytes of which a beginning was read. A file is compared with each stream of its source that begins like it
 * (streams.ts). For each of them the file
 *
 *   continues  the stream, if it holds everything that was read of it, and no other file holds as much. It is read on from the offset.
 *              If another file holds the stream and this one is longer, the stream moves here, and the other file becomes a copy.
 *   is a copy  if it holds nothing but bytes of the stream: of the file that holds it now, or of what was read before that file was gone.
 *              It is not read.
 *   resumes    the stream, if it is an older and long copy of one that no file holds. It is read on behind the last proof.
 *   waits      if it is too short to tell: a banner that many logs begin with (`tells`). It is read whole once it differs, or rests.
 *   is new     otherwise: it differs from the stream, and is read from byte 0.
 *
 * This module has no I/O. facts.ts reads the facts, and decisions.ts acts.
 */

import type { Compared } from '../files/compare.ts';
import type { Relation } from './streams.ts';

/** The file to be identified. */
export interface Met {
  /** Bytes that it holds, without NULs at its end. For a packed file the unpacked bytes, or null while their number is not known. */
  readonly size: number | null;
  /** Its first bytes belong to one log alone: they hold a moment or an id, or are long. */
  readonly tells: boolean;
}

/** A stream that the file might hold. */
export interface Candidate {
  readonly id: number;
  /** Bytes that were read of the stream. */
  readonly offset: number;
  readonly relation: Relation;
  /** The file held the stream last, by inode and birth time, and has not been truncated or deleted since. */
  readonly isOwn: boolean;
  /** The file holds the stream at least up to here. */
  readonly proven: number;
  /** The file differs from the stream between `proven` and `offset`. */
  readonly contradicted: boolean;
  /** The bytes that both have in common belong to one log alone: they hold a moment or an id, or are long. */
  readonly tells: boolean;
  /** The other file that holds the stream; null if there is none. */
  readonly holder: Holder | null;
}

export interface Holder {
  /** The file compared with it, byte by byte. */
  readonly compared: Compared;
  /** It has a path. Otherwise only a handle leads to it. */
  readonly isListed: boolean;
  /** It grew a moment ago, and may be about to get the bytes that the file has beyond it. */
  readonly grows: boolean;
}

export type Decision =
  | { readonly kind: 'continue'; readonly id: number; readonly relation: Relation }
  /** `equal`: bytes that were compared. `isPart`: there are more to compare. */
  | { readonly kind: 'copy'; readonly of: number; readonly equal: number; readonly isPart: boolean }
  /** `isOpen`: everything in the file belongs to the stream, so it may be on its way back. */
  | { readonly kind: 'resume'; readonly of: number; readonly at: number; readonly isOpen: boolean }
  | { readonly kind: 'wait'; readonly of: number }
  | { readonly kind: 'new' };

/** A copy of at least so many bytes of a lost stream is taken for that stream restored from a backup. Banners are shorter. */
const RESTORED_BYTES = 4096;

const RELATIONS: readonly Relation[] = ['same-file', 'same-path', 'same-start'];
const KINDS = ['continue', 'copy', 'resume', 'wait'] as const;

interface Possibility {
  readonly decision: Exclude<Decision, { kind: 'new' }>;
  readonly relation: Relation;
  /** Bytes that speak for it. */
  readonly bytes: number;
}

/** Returns the decision for which most bytes speak. */
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

/** Returns null if the file has nothing to do with the stream. */
function possibility(met: Met, candidate: Candidate): Possibility | null {
  const { relation, isOwn, offset } = candidate;
  const decision = candidate.holder
    ? besideHolder(candidate, candidate.holder)
    : withoutHolder(met, candidate);
  if (!decision) return null;
  const bytes = {
    // A file goes on with its own stream, whatever other streams begin like it.
    continue: isOwn ? Number.POSITIVE_INFINITY : offset,
    copy: 'equal' in decision ? decision.equal : 0,
    resume: 'at' in decision ? decision.at : 0,
    wait: Math.min(offset, candidate.proven),
  }[decision.kind];
  return { decision, relation, bytes };
}

function besideHolder(
  { id, relation, tells, isOwn, contradicted }: Candidate,
  { compared, isListed, grows }: Holder,
): Possibility['decision'] | null {
  const { outcome, equal } = compared;
  if (outcome === 'differs' || contradicted) return null;
  if (outcome === 'longer') {
    if (!tells && !isOwn) return null;
    if (isListed && grows) return { kind: 'copy', of: id, equal, isPart: true };
    return { kind: 'continue', id, relation };
  }
  return tells
    ? { kind: 'copy', of: id, equal, isPart: outcome === 'more' }
    : { kind: 'wait', of: id };
}

function withoutHolder(
  met: Met,
  { id, relation, offset, proven, contradicted, tells }: Candidate,
): Possibility['decision'] | null {
  const wait = { kind: 'wait', of: id } as const;
  // The stream has no more than a banner, and what the file has behind it may belong to another log.
  if (proven >= offset && !tells) return met.tells ? null : wait;
  if (proven >= offset) return { kind: 'continue', id, relation };
  // It was truncated, or rewritten in place.
  if (relation === 'same-file') return null;
  const isRestored = tells && proven >= RESTORED_BYTES;
  if (contradicted)
    return isRestored ? { kind: 'resume', of: id, at: proven, isOpen: false } : null;
  if (isRestored) return { kind: 'resume', of: id, at: proven, isOpen: true };
  if (tells && met.size !== null && proven >= met.size)
    return { kind: 'copy', of: id, equal: met.size, isPart: false };
  return wait;
}
