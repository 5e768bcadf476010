import { type DestinationStream, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { escaped, escapedLine } from './terminal.ts';

/**
 * Makes the service's log: JSON lines, or coloured text for a terminal. Never a token, a parameter's value or a line's text. Names of
 * files and paths of URLs are the text of strangers, so each line is escaped here, wherever it comes from.
 */
export function createLogger(
  level: string,
  isTerminal: boolean = process.stdout.isTTY === true,
  out: DestinationStream = pino.destination({ sync: true }),
): Logger {
  const shown = isTerminal ? prettyLines() : escaped;
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, { write: (line) => out.write(shown(line)) });
}

/** Returns what makes coloured text of a line of JSON. Only the stack of an error keeps its line breaks, which are indented. */
function prettyLines(): (line: string) => string {
  const pretty = prettyFactory({ translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'" });
  const escapeValue = (name: string, value: unknown) => {
    if (typeof value !== 'string') return value;
    return name === 'stack' ? escaped(value) : escapedLine(value);
  };
  return (line) => pretty(JSON.parse(line, escapeValue)) ?? '';
}
