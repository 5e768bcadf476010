import type { Source } from '../source.ts';
import type {
  Batch,
  Capacity,
  FileState,
  LineReader,
  ReadLine,
  RejectedLine,
  Slice,
} from '../types.ts';
import type { StagingFile } from './staging.ts';
import { countForms } from './undated-forms.ts';

/**
 * Four row groups: a batch of this many lines is written straight to the database file, past its write-ahead log, and needs no rewriting
 * at the next checkpoint (docs/decisions/0003, 0033).
 */
export const BATCH_LINES = 122_880;
/** Bounds the disk that staging takes when lines are long. */
const BATCH_BYTES = 192 * 1024 * 1024;
/** What storing a line takes beyond its bytes only matters for longer ones. */
const LONG_LINE = 64 * 1024;
/** Rejected lines wait in memory for the commit; a file of garbage must not fill it. */
const REJECTED_BYTES = 8 * 1024 * 1024;
/** Bytes that are kept of a line beyond the limit. */
export const HEAD_OF_LONG_LINE = 4096;

/** What a batch may still take. Batches that are stored together share one. */
export interface Space {
  readonly lines: number;
  readonly stagedBytes: number;
  /** What it takes of lines too long for a row group: one is compressed on its way to the disk, its part stays in memory. */
  readonly partBytes: number;
  readonly longBytes: number;
  /** A longer line becomes no row, and takes none of them. */
  readonly longestBytes: number;
  readonly rejectedBytes: number;
}

/** Space for a batch of so many lines at most. */
export function spaceFor(lines: number, { partBytes, longBytes }: Capacity): Space {
  const stagedBytes = Math.ceil((BATCH_BYTES * lines) / BATCH_LINES);
  return {
    lines,
    stagedBytes,
    partBytes,
    longBytes,
    longestBytes: longBytes,
    rejectedBytes: REJECTED_BYTES,
  };
}

/** A batch that is being filled. */
export interface OpenBatch {
  lines: number;
  bytes: number;
  repaired: number;
  undated: number;
  /** Returns a reader whose last line is counted with what it says of it, once it is staged. */
  counting(reader: LineReader): LineReader;
  /** Whether it takes one more line of so many bytes; asked for each, as long as there is room. */
  admits(bytes: number): boolean;
  /** Counts a line of so many bytes that is staged, or about to be. */
  count(bytes: number): void;
  /** How many more lines it takes. */
  room(): number;
  /** What it leaves to the next one. */
  left(): Space;
  /** Copies whole lines, newline included, that begin at `offset` of `file`. Returns null if that is done at once. */
  stage(bytes: Uint8Array, file: string, offset: number): Promise<void> | null;
  /** As `stage`, of a line that was written anew and has so many bytes. */
  stageText(text: string, bytes: number, file: string, offset: number): Promise<void> | null;
  reject(line: RejectedLine): void;
  /** Notes what a file is once the batch is stored. */
  file(state: FileState): void;
  /** Whether there is anything to store. */
  empty(): boolean;
  /** Forgets what was staged, and noted of the file with this id, since `mark` was taken, because the file changed while it was read. */
  mark(id: number): () => void;
  /** Closes the staging file and hands the batch over. */
  finish(): Promise<Batch>;
}

/** Begins a batch of lines of `source` in a new staging file. */
export function openBatch(source: Source, file: StagingFile, space: Space): OpenBatch {
  const slices: Slice[] = [];
  const rejected: RejectedLine[] = [];
  const files = new Map<number, FileState>();
  let rejectedBytes = 0;
  let longBytes = 0;
  let future = 0;
  let doubled = 0;
  const forms = countForms();
  /** The reader's word on a line that is not staged or rejected yet. */
  let last: ReadLine | null = null;

  const countLast = () => {
    if (last?.kind === 'row') {
      if (last.isFuture) future++;
      if (last.isDoubled) doubled++;
      if (last.undatedForm) forms.add(last.undatedForm, 1);
    }
    last = null;
  };

  const noteSlice = (path: string, offset: number) => {
    const last = slices.at(-1);
    const follows =
      last !== undefined && last.file === path && last.offset - last.staged === offset - file.size;
    if (!follows) slices.push({ file: path, offset, staged: file.size });
  };

  const batch: OpenBatch = {
    lines: 0,
    bytes: 0,
    repaired: 0,
    undated: 0,
    counting: (reader) => ({
      ...reader,
      read(line) {
        last = reader.read(line);
        return last;
      },
    }),
    admits(bytes) {
      const counts = bytes > LONG_LINE && bytes <= space.longestBytes;
      return !counts || longBytes + bytes <= space.longBytes;
    },
    count(bytes) {
      countLast();
      batch.lines++;
      if (bytes > LONG_LINE) longBytes += bytes;
    },
    room() {
      const isPart = file.size > (batch.lines * BATCH_BYTES) / BATCH_LINES;
      const full =
        file.size >= (isPart ? Math.min(space.partBytes, space.stagedBytes) : space.stagedBytes) ||
        rejectedBytes >= space.rejectedBytes;
      return full ? 0 : Math.max(0, space.lines - batch.lines);
    },
    left() {
      return {
        lines: batch.room(),
        stagedBytes: space.stagedBytes - file.size,
        partBytes: space.partBytes - file.size,
        longBytes: space.longBytes - longBytes,
        longestBytes: space.longestBytes,
        rejectedBytes: space.rejectedBytes - rejectedBytes,
      };
    },
    stage(bytes, path, offset) {
      noteSlice(path, offset);
      return file.write(bytes);
    },
    stageText(text, bytes, path, offset) {
      noteSlice(path, offset);
      return file.writeText(text, bytes);
    },
    reject(line) {
      last = null;
      rejected.push(line);
      rejectedBytes += line.line.length + 64;
    },
    file(state) {
      files.set(state.id, state);
    },
    empty() {
      return files.size === 0;
    },
    mark(id) {
      const noted = files.get(id);
      const before = {
        lines: batch.lines,
        bytes: batch.bytes,
        repaired: batch.repaired,
        undated: batch.undated,
      };
      const [futureBefore, doubledBefore, forgetForms] = [future, doubled, forms.mark()];
      const [size, longBytesBefore, rejectedBytesBefore] = [file.size, longBytes, rejectedBytes];
      const [slicesBefore, rejectedBefore] = [slices.length, rejected.length];
      return () => {
        file.cut(size);
        longBytes = longBytesBefore;
        rejectedBytes = rejectedBytesBefore;
        Object.assign(batch, before);
        [future, doubled] = [futureBefore, doubledBefore];
        forgetForms();
        slices.length = slicesBefore;
        rejected.length = rejectedBefore;
        if (noted) files.set(id, noted);
        else files.delete(id);
      };
    },
    async finish() {
      await file.close();
      const { lines, bytes, repaired, undated } = batch;
      return {
        source,
        staging: file.path,
        staged: file.size,
        lines,
        slices,
        rejected,
        bytes,
        repaired,
        undated,
        undatedForms: forms.list(),
        future,
        doubled,
        files: [...files.values()],
      };
    },
  };
  return batch;
}

/** Where byte `staged` of a batch's staging file stands in the file it came from. */
export function originOf(batch: Batch, staged: number): { file: string; offset: number } {
  const slice = batch.slices.findLast((candidate) => candidate.staged <= staged);
  if (!slice) throw new Error(`BUG: no slice of the batch holds byte ${staged}`);
  return { file: slice.file, offset: slice.offset + (staged - slice.staged) };
}
