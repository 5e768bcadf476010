// rotating-file-stream with its default name generator: by "size", or by "interval".
import { createStream } from 'rotating-file-stream';
import { sleep, writeLines } from './lines.mjs';

const bySize = process.argv[2] === 'size';
const stream = createStream('app.log', {
  ...(bySize ? { size: '1K' } : { interval: '1s' }),
  compress: 'gzip',
  maxFiles: 3,
});

await writeLines(bySize ? 66 : 36, (line) => stream.write(`${line}\n`), {
  rest: bySize ? 350 : 1100,
});
await new Promise((resolve) => stream.end(resolve));
await sleep(300);
