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

/** Another file that holds a stream, and how the file compares with it, byte by byte. */
export interface Holder extends Compared {
  /** It has a path. Otherwise only a handle leads to it. */
  readonly isListed: boolean;
  /** It grew a moment ago, and may be about to get the bytes that the file has beyond it. */
  readonly grows: boolean;
}

export type Decision =
  | { readonly kind: 'continue'; readonly id: number }
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

/** A decision other than `new`, and the bytes that speak for it. */
type Possibility = Exclude<Decision, { kind: 'new' }> & { readonly bytes: number };

/** Returns the decision for which most bytes speak. */
export function identify(met: Met, candidates: readonly Candidate[]): Decision {
  const [best] = candidates
    .flatMap((candidate) => {
      const { holder, relation } = candidate;
      const found = holder ? besideHolder(candidate, holder) : withoutHolder(met, candidate);
      return found ? [{ ...found, relation }] : [];
    })
    .sort(
      (a, b) =>
        b.bytes - a.bytes ||
        KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
        RELATIONS.indexOf(a.relation) - RELATIONS.indexOf(b.relation),
    );
  return best ?? { kind: 'new' };
}

/** Returns null if the file has nothing to do with the stream. */
function besideHolder(
  { id, offset, proven, tells, isOwn, contradicted }: Candidate,
  { outcome, equal, isListed, grows }: Holder,
): Possibility | null {
  if (outcome === 'differs' || contradicted) return null;
  const copy = { kind: 'copy', of: id, equal, bytes: equal } as const;
  if (outcome === 'longer') {
    if (!tells && !isOwn) return null;
    if (isListed && grows) return { ...copy, isPart: true };
    return continued({ id, offset, isOwn });
  }
  if (tells) return { ...copy, isPart: outcome === 'more' };
  return { kind: 'wait', of: id, bytes: Math.min(offset, proven) };
}

function withoutHolder(
  met: Met,
  { id, relation, offset, isOwn, proven, contradicted, tells }: Candidate,
): Possibility | null {
  const wait = { kind: 'wait', of: id, bytes: Math.min(offset, proven) } as const;
  // The stream has no more than a banner, and what the file has behind it may belong to another log.
  if (proven >= offset && !tells) return met.tells ? null : wait;
  if (proven >= offset) return continued({ id, offset, isOwn });
  // It was truncated, or rewritten in place.
  if (relation === 'same-file') return null;
  if (tells && proven >= RESTORED_BYTES)
    return { kind: 'resume', of: id, at: proven, isOpen: !contradicted, bytes: proven };
  if (contradicted) return null;
  if (tells && met.size !== null && proven >= met.size)
    return { kind: 'copy', of: id, equal: met.size, isPart: false, bytes: met.size };
  return wait;
}

/** A file goes on with its own stream, whatever other streams begin like it. */
function continued({ id, offset, isOwn }: Pick<Candidate, 'id' | 'offset' | 'isOwn'>): Possibility {
  return { kind: 'continue', id, bytes: isOwn ? Number.POSITIVE_INFINITY : offset };
}
