// bunyan's stream of the type rotating-file.
import bunyan from 'bunyan';
import { writeLines } from './lines.mjs';

const log = bunyan.createLogger({
  name: 'app',
  streams: [{ type: 'rotating-file', path: 'app.log', period: '1000ms', count: 3 }],
});

// The logger adds fields of its own; its stream takes finished lines.
await writeLines(36, (line) => log.streams[0].stream.write(`${line}\n`), { rest: 1100 });
process.exit(0);
