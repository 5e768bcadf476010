import type { z } from 'zod';
import type * as answers from '../../../openapi/answers.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

type Inferred<Schema extends z.ZodType> = Readonly<z.infer<Schema>>;

/** `timestamp` has microseconds. */
export type Entry = Omit<Inferred<typeof answers.Entry>, 'metadata'> & { readonly metadata: Json };

/** The entries that begin at the timestamp and before the next bucket; a bucket without any is left out. */
export type Bucket = Inferred<typeof answers.Bucket>;

export type ProjectCount = Inferred<typeof answers.Project>;

/** What the service has counted of a source. */
export type LedgerEntry = Inferred<typeof answers.LedgerEntry>;

/** Files that are not read and belong to no source. */
export type Homeless = Inferred<typeof answers.Homeless>;

/** What retention would remove now. */
export type Removal = Inferred<typeof answers.Removal>;

/** A source as Logflare lists it: `token` is its name. */
export type KeptSource = Inferred<typeof answers.LogflareSource>;

export type RejectedLine = Inferred<typeof answers.RejectedLine>;

/** A row of the endpoint usage.api-counts. */
export interface ApiCount {
  readonly timestamp: string;
  readonly total_rest_requests: number;
  readonly total_storage_requests: number;
  readonly total_auth_requests: number;
  readonly total_realtime_requests: number;
}
