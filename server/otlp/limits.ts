import { AppError } from '../errors.ts';

/**
 * Values of one record, resource or scope: attributes, elements and members at any depth. They are decoded in one go, which takes some
 * 50 ms for this many. The SDKs' own limit is 128 attributes.
 */
const MAX_VALUES = 100_000;

/** Throws `BODY_TOO_LARGE` for a message with too many values to be decoded in one go. */
export function checkValues(values: number): void {
  if (values <= MAX_VALUES) return;
  throw new AppError('BODY_TOO_LARGE', {
    detail: `Expected records, resources and scopes of at most ${MAX_VALUES} values each, got one with more.`,
  });
}
