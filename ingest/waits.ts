/** How long ingest waits before it judges a file, or tries again. All are ms. */
export interface IngestWaits {
  /** Between two listings of all folders. */
  readonly sweep: number;
  /** A line without a newline is taken when its file has not changed for this long. */
  readonly quiet: number;
  /** The last entry of a text is taken when its file has not changed for this long: lines of a stack trace come soon. */
  readonly entry: number;
  /** A `.gz` that ends early is being written; one that does not change for so long is named. */
  readonly incomplete: number;
  /** A file that is being put back, from another disk or an archive, grows within this time. */
  readonly atRest: number;
  /** No file waits longer than this until something tells which file it is. */
  readonly undecided: number;
  /** A deleted file is let go this long after its last change: it holds disk space. */
  readonly deleted: number;
  /** A file that was moved away is let go this long after its last change: its writer may keep it open. */
  readonly moved: number;
  /** Between two questions to a sink that has no room. */
  readonly room: number;
  /** The longest pause before lines are stored again that could not be stored. */
  readonly retry: number;
}

export const INGEST_WAITS: IngestWaits = {
  sweep: 1000,
  quiet: 5000,
  entry: 200,
  incomplete: 2000,
  atRest: 5000,
  undecided: 60_000,
  deleted: 5000,
  moved: 60_000,
  room: 1000,
  retry: 5000,
};
