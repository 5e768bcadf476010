// pino-roll as pino's transport: "size", or "time" with the link to the current file.
import pino from 'pino';
import { fields, writeLines } from './lines.mjs';

// pino always writes a level; its place is used for the project.
const logger = pino(
  { base: null, timestamp: false, formatters: { level: () => ({ project: 'p' }) } },
  pino.transport({
    target: 'pino-roll',
    options:
      process.argv[2] === 'size'
        ? { file: 'app', size: '1k', limit: { count: 3 } }
        : {
            file: 'app',
            frequency: 1000,
            dateFormat: 'yyyy-MM-dd',
            extension: '.log',
            symlink: true,
            limit: { count: 3 },
          },
  }),
);

function write(_, n) {
  const { id, timestamp } = fields(n);
  logger.info({ id, timestamp });
}

if (process.argv[2] === 'size') await writeLines(66, write);
else await writeLines(36, write, { rest: 1100 });
