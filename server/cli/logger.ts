import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

/** Logs to stdout: JSON lines, or coloured text when that is a terminal. Never a token, a parameter's value or a line's text. */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return process.stdout.isTTY
    ? pino(options, pretty({ sync: true, translateTime: "UTC:yyyy-mm-dd'T'HH:MM:ss.l'Z'" }))
    : pino(options, pino.destination({ sync: true }));
}
