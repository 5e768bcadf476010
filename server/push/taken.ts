import type { Source } from '../../ingest/index.ts';
import { AppError } from '../errors.ts';
import { faultOf, isObjectLine } from '../lines/index.ts';

/** A form as browsers and curl send it. */
const FORM = /^[\w.~%+*[\]-]{1,200}=[^\s=&{]*(?:&[^\s=&]+=[^\s=&]*)*$/;
/** Characters of a line that are looked at for a form. */
const HEAD_CHARS = 1000;

/** Tells whether anything of a body can become a row. A body of which nothing can is refused. */
export class Taken {
  /** True once a line came that can become a row, or is too long to be looked at. */
  isRow: boolean;
  readonly #source: Source;
  /** The first line that cannot become a row. */
  #first: string | null = null;

  constructor(source: Source, isRow: boolean) {
    this.#source = source;
    this.isRow = isRow;
  }

  /** Looks at a line as it would be written. */
  look(line: Buffer): void {
    const text = line.toString().trim();
    if (text === '') return;
    this.isRow = isObjectLine(text);
    if (!this.isRow) this.#first ??= text;
  }

  /** Throws `REQUEST_INVALID` if lines came, and none can become a row. `hasText`: lines of text can. */
  check(hasText: boolean): void {
    if (this.isRow || this.#first === null) return;
    const isForm = FORM.test(this.#first.slice(0, HEAD_CHARS));
    const got = isForm ? 'the body is a form' : `in its first line ${faultOf(this.#first)}`;
    const isText = !hasText && !isForm && !/^["{[]/.test(this.#first);
    const help = isText
      ? ` For lines of text set TAILPOND_LINE_FORMAT=${this.#source}=auto, or push to a source that takes them, such as app_logs.`
      : '';
    throw new AppError('REQUEST_INVALID', {
      detail: `Expected at least one JSON object, but ${got}. Send objects such as {"event_message":"text"}, one after the other or in an array.${help}`,
    });
  }
}
