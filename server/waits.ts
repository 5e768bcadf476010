import { INGEST_WAITS, type IngestWaits } from '../ingest/index.ts';

/** How long the service waits for quiet, between two looks, or before it tries again: ms, but for bytes. */
export interface Waits extends IngestWaits {
  /** The write-ahead log is written back when nothing has been stored for this long. */
  readonly checkpoint: number;
  /** It is written back at the latest after this time, however busy ingest is. */
  readonly checkpointLatest: number;
  /** The write-ahead log is written back by a COMMIT that finds so many bytes in it. */
  readonly checkpointBytes: number;
  /** A query may go on this long after it was interrupted at its time limit. */
  readonly queryGrace: number;
  /** Between two looks for rows to settle, … */
  readonly settle: number;
  /** … until rows that fill no run get their columns, too, … */
  readonly settleIdle: number;
  /** … and after a failure. */
  readonly settleRetry: number;
  /** The age of a push file at which the next lines go into another one. */
  readonly pushSeal: number;
  /** Between two looks for push files to seal. */
  readonly pushLook: number;
  /** Between two looks for push files whose lines are stored. */
  readonly pushRemoval: number;
  /** Between two runs of retention. */
  readonly retention: number;
  /** Between two checks of the tables that rows are forwarded to. */
  readonly forwardCheck: number;
  /** For so long ClickHouse works on an INSERT, rounded up to seconds, … */
  readonly forwardInsert: number;
  /** … and a request of it takes so long beside: until it is there, and until its answer is. */
  readonly forwardAnswer: number;
  /** The longest pause before rows are forwarded again that could not be forwarded. */
  readonly forwardRetry: number;
  /** What the user who may only read was found to be in ClickHouse holds for so long. */
  readonly readerTrial: number;
  /** The head of a request is whole within this time from the connection or from its first byte. */
  readonly requestHead: number;
  /** A body that holds no lines is whole within this time. */
  readonly requestBody: number;
  /** A request with lines is whole within this time. */
  readonly pushBody: number;
  /** An answer or an export of which nothing was read in this time is dropped. */
  readonly answerRead: number;
  /** A tail that has sent nothing for this long says that it is there. */
  readonly heartbeat: number;
  /** Between two reports of rejected lines of one file. */
  readonly rejections: number;
}

export const WAITS: Waits = {
  ...INGEST_WAITS,
  checkpoint: 2000,
  checkpointLatest: 60_000,
  // With the default of 16 MB every second batch checkpoints, which cuts ingest to a sixth.
  checkpointBytes: 256e6,
  // Interrupts are obeyed within ms, but by a few functions that look for none while they work on one value.
  queryGrace: 15_000,
  settle: 5000,
  settleIdle: 30_000,
  settleRetry: 60_000,
  pushSeal: 10_000,
  pushLook: 1000,
  pushRemoval: 2000,
  retention: 60_000,
  forwardCheck: 60_000,
  forwardInsert: 60_000,
  forwardAnswer: 30_000,
  forwardRetry: 30_000,
  readerTrial: 60_000,
  requestHead: 10_000,
  requestBody: 15_000,
  // 12 MB at 1.6 Mbit/s. Vector waits no longer for an answer.
  pushBody: 60_000,
  answerRead: 30_000,
  heartbeat: 15_000,
  rejections: 60_000,
};

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, MB: 1e6 };

/** Reads changes to the waits, `settle=100ms,checkpointBytes=40MB`, or returns null where a name or a value is wrong. */
export function parseWaits(text: string): Waits | null {
  const changed: Record<string, number> = {};
  for (const part of text.split(',')) {
    const [, name = '', number, unit] = /^\s*([a-zA-Z]+)=(\d{1,6})(ms|s|MB)\s*$/.exec(part) ?? [];
    const factor = unit && UNITS[unit];
    if (!(name in WAITS) || !factor || number === '0') return null;
    if ((unit === 'MB') !== name.endsWith('Bytes')) return null;
    changed[name] = Number(number) * factor;
  }
  return { ...WAITS, ...changed };
}
