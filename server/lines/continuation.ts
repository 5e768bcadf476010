/**
 * Says whether a line of text goes on the entry before it, as those of a stack trace do. It looks at the first 256 characters of a line, and
 * keeps no line.
 */
import type { EntryLines } from '../../ingest/index.ts';
import { type EnvelopeHead, envelopeHead } from './envelope.ts';
import { isPostgresPart } from './formats/postgres.ts';
import { beginsCsvEntry } from './formats/postgres-csv.ts';
import { HEAD_CHARS, leadingMoment, leadingSeverity } from './leading.ts';

const NODE_END = /^Node\.js v\d/;
/** Lines at the left edge that only a trace has: of Java, .NET, Go, Rust, PHP, Node and Python. */
const TRACE_LINES = [
  /^(?:Caused by|Suppressed|Wrapped by): /,
  /^\.\.\. \d+ (?:more|common frames omitted)/,
  /^Traceback \(most recent call last\):/,
  /^The above exception was the direct cause of the following exception:/,
  /^During handling of the above exception, another exception occurred:/,
  // log4j, logback and Serilog put the exception on a line of its own, behind the message.
  /^(?:[A-Za-z][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,100}(?:Exception|Error|Throwable)(?::|$)/,
  /^--- End of (?:inner exception )?stack trace/,
  /^Next [A-Z\\][\w\\]{0,200}(?:Exception|Error)\b/,
  /^[^\s:]{1,200}\.rb:\d{1,7}:in ['`][^']{1,200}'$/,
  /^goroutine \d+(?: [^[]{0,60})?\[[^\]]{1,100}\]:/,
  /^created by [\w.$/*()-]{1,200}(?: in goroutine \d+)?$/,
  /^(?:stack backtrace|Stack trace|\[stacktrace\]):?$/,
  /^note: (?:run with `RUST_BACKTRACE|[Ss]ome details are omitted)/,
  /^#\d{1,4} +(?:\{main\}|\[internal function\]|[^\s(]{1,200}\(\d+\): |0x)/,
  // The end of an object that Node printed, such as an error with fields.
  /^[}\])]{1,10}[,;]?$/,
  NODE_END,
];
const TRACE_LINE = anyOf(TRACE_LINES);
/** Behind an entry of an error these go on it, too: the error that Node prints, and Go's frames by name alone. */
const ERROR_LINES = [
  /^(?:[A-Z]\w{0,60})?(?:Error|Exception)(?: \[\w{1,60}\])?: \S/,
  // Java's classes in no package.
  /^[A-Z]\w{0,60}(?:\$[A-Z]\w{0,60}|Ex|Failure|Fault)(?:: \S|$)/,
  /^(?:[\w./-]{1,200}\.)(?:\(\*?\w{1,100}\)\.)?[\w.]{1,100}$/,
];
const ERROR_WORD = /\b(?:ERROR|ERR|FATAL|CRITICAL|SEVERE|D?PANIC)\b|\[error\b|\tWARN\t/;
/** java.util.logging writes the moment, the class and the method in a line of its own, and the severity in the next. */
const JUL_HEAD = /^[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d [AP]M \S{1,200} \S{1,200}$/;
const JUL_LINE = /^(?:SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST): /;
/** Boxes that rich, structlog and consola draw around traces. */
const BOX = /^[\u2500-\u257f]/;
const INDENTED = /^[ \t]{2,}\S|^\t|^ \S/;
const BLANK = /^\s*$/;
const TRACEBACK = 'Traceback (most recent call last):';
/** An entry that names a failure or a time of day may have a traceback behind it. Any other bare line is an entry of its own. */
const MAY_HAVE_TRACEBACK =
  /\d\d:\d\d|error|fail|except|cannot|could not|unable|uncaught|unhandled|crash|abort|broke/i;
/** A Java exception whose message may have further lines, up to its frames. */
const CAUSE = /^Caused by: (?:[\w$]{1,100}\.){0,12}[\w$]{1,100}: /;
const EXCEPTION = /^(?:[a-z][\w$]{0,60}\.){1,12}[A-Z][\w$]{0,100}: /;

/** The trace that the lines before belong to. `python` ends with the exception, `rust` with the message, `node` and `go` with another entry. `cause` ends with the first frame, which always follows; behind an `exception` there may be none, so one line is taken. */
type State =
  | 'none'
  | 'jul'
  | 'error'
  | 'python'
  | 'python-ended'
  | 'node'
  | 'go'
  | 'rust'
  | 'cause'
  | 'exception';

const BEGINNINGS: readonly (readonly [RegExp, State])[] = [
  [/^Traceback \(most recent call last\):/, 'python'],
  [/^(?:The above exception was the direct|During handling of the above)/, 'python-ended'],
  [/^(?:panic: |fatal error: |goroutine \d+ |SIG[A-Z]{3,6}: )/, 'go'],
  [/^(?:file:\/\/)?(?:[A-Za-z]:)?[/\\][^\s:]{1,200}\.[cm]?[jt]sx?:\d{1,7}$/, 'node'],
  [/^thread '[^']{0,100}'(?: \(\d+\))? panicked at /, 'rust'],
];
const BEGINNING = anyOf(BEGINNINGS.map(([pattern]) => pattern));
/** Go's frames, `main.main()` and `main.(*T).set(...)`, and its last words. */
const GO_LINE = /^(?:[\w.$/*()[\]{}%~·-]{1,250}\(|exit status \d+$|\[signal )/;

/** Returns one expression for several, which takes less time than each by itself. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => `(?:${source})`).join('|'));
}

/** Says whether a line goes on the entry before it, by itself. A line that begins with a moment, a severity or `{` does not. */
export function continues(line: string): boolean {
  const head = line.slice(0, HEAD_CHARS);
  return continuesBy(head, beginsEntry(head));
}

function continuesBy(head: string, begins: boolean): boolean {
  if (isPostgresPart(head) || BOX.test(head)) return true;
  if (begins) return false;
  return INDENTED.test(head) || TRACE_LINE.test(head);
}

/** Returns the lines of an entry that begins with `first`; null if that is a whole object. Envelopes are looked into. */
export function entryLines(first: string): EntryLines | null {
  if (beginsCsvEntry(first)) return quotedLines(first);
  const envelope = envelopeHead(first);
  if (!envelope && first[0] === '{') return first.trimEnd() === '{' ? objectLines() : null;
  // An object that a program wrote is whole.
  if (envelope && !envelope.isPart && envelope.text[0] === '{') return null;
  return new TextLines(first, envelope);
}

/** The lines of an entry of text. */
class TextLines implements EntryLines {
  readonly #first: string;
  readonly #isEnveloped: boolean;
  #isPart: boolean;
  /** Most entries end with the next line, for which it is not asked. */
  #continuation: Continuation | null = null;

  constructor(first: string, envelope: EnvelopeHead | null) {
    this.#first = envelope?.text ?? first;
    this.#isEnveloped = envelope !== null;
    this.#isPart = envelope?.isPart ?? false;
  }

  goesOn(line: string): boolean {
    const next = envelopeHead(line);
    if (this.#isEnveloped && !next) return false;
    const text = next?.text ?? line;
    const goesOn = this.#isPart || (!surelyBegins(text) && this.#continues(text));
    this.#isPart = next?.isPart ?? false;
    return goesOn;
  }

  #continues(text: string): boolean {
    if (!this.#continuation) {
      this.#continuation = new Continuation();
      this.#continuation.begin(this.#first);
    }
    return this.#continuation.next(text) === 'continues';
  }
}

/** An object over several lines ends with a brace at the left edge. */
function objectLines(): EntryLines {
  let isOpen = true;
  return {
    goesOn(line) {
      const goesOn = isOpen;
      isOpen &&= !line.startsWith('}');
      return goesOn;
    },
  };
}

/** A text in quotes may have newlines: the entry ends where all quotes are closed. */
function quotedLines(first: string): EntryLines {
  const quotes = (line: string) => line.split('"').length - 1;
  let isOpen = quotes(first) % 2 === 1;
  return {
    goesOn(line) {
      const goesOn = isOpen;
      isOpen = isOpen !== (quotes(line) % 2 === 1);
      return goesOn;
    },
  };
}

/** Follows the lines of one file. Some lines of a trace are known only by those before them, such as `ValueError: x`. */
export class Continuation {
  /** The state before the last line, and how that is to be taken. The state after it is made when a line follows. */
  #state: State = 'none';
  #last: { readonly head: string; readonly isContinued: boolean } | null = null;
  /** The beginning of the entry that a line may go on. */
  #entry: string | null = null;

  /** Begins an entry with a line, however it looks. */
  begin(line: string): void {
    this.#state = 'none';
    this.#entry = line.slice(0, HEAD_CHARS);
    this.#last = { head: this.#entry, isContinued: false };
  }

  /** Takes the next line of the file, without its newline. The first line begins an entry, however it looks. */
  next(line: string): 'begins' | 'continues' {
    const head = line.slice(0, HEAD_CHARS);
    const begins = beginsEntry(head);
    const isContinued =
      (continuesBy(head, begins) && (!head.startsWith(TRACEBACK) || this.#mayHaveTraceback())) ||
      (JUL_LINE.test(head) && this.#stateBefore() === 'jul') ||
      (!begins && this.#goesOn(head));
    this.#state = this.#stateBefore();
    this.#last = { head, isContinued };
    const goesOn = this.#entry !== null && isContinued;
    if (!goesOn) this.#entry = head;
    return goesOn ? 'continues' : 'begins';
  }

  #mayHaveTraceback(): boolean {
    const entry = this.#entry ?? '';
    if (this.#stateBefore() !== 'none' || entry.startsWith(TRACEBACK)) return true;
    return MAY_HAVE_TRACEBACK.test(entry) || ERROR_WORD.test(entry) || beginsEntry(entry);
  }

  #stateBefore(): State {
    if (!this.#last) return this.#state;
    this.#state = stateAfter(this.#state, this.#last.head, this.#last.isContinued);
    this.#last = null;
    return this.#state;
  }

  #goesOn(head: string): boolean {
    const state = this.#stateBefore();
    if (BLANK.test(head)) return state !== 'none';
    if (state === 'error') return ERROR_LINES.some((line) => line.test(head));
    if (state === 'go') return GO_LINE.test(head);
    return (
      state === 'python' ||
      state === 'node' ||
      state === 'rust' ||
      state === 'cause' ||
      state === 'exception'
    );
  }
}

/** Most entries begin so. */
const USUAL_BEGINNING = /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;
/** tracing's pretty form begins its entries with two blanks. */
const INDENTED_BEGINNING = /^ {1,4}\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;
/** klog, CockroachDB, Android and Spark. */
const SHORT_BEGINNING =
  /^(?:[IWEF]\d{4}(?:\d\d)? \d\d:|\d\d-\d\d \d\d:\d\d:\d\d|\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d )/;
/** Serilog's console: `[10:00:00 INF] `. */
const CLOCK_BEGINNING = /^\[\d\d:\d\d:\d\d(?:\.\d{1,7})? (?:VRB|DBG|INF|WRN|ERR|FTL)\] /;

/** Tells for most lines that they begin an entry, whatever stands before them. */
function surelyBegins(line: string): boolean {
  return USUAL_BEGINNING.test(line) && !isPostgresPart(line.slice(0, HEAD_CHARS));
}

function beginsEntry(head: string): boolean {
  if (head[0] === '{' || USUAL_BEGINNING.test(head)) return true;
  // ` INFO mod: msg`: tracing aligns its words of severity to the right.
  const start = head[0] === ' ' ? 1 : 0;
  if (start === 1 && INDENTED_BEGINNING.test(head)) return true;
  if (head[0] === '[' && CLOCK_BEGINNING.test(head)) return true;
  // rich leaves the clock out where it is that of the line before.
  if (start === 1 && /^ {10,12}(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) {2,5}\S/.test(head))
    return true;
  return (
    leadingMoment(head) !== null ||
    SHORT_BEGINNING.test(head) ||
    leadingSeverity(head, start)?.isPlain === true
  );
}

function stateAfter(state: State, head: string, isContinued: boolean): State {
  const begun = BEGINNING.test(head) && BEGINNINGS.find(([pattern]) => pattern.test(head));
  if (begun) return begun[1];
  if (!isContinued && JUL_HEAD.test(head)) return 'jul';
  if (!isContinued && ERROR_WORD.test(head) && beginsEntry(head)) return 'error';
  if (!isContinued || NODE_END.test(head)) return 'none';
  if (CAUSE.test(head)) return 'cause';
  if (EXCEPTION.test(head)) return 'exception';
  if (state === 'cause') return INDENTED.test(head) ? 'none' : state;
  if (state === 'exception') return 'none';
  // The line at the left edge behind the frames is the exception. Its message ends there.
  if (state === 'python' && !/^(?:\s|> File )/.test(head) && !BLANK.test(head))
    return 'python-ended';
  // A panic's message is one line; the frames behind it are known by themselves.
  if (state === 'rust' && !BLANK.test(head)) return 'none';
  return state;
}
