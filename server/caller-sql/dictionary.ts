/** A table to look words of a caller up in: it has its own entries and none that every object has, such as `constructor`. */
export function dictionary<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.freeze(Object.assign(Object.create(null), entries));
}
