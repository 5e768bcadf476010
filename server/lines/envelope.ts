/**
 * Lines of container runtimes, which put an envelope around each line of a program: CRI of Kubernetes, `2026-11-20T10:00:00.1Z stdout F text`,
 * and Docker, `{"log":"text\n","stream":"stdout","time":"2026-11-20T10:00:00.1Z"}`.
 */
import { cri } from './formats/cri.ts';
import { readJson } from './json.ts';
import type { Member } from './line.ts';

const DOCKER = '{"log":"';

/** An envelope: the members that a runtime wrote, and the text of the program. */
export interface Envelope {
  readonly members: readonly Member[];
  readonly text: string;
  /** The program's line goes on in the next envelope. */
  readonly isPart: boolean;
}

/** Returns the envelope that a line is; null if it is none. */
export function envelopeOf(line: string): Envelope | null {
  const isDocker = line.startsWith(DOCKER) && line.includes('"stream":"');
  const json = isDocker ? readJson(line) : null;
  const members = json ? ('members' in json ? json.members : null) : cri.parse(line);
  const log = members?.find(({ name }) => name === 'log');
  if (!members || !log?.json.startsWith('"')) return null;
  const text: string = JSON.parse(log.json);
  const isPart = isDocker ? !text.endsWith('\n') : members.some(({ name }) => name === 'partial');
  return {
    members: members.filter((member) => member !== log),
    text: text.replace(/\n$/, ''),
    isPart,
  };
}

/** The beginning of the text in an envelope. */
export type EnvelopeHead = Pick<Envelope, 'text' | 'isPart'>;

/** Characters of a text of Docker that tell whether it goes on an entry. */
const DOCKER_CHARS = 600;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Returns the beginning of the text in an envelope; null if the line is none. It does not read the whole of an object. */
export function envelopeHead(line: string): EnvelopeHead | null {
  if (!line.startsWith(DOCKER)) return line[0] === '{' ? null : envelopeOf(line);
  if (!line.includes('"stream":"')) return null;
  const [, escaped = ''] =
    /^((?:[^"\\]|\\.)*)/s.exec(line.slice(DOCKER.length, DOCKER.length + DOCKER_CHARS)) ?? [];
  const text = escaped.replaceAll(/\\(.)/gs, (_all, sign) => ESCAPES[sign] ?? sign);
  return { text: text.replace(/\n$/, ''), isPart: !line.includes('\\n","') };
}

/** Returns the envelope of an entry, of one line or of several that were joined. */
export function envelopeOfEntry(entry: string): Envelope | null {
  const end = entry.indexOf('\n');
  if (end < 0) return envelopeOf(entry);
  const first = envelopeOf(entry.slice(0, end));
  if (!first) return null;
  let { text, isPart } = first;
  for (const line of entry.slice(end + 1).split('\n')) {
    const next = envelopeOf(line);
    text += `${isPart ? '' : '\n'}${next?.text ?? line}`;
    isPart = next?.isPart ?? false;
  }
  const members = isPart ? first.members : first.members.filter(({ name }) => name !== 'partial');
  return { members, text, isPart };
}
