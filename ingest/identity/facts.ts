import { type Compared, compare } from '../files/compare.ts';
import type { Content } from '../files/content.ts';
import type { Candidate, Met } from './identify.ts';
import { held, stillHolds } from './proofs.ts';
import { tellingBytes } from './telling.ts';
import type { TrackedFile } from './tracked-file.ts';
import type { TrackedFiles } from './tracked-files.ts';

/** The facts from which `identify` decides. */
export interface Facts extends Met {
  readonly candidates: readonly Candidate[];
}

/** Two short contents are compared from their start. For long ones the proofs are enough, and only the bytes behind the last proof are compared. */
const WHOLE_BYTES = 1024 * 1024;
/** A file that grew this recently, in ms, may still get the bytes that a copy of it has already. */
const GROWS_MS = 1000;

/** Reads the facts about a file that begins with `start`. Returns null while a file that it is compared with is changing. */
export async function factsOf(
  file: TrackedFile,
  content: Content,
  start: Uint8Array,
  files: TrackedFiles,
  now: number,
): Promise<Facts | null> {
  const { streams, recent } = files;
  const { state, copy } = file;
  const telling = tellingBytes(start);
  const candidates: Candidate[] = [];
  let size = content.packed ? null : file.size;
  const relations = streams.of(state, start);
  if (copy && !relations.has(copy.of)) relations.set(copy.of, 'same-start');
  for (const [id, relation] of relations) {
    const stream = streams.get(id);
    const holder = files.get(id);
    if (!stream || id === state.id || holder?.copy || holder?.undecided) continue;
    // A packed file that was read to its end is not unpacked again.
    const isFinished = !holder && relation === 'same-file' && stream.finished === file.version;
    const { proven, contradicted, end } = isFinished
      ? { proven: stream.offset, contradicted: false, end: null }
      : await held(content, stream);
    size ??= end;
    // A packed log is the archive of another one. If it holds nothing new, it is that one's, however short it is.
    const isArchive = content.packed && size !== null && size <= stream.offset;
    const known = copy?.of === id ? Math.max(proven, Math.min(copy.taken, stream.offset)) : proven;
    // Equal inodes identify a file where no birth times are known: the bytes alone would not, for a short one.
    const isSame = relation === 'same-file' && known >= stream.offset && !stream.gone;
    const fact = {
      id,
      offset: stream.offset,
      relation,
      isOwn: isSame && state.birth !== '',
      contradicted,
    };
    if (!holder) {
      // A copy that was made before the stream was read further than the copy goes.
      const endsIn =
        !contradicted && size !== null && (await recent.endsIn(content, size, id, known));
      const upTo = endsIn ? Math.max(known, size ?? 0) : known;
      candidates.push({
        ...fact,
        proven: upTo,
        tells: isSame || isArchive || Math.max(upTo, copy?.of === id ? copy.equal : 0) >= telling,
        holder: null,
      });
      continue;
    }
    if (contradicted) continue;
    const from = copy?.of === id ? copy.equal : proven > WHOLE_BYTES ? proven : 0;
    const beside = await besideHolder(content, holder, from, files);
    if (!beside) return null;
    const isWithin = content.packed && beside.outcome === 'within';
    if (isWithin) size = beside.equal;
    candidates.push({
      ...fact,
      proven: known,
      tells: isSame || isArchive || isWithin || beside.equal >= telling,
      holder: {
        ...beside,
        isListed: holder.entry !== null,
        grows: now - holder.changedAt < GROWS_MS,
      },
    });
  }
  return { size, tells: telling !== Number.POSITIVE_INFINITY, candidates };
}

/** Compares a content with the file that holds a stream. Returns null if that file is changing. */
async function besideHolder(
  content: Content,
  holder: TrackedFile,
  from: number,
  files: TrackedFiles,
): Promise<Compared | null> {
  const other = await files.open(holder);
  if (!other) return null;
  const compared = await compare(content, other, from);
  // Truncated or replaced meanwhile: these were not the bytes that it held.
  if (!other.packed && !(await stillHolds(other, holder.state))) return null;
  return compared;
}
