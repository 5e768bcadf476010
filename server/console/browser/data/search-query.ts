import { COLUMNS, OF_REQUESTS, REQUEST_COLUMNS, SEVERITIES } from '../../../search/fields.ts';
import type { Entry } from './answers.ts';

export type Level = NonNullable<Entry['severity']>;

/** The severities, the gravest first. */
export const LEVELS: readonly Level[] = SEVERITIES.toReversed();

/** Fields that are columns, or stand for another member of metadata, in some source. */
const OTHERS = [...COLUMNS.keys(), ...REQUEST_COLUMNS, ...OF_REQUESTS.keys()];
/** A name that needs no quotes, as the first of a field. */
const PLAIN_NAME = /^[A-Za-z_@$][\w@$-]*$/;
/** Such a name cannot be said in a query. */
const UNSPEAKABLE = /\0/;
/** A value that needs no quotes. */
const PLAIN_VALUE = /^[\w.@/-]+$/;
/** Whether two conditions are joined in it that AND would part. */
const HAS_OR = /\bOR\b|\|\|/;

/** A query with a condition more, that must hold too. */
export function withCondition(q: string, condition: string): string {
  if (q.trim() === '') return condition;
  if (q.split(' ').includes(condition)) return q;
  return `${HAS_OR.test(q) && !isBracketed(q) ? `(${q})` : q} ${condition}`;
}

/** Whether one pair of brackets is around all of it. */
function isBracketed(q: string): boolean {
  return /^\([^()]*\)$/.test(q);
}

/** That a field has a value. */
export function isValue(field: string, value: string | number | boolean): string {
  const text = String(value);
  return `${field}:${PLAIN_VALUE.test(text) ? text : quoted(text)}`;
}

/** A field as a query has it; null where none can say it. For a member of metadata, `path` has the names that lead to it. */
export function fieldOf(path: readonly string[], isMember: boolean): string | null {
  if (path.some((name) => UNSPEAKABLE.test(name))) return null;
  const names =
    isMember && OTHERS.includes(path[0]?.toLowerCase() ?? '') ? ['metadata', ...path] : path;
  return names.map((name) => (PLAIN_NAME.test(name) ? name : quoted(name))).join('.');
}

/** A query, and only entries of these severities: none for any. */
export function withLevels(q: string, levels: readonly Level[]): string {
  if (levels.length === 0) return q;
  return withCondition(q, `level:(${levels.join(' OR ')})`);
}

/** A query that finds words as they stand, wherever that is. */
export function phraseQuery(text: string): string {
  return quoted(text);
}

/** A query that finds a text wherever it stands. */
export function textQuery(text: string): string {
  return `*${text.replaceAll(/[\s()"\\*?]/g, '\\$&')}*`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
