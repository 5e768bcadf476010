import type { Path } from './shapes.ts';

/**
 * Facts about members of a row's records where a condition holds of it: of one, or all of several, or any of them. Rows of which it does
 * not hold may be left out before the condition is asked.
 */
export type Bounds<Of = unknown> =
  | MemberBound<Of>
  | { readonly all: readonly Bounds<Of>[] }
  | { readonly any: readonly Bounds<Of>[] };

/** A member, and what it is: a number within a range, both ends included, or one of these texts. */
export type MemberBound<Of = unknown> = { readonly of: Of; readonly path: Path } & (
  | { readonly least: number; readonly most: number }
  | { readonly texts: readonly string[] }
);

/** All of these, where any is known. */
export function allOf<Of>(parts: readonly (Bounds<Of> | undefined)[]): Bounds<Of> | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 1 ? { all: known } : known[0];
}

/** Any of these, where each is known. */
export function anyOf<Of>(parts: readonly (Bounds<Of> | undefined)[]): Bounds<Of> | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length && known.length > 0 ? { any: known } : undefined;
}

/** Returns the part of bounds that speaks only of what `to` gives in place of a member's `of`. */
export function boundsOn<Of, To>(
  bounds: Bounds<Of> | undefined,
  to: (member: MemberBound<Of>) => To | undefined,
): Bounds<To> | undefined {
  if (bounds === undefined) return undefined;
  if ('all' in bounds) return allOf(bounds.all.map((part) => boundsOn(part, to)));
  if ('any' in bounds) return anyOf(bounds.any.map((part) => boundsOn(part, to)));
  const of = to(bounds);
  return of === undefined ? undefined : { ...bounds, of };
}
