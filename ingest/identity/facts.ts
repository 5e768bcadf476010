import type { Content } from '../files/content.ts';
import { rotationRank } from '../files/names.ts';
import { compare } from './compare.ts';
import type { Candidate } from './identify.ts';
import { held, stillHolds } from './proofs.ts';
import type { RecentBytes } from './recent-bytes.ts';
import type { Streams } from './streams.ts';
import type { TrackedFile } from './tracked-file.ts';

/** What `identify` decides by. */
export interface Facts {
  readonly size: number | null;
  /** The first bytes of the file. */
  readonly start: Uint8Array;
  readonly candidates: readonly Candidate[];
}

/** All that is known of streams and of the files that hold them. */
export interface Knowledge {
  readonly streams: Pick<Streams, 'get' | 'of'>;
  readonly files: Pick<ReadonlyMap<number, TrackedFile>, 'get'>;
  readonly recent: RecentBytes;
  /** The content of a tracked file; null when it cannot be had. */
  open(file: TrackedFile): Promise<Content | null>;
}

/** Two short contents are compared from their start; of long ones the proofs tell, and what follows the last of them is compared. */
const WHOLE_BYTES = 1024 * 1024;

/** Reads what tells which file it is that begins with `start`; null while a file that it is compared with is changing. */
export async function factsOf(
  file: TrackedFile,
  content: Content,
  start: Uint8Array,
  { streams, files, recent, open }: Knowledge,
): Promise<Facts | null> {
  const { state, copy } = file;
  const candidates: Candidate[] = [];
  let size = content.gzip ? null : file.size;
  const relations = streams.of(state, start);
  // Whatever the names of both are by now, it was a copy of that one.
  if (copy) relations.set(copy.of, copy.relation);
  for (const [id, relation] of relations) {
    const stream = streams.get(id);
    const holder = files.get(id);
    if (!stream || id === state.id || holder?.copy || holder?.undecided) continue;
    // It need not be unpacked again.
    const isFinished = !holder && relation === 'same-file' && stream.finished === file.version;
    const { proven, contradicted, end } = isFinished
      ? { proven: stream.offset, contradicted: false, end: null }
      : await held(content, stream);
    size ??= end;
    const known = copy?.of === id ? Math.max(proven, Math.min(copy.taken, stream.offset)) : proven;
    const isOwn = relation === 'same-file' && state.birth !== '' && !stream.gone;
    const fact = { id, offset: stream.offset, isOwn, proven: known, contradicted };
    // Two rotated files that are both there may be copies of one log: this one, if it holds nothing else.
    const isBeside = relation === 'other-rotation' && holder !== undefined && holder.entry !== null;
    if (isBeside && contradicted) continue;
    const rotation = relation === 'other-rotation' && !isBeside ? 'rotation' : relation;
    if (!holder) {
      // A copy that was made before more was taken of the log than it holds.
      const endsIn = size !== null && (await recent.endsIn(content, size, id, known));
      if (endsIn && !contradicted) fact.proven = Math.max(known, size ?? 0);
      candidates.push({ ...fact, relation: rotation, holder: 'none', compared: null });
      continue;
    }
    // What stands at its path by now is another file: of a log no copy, but of a rotated file, which was held, its original.
    const isReplaced = relation === 'same-path' && holder.entry !== null;
    if (isReplaced && rotationRank(state.path) === 0) continue;
    const other = await open(holder);
    if (!other) return null;
    const from = copy?.of === id ? copy.equal : proven > WHOLE_BYTES ? proven : 0;
    const comparison = await compare(content, other, from);
    // Truncated or replaced meanwhile: what was compared is not what it held.
    if (!other.gzip && !(await isIntact(holder, other))) return null;
    if (content.gzip && comparison.outcome === 'within') size = comparison.equal;
    candidates.push({
      ...fact,
      relation: isReplaced ? 'rotation' : rotation,
      holder: holder.entry ? 'path' : 'handle',
      compared: comparison,
    });
  }
  return { size, start, candidates };
}

/** Whether a file holds what was taken of it. */
export async function isIntact({ state }: TrackedFile, content: Content): Promise<boolean> {
  const { size } = content.stat();
  return size >= state.offset && (await stillHolds(content, state));
}
