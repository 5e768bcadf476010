import type { Source } from '../../../ingest/source.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export interface Entry {
  readonly id: string;
  /** UTC with microseconds. */
  readonly timestamp: string;
  readonly project: string | null;
  readonly event_message: string | null;
  readonly metadata: Json;
  readonly ingested_at: string;
}

/** The entries that begin at the timestamp and before the next bucket; a bucket without any is left out. */
export interface Bucket {
  readonly timestamp: string;
  readonly entries: number;
}

export interface ProjectCount {
  readonly project: string | null;
  readonly entries: number;
}

export interface Refused {
  readonly path: string;
  readonly reason: string;
}

/** What the service has counted of a source; only `refused` is there when no source is known for the files. */
export interface LedgerEntry {
  readonly source: Source | null;
  readonly files?: number;
  readonly pending_bytes?: number;
  readonly lag_seconds?: number | null;
  readonly lines?: number;
  readonly rejected?: number;
  readonly removed?: number;
  readonly stored?: number;
  readonly oldest?: string | null;
  readonly newest?: string | null;
  /** Bytes on the disk. */
  readonly size?: number;
  readonly refused: readonly Refused[];
}

export interface Due {
  readonly source: Source;
  readonly why: string;
  readonly would_remove_rows: number;
  readonly would_remove_rejected: number;
  readonly bytes: number;
}

export interface Kept {
  /** The name of the source. */
  readonly token: Source;
  readonly retention_days: number | null;
}

export interface RejectedLine {
  readonly id: string;
  readonly source: Source;
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly reason: string;
  readonly rejected_at: string;
  readonly line: string;
  /** How many bytes of it `line` is. */
  readonly shown_bytes: number;
  /** Without it, only the beginning was kept, and the line cannot be tried again. */
  readonly whole: boolean;
}

export interface ApiCount {
  readonly timestamp: string;
  readonly total_rest_requests: number;
  readonly total_storage_requests: number;
  readonly total_auth_requests: number;
  readonly total_realtime_requests: number;
}
