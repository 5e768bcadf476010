import type { Entry } from './answers.ts';

export interface Severity {
  readonly kind: 'error' | 'warn' | 'fine' | 'quiet';
  /** `500`, `error`. */
  readonly text: string;
}

const KINDS = {
  fatal: 'error',
  error: 'error',
  warn: 'warn',
  info: 'fine',
  debug: 'quiet',
  trace: 'quiet',
} as const satisfies Record<NonNullable<Entry['severity']>, Severity['kind']>;

/** How grave an entry is; null when it does not say. A request of level "info" may have failed: what is graver counts. */
export function severityOf({
  severity,
  status,
}: Pick<Entry, 'severity' | 'status'>): Severity | null {
  const own: Severity | null = severity && { kind: KINDS[severity], text: severity };
  if (status === null) return own;
  const ofStatus: Severity = { kind: kindOf(status), text: String(status) };
  return own && rank(own) < rank(ofStatus) ? own : ofStatus;
}

function kindOf(status: number): Severity['kind'] {
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'fine';
}

function rank({ kind }: Severity): number {
  return ['error', 'warn', 'fine', 'quiet'].indexOf(kind);
}
