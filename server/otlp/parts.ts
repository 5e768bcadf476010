import type { KeyValue, LogRecord } from './messages.ts';

export interface Resource {
  readonly attributes?: readonly KeyValue[];
}

export interface Scope extends Resource {
  readonly name?: string;
  readonly version?: string;
}

/**
 * A step through an ExportLogsServiceRequest, in its order. A resource stands before its scopes, and a scope before its records, also where
 * the body has them the other way round. `pause`: bytes were passed over.
 */
export type Part =
  | { readonly kind: 'resource'; readonly resource: Resource | undefined }
  | { readonly kind: 'scope'; readonly scope: Scope | undefined }
  | { readonly kind: 'record'; readonly record: LogRecord }
  | { readonly kind: 'pause' };
