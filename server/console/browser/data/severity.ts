import type { Entry, Json } from './answers.ts';

export interface Severity {
  readonly kind: 'error' | 'warn' | 'fine' | 'quiet';
  /** As the entry has it: `500`, `ERROR`. */
  readonly text: string;
}

const KEYS = ['error_severity', 'severity', 'level', 'status_code', 'status'];
/** As deep as the sources have it, `metadata.response.status_code`, and once more for records. */
const DEPTH = 4;

/** How grave an entry is, by its metadata; null when that does not say. */
export function severityOf({ metadata }: Pick<Entry, 'metadata'>): Severity | null {
  const found = new Map<string, string>();
  collect(metadata, DEPTH, found);
  const all = KEYS.flatMap((key) => severity(found.get(key)) ?? []);
  // A request of level "info" may have failed: what is graver counts.
  return (
    all.find(({ kind }) => kind === 'error') ??
    all.find(({ kind }) => kind === 'warn') ??
    all[0] ??
    null
  );
}

function collect(value: Json, depth: number, found: Map<string, string>) {
  if (depth === 0 || typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object') collect(member, depth - 1, found);
    else if (KEYS.includes(key) && !found.has(key)) found.set(key, String(member));
  }
}

function severity(text = ''): Severity | null {
  if (/^[1-5]\d\d$/.test(text)) return { kind: ofStatus(Number(text)), text };
  if (/^(error|err|fatal|panic|critical|crit|alert|emerg|emergency)$/i.test(text))
    return { kind: 'error', text };
  if (/^(warn|warning)$/i.test(text)) return { kind: 'warn', text };
  if (/^(info|log|notice|information|statement)$/i.test(text)) return { kind: 'fine', text };
  return /^(debug\d?|trace|verbose)$/i.test(text) ? { kind: 'quiet', text } : null;
}

function ofStatus(status: number): Severity['kind'] {
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'fine';
}
