// winston-daily-rotate-file with a date pattern by the second.
import winston from 'winston';
import DailyRotateFile from 'winston-daily-rotate-file';
import { writeLines } from './lines.mjs';

const logger = winston.createLogger({
  format: winston.format.printf(({ message }) => message),
  transports: [
    new DailyRotateFile({
      filename: 'app-%DATE%.log',
      datePattern: 'YYYY-MM-DD-HH-mm-ss',
      zippedArchive: true,
      maxFiles: 3,
    }),
  ],
});

await writeLines(36, (line) => logger.info(line), { rest: 1100 });
logger.end();
