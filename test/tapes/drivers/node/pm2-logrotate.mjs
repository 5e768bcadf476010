// pm2-logrotate's own program. Only pm2 itself is replaced: it lists one app, which appends to app.log as pm2 does.
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sleep, writeLines } from './lines.mjs';

const settings = {
  max_size: '400',
  retain: '3',
  compress: String(process.argv[2] === 'compress'),
  workerInterval: '1',
};
const app = { name: 'app', pm2_env: { axm_options: {}, pm_out_log_path: path.resolve('app.log') } };
const replaced = {
  pm2: { connect: (ready) => ready(), list: (callback) => callback(null, [app]) },
  pmx: {
    initModule: () => settings,
    probe: () => ({ metric: () => ({ set() {} }) }),
    action() {},
    notify: (error) => error && console.error(error),
  },
  'node-schedule': { scheduleJob() {} },
};
const load = Module._load;
Module._load = (request, ...rest) => replaced[request] ?? load(request, ...rest);

// The program says so when it has rotated. Lines that were written meanwhile could be lost.
let rotations = 0;
console.log = (text) => {
  if (text.endsWith('has been created')) rotations++;
};
process.env.PM2_HOME = mkdtempSync(path.join(tmpdir(), 'pm2-'));
mkdirSync(path.join(process.env.PM2_HOME, 'logs'));
createRequire(import.meta.url)('pm2-logrotate/app.js');

const log = createWriteStream('app.log', { flags: 'a' });
const written = (line) => new Promise((resolve) => log.write(`${line}\n`, resolve));
await writeLines(36, async (line, n) => {
  while (rotations < Math.floor(n / 6)) await sleep(50);
  await written(line);
});
while (rotations < 6) await sleep(50);
await sleep(300);
rmSync(process.env.PM2_HOME, { recursive: true });
process.exit(0);
