import { type Format, isObjectLine, membersBy, objectOf, readJson } from '../lines/index.ts';
import { elementsOf, type Member, membersOf, objectWithout } from '../records/object-text.ts';

/**
 * How Logflare reads the objects of a body, by its paths. `events`: as they are; `json`: each is the metadata of an entry; `vector`: the
 * same but for its message, timestamp and project; `cloudflare`: lines of Logpush, whose own timestamp counts.
 */
export type Form = 'events' | 'json' | 'vector' | 'cloudflare';

export interface RewriteOptions {
  readonly form: Form;
  /** Formats of lines that are not objects. */
  readonly formats: readonly Format[];
  /** The project of lines that name none; null: they keep none. */
  readonly project: string | null;
  /** Bytes of the longest line that is stored. */
  readonly maxLine: number;
}

/** Blanks around a line, which do not count to its length. */
export const AROUND_BYTES = 1024;

/** Makes a line of a source of a line of a body, both without a newline. */
export type Rewrite = (line: Buffer) => Buffer;

/**
 * Returns a function that rewrites each of these lines, or null where all may stay as they are. A line that is not an object stays as it is,
 * and becomes a rejected line; so does one that is too long.
 */
export function rewriteOf(
  lines: Buffer,
  { form, formats, project, maxLine }: RewriteOptions,
): Rewrite | null {
  const steps: Rewrite[] = [];
  if (form !== 'events' || lines.includes(OLD_MESSAGE))
    steps.push((line) => formed(line, form, maxLine));
  // Before the project is added, because only an object can have one.
  if (formats.length > 0) steps.push((line) => asObject(line, formats));
  if (project !== null) steps.push((line) => withDefault(line, project));
  if (steps.length === 0) return null;
  return (line) =>
    line.length > maxLine + AROUND_BYTES
      ? line
      : steps.reduce((rewritten, step) => step(rewritten), line);
}

function asObject(line: Buffer, formats: readonly Format[]): Buffer {
  const text = fromFirstSign(line).toString();
  if (text === '' || isObjectLine(text)) return line;
  const members = membersBy(formats, text);
  return members ? Buffer.from(objectOf(members)) : line;
}

/** Returns a line without the blanks before it and the carriage return behind it; blanks at the end of a text are a part of it. */
function fromFirstSign(line: Buffer): Buffer {
  let from = 0;
  while (isBlank(line[from])) from++;
  return line.subarray(from, line.at(-1) === 0x0d ? Math.max(from, line.length - 1) : line.length);
}

/** Tells whether a byte is a tab, vertical tab, form feed, carriage return or space. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}

function formed(line: Buffer, form: Form, maxLine: number): Buffer {
  const text = line.toString();
  const members = membersOf(text, WANTED[form]);
  if (members === null) return line;
  if (form === 'events') return renamed(text, members) ?? line;
  const { message, ...rest } = FORMS[form](text, members);
  const whole = Buffer.from(entryText({ ...rest, message }));
  // The message repeats the metadata, and is left out where the line would be too long with it.
  return whole.length > maxLine ? Buffer.from(entryText(rest)) : whole;
}

/** The name of a message in old clients of Logflare. */
const OLD_MESSAGE = '"log_entry"';

/** The members that each form looks at. */
const WANTED: Readonly<Record<Form, readonly string[]>> = {
  events: ['event_message', 'message', 'log_entry'],
  json: [],
  vector: ['message', 'timestamp', 'project'],
  cloudflare: ['EdgeStartTimestamp'],
};

/** Returns an object whose message has its new name; null where there is nothing to rename. */
function renamed(text: string, members: readonly Member[]): Buffer | null {
  const [old] = members;
  if (!old || members.some(({ name }) => name !== 'log_entry')) return null;
  const [before, after] = [text.slice(0, old.from), text.slice(old.to)];
  return Buffer.from(`${before}"event_message":${old.text}${after}`);
}

/** The JSON texts of an entry's columns. */
interface Entry {
  readonly timestamp?: string | undefined;
  readonly message?: string;
  readonly metadata: string;
  readonly project?: string | undefined;
}

const FORMS: Readonly<
  Record<
    Exclude<Form, 'events'>,
    (text: string, members: readonly Member[]) => Entry & { message: string }
  >
> = {
  json: asMetadata,
  vector(text, members) {
    const entry = asMetadata(
      objectWithout(
        text,
        members.filter(({ name }) => name !== 'project'),
      ),
    );
    const message = textOf(members, 'message') ?? entry.message;
    const [timestamp, project] = [textOf(members, 'timestamp'), textOf(members, 'project')];
    return { ...entry, timestamp, message, project };
  },
  cloudflare(text, members) {
    return { ...asMetadata(text), timestamp: textOf(members, 'EdgeStartTimestamp') };
  },
};

function textOf(members: readonly Member[], name: string): string | undefined {
  return members.find((member) => member.name === name)?.text;
}

/** An object is the metadata, and its text the message. */
function asMetadata(text: string) {
  const metadata = text.trim();
  return { message: JSON.stringify(metadata), metadata };
}

function entryText({ timestamp, message, metadata, project }: Entry): string {
  const members = [
    timestamp === undefined ? '' : `"timestamp":${timestamp},`,
    message === undefined ? '' : `"event_message":${message},`,
    `"metadata":${metadata}`,
    project === undefined ? '' : `,"project":${project}`,
  ];
  return `{${members.join('')}}`;
}

function withDefault(line: Buffer, project: string): Buffer {
  const text = line.toString();
  if ((namesProject(text) ?? brokenNamesProject(text)) !== false) return line;
  const [before, rest] = [text.slice(0, text.indexOf('{')), text.slice(text.indexOf('{') + 1)];
  const separator = rest.trimStart().startsWith('}') ? '' : ',';
  return Buffer.from(`${before}{"project":${JSON.stringify(project)}${separator}${rest}`);
}

/** Returns whether an object that is repaired when it is stored names a project; null for any other text. */
function brokenNamesProject(text: string): boolean | null {
  const json = readJson(text);
  return 'members' in json && json.repaired ? namesProject(objectOf(json.members)) : null;
}

/** The members that name a project, in a line or in its metadata. */
const PROJECTS = ['project', 'project_ref'];
/** The members in which programs that read the lines of others wrap them. */
const WRAPPERS = ['log', 'MESSAGE', 'message', 'msg'];

/** Returns true for an object that names a project, itself or in its metadata; null for any other text. */
function namesProject(text: string, within: readonly string[] = WRAPPERS): boolean | null {
  const members = membersOf(text, [...PROJECTS, 'metadata', ...within]);
  if (members === null) return null;
  return members.some(({ name, text: value }) => {
    if (PROJECTS.includes(name)) return isName(value);
    if (name === 'metadata') return metadataNamesProject(value);
    // A wrapped line is unpacked when it is stored.
    return value.startsWith('"') && namesProject(JSON.parse(value), []) === true;
  });
}

function metadataNamesProject(text: string): boolean {
  const first = text.startsWith('[') ? (elementsOf(text)?.[0] ?? '') : text;
  const named = membersOf(first, PROJECTS) ?? [];
  return named.some((member) => isName(member.text));
}

/** Tells whether a value can name a project: an empty text, an object or a list cannot. */
function isName(value: string): boolean {
  return value !== 'null' && value !== '""' && !/^[[{]/.test(value);
}
