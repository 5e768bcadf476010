// log4js: the "file" appender by size, or "dateFile" with a pattern by the second.
import log4js from 'log4js';
import { writeLines } from './lines.mjs';

const bySize = process.argv[2] === 'file';
const layout = { type: 'messagePassThrough' };
log4js.configure({
  appenders: {
    app: bySize
      ? { type: 'file', filename: 'app.log', maxLogSize: 600, backups: 3, compress: true, layout }
      : {
          type: 'dateFile',
          filename: 'app.log',
          pattern: 'yyyy-MM-dd-hh-mm-ss',
          numBackups: 3,
          compress: true,
          layout,
        },
  },
  categories: { default: { appenders: ['app'], level: 'info' } },
});
const logger = log4js.getLogger();

await writeLines(36, (line) => logger.info(line), { rest: bySize ? 350 : 1100 });
await new Promise((resolve) => log4js.shutdown(resolve));
