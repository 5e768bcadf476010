// file-stream-rotator as its README shows it: by day and size, with an audit file and a link to the current file.
import FileStreamRotator from 'file-stream-rotator';
import { sleep, writeLines } from './lines.mjs';

const stream = FileStreamRotator.getStream({
  filename: 'app-%DATE%',
  frequency: 'daily',
  date_format: 'YYYY-MM-DD',
  size: '1k',
  max_logs: '3',
  end_stream: true, // otherwise a rotation drops lines that are not yet on disk
  audit_file: 'audit.json',
  extension: '.log',
  create_symlink: true,
  symlink_name: 'current.log',
});

await writeLines(66, (line) => stream.write(`${line}\n`));
stream.end();
await sleep(300);
