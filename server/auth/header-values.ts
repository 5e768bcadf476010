import type { IncomingMessage } from 'node:http';

/** Returns every value of a header, in the order in which they came. Node joins some that are repeated, and drops others. */
export function headerValues(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === wanted)
      values.push(rawHeaders[i + 1] ?? '');
  return values;
}
