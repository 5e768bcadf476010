/** What a condition says: true, false, or null, which is not known. */
export type Truth = boolean | null;

export function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

export function and(...truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(null) ? null : true;
}

export function or(...truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  return truths.includes(null) ? null : false;
}

/** What a test says of a value; of nothing, nothing is known. */
export function that<T>(value: T | null, test: (value: T) => boolean): Truth {
  return value === null ? null : test(value);
}
