// Text for a terminal. Lines of logs, names of files and answers of other services are the text of strangers: none of it may
// move the cursor, hide text or turn its direction.

/** Controls (C0, DEL, C1), and what turns the direction of text or ends a line in some readers: U+061C, U+200E, U+2028 and their like. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** The same, but for the tabs and line breaks that a text of several lines has. */
const OBEYED_IN_LINES =
  /\r(?!\n)|(?![\t\r\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Returns a text of several lines in which characters that a terminal obeys are escaped as JSON escapes them; JSON keeps its value. */
export function escaped(text: string): string {
  return text.replace(OBEYED_IN_LINES, escapeOf);
}

/** The same as one line. */
export function escapedLine(text: string): string {
  return text.replace(OBEYED, escapeOf);
}

/** One line in which a space stands for each character that a terminal obeys or does not show. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}

/** Prints an answer: to a file or a pipe as it is, to a terminal escaped. */
export function print(text: string): void {
  console.log(process.stdout.isTTY ? escaped(text) : text);
}

/** Prints a message on standard error. */
export function complain(message: string): void {
  console.error(escaped(message));
}

/** Writes bytes to standard output: to a file or a pipe as they are, to a terminal as escaped text. */
export function write(bytes: Buffer): Promise<void> {
  const shown = process.stdout.isTTY ? escaped(bytes.toString('utf8')) : bytes;
  return new Promise((done) => process.stdout.write(shown, () => done()));
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
