// Loads lines into PostgreSQL, as Logflare keeps them, asks it questions, and prints what each took.
import { join } from 'node:path';
import { startCluster } from './cluster.ts';
import type { DataFile } from './dataset.ts';
import type { Answers } from './peer.ts';
import { copy, createTable } from './postgres-table.ts';
import { median } from './statistics.ts';

const { folder, files, times, worlds } = JSON.parse(process.argv[2] ?? '') as {
  folder: string;
  files: readonly DataFile[];
  times: number;
  worlds: readonly (readonly string[])[];
};
process.once('SIGTERM', () => process.exit(1));
const { client, close } = await startCluster(join(folder, 'postgres'));
try {
  await createTable(client, 'edge_logs');
  for (const file of files) await copy(client, file);
  await client.query('vacuum analyze edge_logs');
  const answers: { ms: number; rows: number }[][] = [];
  for (const questions of worlds) {
    const own = [];
    for (const question of questions) {
      const { rows } = await client.query(question);
      const ms: number[] = [];
      for (let n = 0; n < times; n++) {
        const begin = performance.now();
        await client.query(question);
        ms.push(performance.now() - begin);
      }
      own.push({ ms: median(ms), rows: rows.length });
    }
    answers.push(own);
  }
  console.log(JSON.stringify(answers satisfies Answers));
} finally {
  await close();
}
