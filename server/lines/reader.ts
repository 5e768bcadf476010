import { fileMatcher, type LineReader, type ReadLine, type Source } from '../../ingest/index.ts';
import { withoutColours } from './colours.ts';
import { entryLines } from './continuation.ts';
import { envelopeOfEntry } from './envelope.ts';
import { createFieldTable, type FieldTable, namesMetadata, type OwnFields } from './fields.ts';
import { formInText } from './form.ts';
import { LINE_FORMATS } from './formats/index.ts';
import { text } from './formats/text.ts';
import { beginsObject, type JsonLine, readJson } from './json.ts';
import { type Format, type Member, textMember } from './line.ts';
import { isOfSupabase } from './metadata-names.ts';
import type { ZoneOffset } from './moments.ts';
import { normalLine, normalTests, secondOf } from './normal.ts';
import { renamed, rowOf } from './row.ts';
import { Shapes } from './shapes.ts';
import { UTC } from './zones.ts';

export interface ReaderOptions {
  readonly table: FieldTable;
  /** The zone of moments that name none. */
  readonly offsetOf: ZoneOffset;
  /** Formats of lines that are not JSON, in the order in which they are tried. */
  readonly formats: readonly Format[];
  /** Lines in the form of Supabase are stored as they are; those of other sources are read by the table. */
  readonly isSupabase: boolean;
  /** The time, ms; by default that of the machine. */
  readonly now?: () => number;
}

/** A row further ahead than this, ms, is of the future: its clock or its zone is wrong. */
const FUTURE_MS = 86_400_000;

const never = () => false;

/** Makes the reader of the lines of some files. */
export function createReader({
  table,
  offsetOf,
  formats,
  isSupabase,
  now = Date.now,
}: ReaderOptions): LineReader {
  const shapes = new Shapes(table);
  const reading = { table, shapes, offsetOf, isSupabase, now };
  const testOf = normalTests();
  /** The limit that normal lines are told by. It may be old: then lines are read one by one until the next one renews it. */
  let latest = secondOf(now() + FUTURE_MS);
  const isNormalText = (line: string) => {
    if (!line.startsWith('{')) return false;
    const bytes = Buffer.from(line);
    return testOf(bytes)(0, bytes.length, latest);
  };
  const rowFrom = (members: readonly Member[], repaired: boolean): ReadLine => {
    const shape = shapes.of(members);
    const row = rowOf(members, shape, reading);
    const ahead = now() + FUTURE_MS;
    if (isSupabase) latest = secondOf(ahead);
    return {
      kind: 'row',
      text: normalLine(row),
      repaired,
      isUndated: row.moment === null,
      isFuture: row.moment !== null && row.moment > ahead * 1000,
      isDoubled: row.isDoubled,
      undatedForm: row.unreadable,
    };
  };
  /** A program writes any text into an envelope. */
  const inside = formats.includes(text) ? formats : [...formats, text];
  const membersOf = (entry: string, formats: readonly Format[]): JsonLine => {
    const json = beginsObject(entry) ? readJson(entry) : null;
    if (json && 'members' in json) return json;
    const members = membersBy(formats, entry);
    if (members) return { members, repaired: false };
    return { reason: json?.reason ?? reasonOf(formats) };
  };
  return {
    normalIn(block) {
      if (!isSupabase) return never;
      const isNormal = testOf(block);
      return (from, to) => isNormal(from, to, latest);
    },
    ...(formats.length > 0 && { entry: entryLines }),
    read(entry) {
      // A line that is read here because of its neighbours gives the same row as without them.
      if (isSupabase && isNormalText(entry)) return asItStands(entry);
      const envelope = formats.length > 0 ? envelopeOfEntry(entry) : null;
      const said = envelope ? membersOf(envelope.text, inside) : membersOf(entry, formats);
      if ('reason' in said) return { kind: 'rejected', reason: said.reason };
      const outer = envelope?.members ?? [];
      const members = outer.length > 0 ? [...outer, ...renamed(said.members, outer)] : said.members;
      const row = rowFrom(members, said.repaired);
      if (row.kind !== 'row' || !row.isUndated || row.undatedForm) return row;
      return { ...row, undatedForm: formInText(envelope?.text ?? entry) };
    },
  };
}

/** Returns what an entry says in the first format that it has; null if it has none of them. One with colours is kept as `ansi`, too. */
export function membersBy(formats: readonly Format[], entry: string): readonly Member[] | null {
  const plain = withoutColours(entry);
  for (const { parse } of formats) {
    const members = parse(plain);
    if (members) return plain === entry ? members : [...members, textMember('ansi', entry)];
  }
  return null;
}

function reasonOf(formats: readonly Format[]): string {
  if (formats.length === 0) return 'it is not a JSON object; set TAILPOND_LINE_FORMAT to take text';
  const names = formats.map(({ name }) => name).join(' or ');
  return `it is neither a JSON object nor a line of ${names} (TAILPOND_LINE_FORMAT)`;
}

function asItStands(line: string): ReadLine {
  return {
    kind: 'row',
    text: `${line}\n`,
    repaired: false,
    isUndated: false,
    isFuture: false,
    isDoubled: false,
    undatedForm: null,
  };
}

/** How the lines of a source are written. */
export interface SourceFormats {
  readonly formats: readonly Format[];
  /** The formats of some files: of several patterns that a file has, the last one counts. */
  readonly files: readonly { readonly pattern: string; readonly formats: readonly Format[] }[];
}

/** Settings that the readers of a service are made from, by source. */
export interface ReadersOptions {
  readonly lineFormat: Readonly<Record<Source, SourceFormats>>;
  readonly timeZone: Readonly<Record<Source, ZoneOffset>>;
  readonly fields: Readonly<Record<Source, OwnFields>>;
}

/** Returns the reader of each file. Pushed lines were made objects before, with the projects of tokens in them. */
export function readersOf(
  { lineFormat, timeZone, fields }: ReadersOptions,
  isPushPath: (path: string) => boolean,
): (source: Source, path: string) => LineReader {
  const ofSource = (source: Source) => {
    const own = fields[source] ?? {};
    const shared = {
      table: createFieldTable(own),
      offsetOf: timeZone[source] ?? UTC,
      isSupabase: isOfSupabase(source) && !namesMetadata(own),
    };
    const { formats = LINE_FORMATS.json, files = [] } = lineFormat[source] ?? {};
    const pushed = createReader({ ...shared, formats: LINE_FORMATS.json });
    const others = createReader({ ...shared, formats });
    const special = files.map((file) => ({
      matches: fileMatcher(file.pattern),
      reader: createReader({ ...shared, formats: file.formats }),
    }));
    return (path: string) => {
      if (isPushPath(path)) return pushed;
      const below = path.slice(path.indexOf('/') + 1);
      return special.findLast(({ matches }) => matches(below))?.reader ?? others;
    };
  };
  const readers = new Map<Source, (path: string) => LineReader>();
  return (source, path) => {
    const readerOf = readers.get(source) ?? ofSource(source);
    readers.set(source, readerOf);
    return readerOf(path);
  };
}
