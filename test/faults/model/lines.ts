import type { Source } from '../../../ingest/index.ts';
import type { ExpectedLines } from '../expected-lines.ts';
import { LOGS, type ModelFile, momentOf } from './files.ts';

/** A line that stands, or stood, in a file. Every text but a header's is written once: a line is known by its text. */
export interface Line {
  readonly source: Source;
  readonly text: string;
  /** The id of the row that comes of it; null: it becomes a rejected line. */
  readonly id: string | null;
  /** The file that it was written to, and the run of the service that was up then; 0: none. */
  readonly file: ModelFile;
  readonly run: number;
  /** How many files began with it, as a header. */
  begun: number;
  /** How often it may be there once more, because it stands in a copy that may be taken for a new file. */
  again: 0 | 1;
  /** The service has said that it has it. */
  taken: boolean;
  /** It stood in a file while the service ran. */
  exposed: boolean;
  /** The run of the service that has the deleted file open in which it stands; 0: none. */
  heldIn: number;
}

/**
 * What must, may and must not be there of the lines of one history. A line
 *
 * - must be there once while it stands in a file, whole; when the service has said that it has it; and when its file was
 *   deleted while the service had it open, until that run ends ("is read to its end", docs/reliability.md), which is so for half a
 *   line at the end, too;
 * - may be there once when it was destroyed otherwise, after it had stood in a file beside a running service: nobody
 *   can tell whether that had read it;
 * - must not be there when it was destroyed before a service ran that could have read it.
 *
 * A line may be there once more that stands in a copy which ends before what its original had come to when that was truncated, if
 * the service ended before it had looked at the copy: it then has nothing left to know the copy by ("Rotation", docs/reliability.md);
 * or if the original was renamed before: the name of the copy is then no rotation of the original's.
 *
 * A header, which several files begin with, is there once at least and once a file at most: a file that is made
 * anew with nothing but bytes that were read is the one that was known ("a file is known by what it holds", docs/files.md).
 */
export class ModelLines {
  private readonly lines = new Map<string, Line>();
  /** The ids of lines that are well formed; whatever else comes to stand between two newlines is not. */
  private readonly ids = new Map<string, string>();
  private sequence = 0;
  private readonly files: () => readonly ModelFile[];

  constructor(files: () => readonly ModelFile[]) {
    this.files = files;
    for (const { path, header } of LOGS) this.ids.set(header.trimEnd(), `header of ${path}`);
  }

  /** How many were made so far. */
  get made(): number {
    return this.sequence;
  }

  /** A new line, with its newline. Its id is at both ends, so that each half of it is known, too. */
  make(bytes: number, bad = false): string {
    const sequence = this.sequence++;
    const id = `n${sequence}`;
    const filler = 'x'.repeat(bytes);
    if (bad) return `bad ${id}${filler}\n`;
    const text = `{"id":"${id}","timestamp":"${momentOf(sequence)}","project":"p","event_message":"${filler}","metadata":{"end":"${id}"}}`;
    this.ids.set(text, id);
    return `${text}\n`;
  }

  /** Notes what stands in a file, new lines and old, beside this run of the service (0: none). */
  stands(file: ModelFile, run: number): void {
    const texts = file.text.split('\n');
    const end = texts.pop() ?? '';
    // A whole object is taken without its newline once the file has been quiet; half a line only when no more can come.
    if (this.ids.has(end) || file.packed) texts.push(end);
    for (const text of texts) this.note(text, file, run);
  }

  /** Notes that a file was begun with its log's header. */
  begins(file: ModelFile, run: number): void {
    const line = this.note(file.text.split('\n')[0] ?? '', file, run);
    if (line) line.begun++;
  }

  /** Notes that a file is about to be deleted beside this run of the service. */
  goes(file: ModelFile, run: number): void {
    const end = file.text.slice(file.text.lastIndexOf('\n') + 1);
    if (run > 0) this.note(end, file, run);
    if (run === 0 || file.openIn !== run) return;
    for (const text of [...wholeLines([file]), end]) {
      const line = this.lines.get(text);
      if (line) line.heldIn = run;
    }
  }

  /** The service has begun to run: it may read whatever stands there. */
  serviceBegins(run: number): void {
    for (const file of this.files()) this.stands(file, run);
  }

  /** The service has ended, and whatever it had open is closed. */
  serviceEnds(): void {
    for (const line of this.lines.values()) line.heldIn = 0;
    this.mayBeTwice(this.files().filter(({ short }) => short));
  }

  /** Notes that the service may take these copies for new files. */
  mayBeTwice(copies: readonly ModelFile[]): void {
    for (const text of wholeLines(copies)) {
      const line = this.lines.get(text);
      if (line) line.again = 1;
    }
  }

  /** Notes what the service has said in this run. */
  take(taken: (line: Line) => boolean, run: number) {
    for (const line of this.lines.values()) {
      if (line.taken || !taken(line)) continue;
      line.taken = true;
      // Nothing but an open file can have given it.
      if (line.run === run && this.onlyIn(line)) line.file.openIn = run;
    }
  }

  /** What a service that runs must take sooner or later, and has not yet. */
  due(): Line[] {
    const standing = wholeLines(this.files());
    return [...this.lines.values()].filter(
      (line) => !line.taken && (line.heldIn > 0 || standing.has(line.text)),
    );
  }

  /** At least and at most so many rows must be there of a source, now that all is taken that is due. */
  rows(source: Source): [number, number] {
    let [least, most] = [0, 0];
    for (const line of this.lines.values()) {
      if (line.source !== source || line.id === null) continue;
      const [low, high] = this.limits(line);
      [least, most] = [least + low, most + high];
    }
    return [least, most];
  }

  enter(expectedLines: ExpectedLines): void {
    for (const line of this.lines.values()) {
      const { source, text, id } = line;
      expectedLines.between(
        id === null ? { rejected: text } : { row: id },
        source,
        ...this.limits(line),
      );
    }
  }

  private limits(line: Line): [number, number] {
    const standing = wholeLines(this.files()).has(line.text);
    const least = line.taken || line.heldIn > 0 || standing ? 1 : 0;
    return [least, line.exposed ? Math.max(1, line.begun) + line.again : 0];
  }

  private onlyIn({ text, file }: Line): boolean {
    const holders = this.files().filter((other) => wholeLines([other]).has(text));
    return holders.length === 1 && holders[0] === file;
  }

  private note(text: string, file: ModelFile, run: number): Line | null {
    if (text === '') return null;
    const known = this.lines.get(text);
    if (known) {
      known.exposed ||= run > 0;
      return known;
    }
    const { source } = LOGS[file.log] as (typeof LOGS)[number];
    const id = this.ids.get(text) ?? null;
    const exposed = run > 0;
    const line: Line = {
      source,
      text,
      id,
      file,
      run,
      begun: 0,
      again: 0,
      taken: false,
      exposed,
      heldIn: 0,
    };
    this.lines.set(text, line);
    return line;
  }
}

function wholeLines(files: readonly ModelFile[]): Set<string> {
  return new Set(files.flatMap((file) => file.text.split('\n').slice(0, -1)));
}
