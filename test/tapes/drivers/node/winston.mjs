// winston's File transport: "size" numbers new files upwards; "tailable" keeps app.log the newest and compresses.
import winston from 'winston';
import { writeLines } from './lines.mjs';

const logger = winston.createLogger({
  format: winston.format.printf(({ message }) => message),
  transports: [
    new winston.transports.File({
      filename: 'app.log',
      maxsize: 600,
      maxFiles: 3,
      ...(process.argv[2] === 'tailable' && { tailable: true, zippedArchive: true }),
    }),
  ],
});

await writeLines(48, (line) => logger.info(line));
logger.end();
