import type { Format } from '../../server/lines/line.ts';

/** Returns the members of a line by their names, or null if the line is not of the format. The last of two members of one name wins. */
export function saidBy(format: Format, line: string): Record<string, unknown> | null {
  const members = format.parse(line);
  return members && Object.fromEntries(members.map(({ name, json }) => [name, JSON.parse(json)]));
}
