import { type Member, membersOf, objectText } from '../records/object-text.ts';
import { linesOf } from './stamp.ts';

/**
 * How Logflare reads the objects of a body, by its paths. `events`: as they are; `json`: each is the metadata of an entry; `vector`: the
 * same but for its message, timestamp and project; `cloudflare`: lines of Logpush, whose own timestamp counts.
 */
export type Form = 'events' | 'json' | 'vector' | 'cloudflare';

/** Returns the lines of a body as lines of a source. A line that is not an object stays as it is, and becomes a rejected line. */
export function formed(given: readonly Buffer[], form: Form, maxLine: number): readonly Buffer[] {
  if (form === 'events' && !Buffer.concat(given).includes(OLD_MESSAGE)) return given;
  return linesOf(given).map((line) => {
    const members = membersOf(line.toString());
    if (members === null) return line;
    const made = FORMS[form](members);
    const text = Buffer.from(`${objectText(made)}\n`);
    // The message repeats the metadata, and is left out where the line would be too long with it.
    const isTooLong = text.length > maxLine && line.length <= maxLine && form !== 'events';
    return isTooLong ? Buffer.from(`${objectText(made.filter(isNoMessage))}\n`) : text;
  });
}

function isNoMessage({ name }: Member): boolean {
  return name !== 'event_message';
}

/** What clients of Logflare called a message before. */
const OLD_MESSAGE = '"log_entry"';
const MESSAGES = ['event_message', 'message'];

const FORMS: Readonly<Record<Form, (members: readonly Member[]) => Member[]>> = {
  events(members) {
    if (members.some(({ name }) => MESSAGES.includes(name))) return [...members];
    return members.map(({ name, text }) => ({
      name: name === 'log_entry' ? 'event_message' : name,
      text,
    }));
  },
  json: (members) => entry(members, JSON.stringify(objectText(members)), null),
  vector(members) {
    const own = (wanted: string) => members.find(({ name }) => name === wanted);
    const rest = members.filter(({ name }) => name !== 'message' && name !== 'timestamp');
    const message = own('message')?.text ?? JSON.stringify(objectText(rest));
    const project = own('project');
    return [...entry(rest, message, own('timestamp')?.text ?? null), ...(project ? [project] : [])];
  },
  cloudflare(members) {
    const start = members.find(({ name }) => name === 'EdgeStartTimestamp');
    return entry(members, JSON.stringify(objectText(members)), start?.text ?? null);
  },
};

function entry(metadata: readonly Member[], message: string, timestamp: string | null): Member[] {
  return [
    ...(timestamp === null ? [] : [{ name: 'timestamp', text: timestamp }]),
    { name: 'event_message', text: message },
    { name: 'metadata', text: objectText(metadata) },
  ];
}
