/** A member of a JSON object as it is written. */
export interface Member {
  readonly name: string;
  /** The text of its value: numbers keep their digits. */
  readonly text: string;
}

/**
 * The members of a text that is one JSON object, in their order; null for any other text. Only the outermost object is taken apart, so
 * that what stands in it keeps its text.
 */
export function membersOf(text: string): Member[] | null {
  return isJson(text, '{') ? partsOf(text) : null;
}

/** The elements of a text that is one JSON array; null for any other text. */
export function elementsOf(text: string): string[] | null {
  return isJson(text, '[') ? partsOf(text).map((part) => part.text) : null;
}

/** What stands between the outermost brackets of a text that is JSON. */
function partsOf(text: string): Member[] {
  const members: Member[] = [];
  let [depth, inString, from, name] = [0, false, 0, ''];
  for (let at = text.search(/[{[]/); at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === '\\') at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === '{' || sign === '[') {
      if (++depth === 1) from = at + 1;
    } else if (sign === ':' && depth === 1) {
      name = JSON.parse(text.slice(from, at));
      from = at + 1;
    } else if ((sign === ',' && depth === 1) || ((sign === '}' || sign === ']') && --depth === 0)) {
      const value = text.slice(from, at).trim();
      if (value !== '') members.push({ name, text: value });
      from = at + 1;
    }
  }
  return members;
}

/** The text of an object with these members. */
export function objectText(members: readonly Member[]): string {
  return `{${members.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** The value of a member whose text is a JSON string; null for any other. */
export function textOf(members: readonly Member[], name: string): string | null {
  const member = members.find((each) => each.name === name);
  return member?.text.startsWith('"') ? JSON.parse(member.text) : null;
}

function isJson(text: string, opening: '{' | '['): boolean {
  if (!text.trimStart().startsWith(opening)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
