// Loads lines into PostgreSQL, as Logflare keeps them, asks it questions, and prints what each took.
import { join } from 'node:path';
import { startCluster } from './cluster.ts';
import { askInTurn, peerJob } from './peer-job.ts';
import { copy, createTable } from './postgres-table.ts';

const job = peerJob();
const { client, close } = await startCluster(join(job.folder, 'postgres'));
try {
  await createTable(client, 'edge_logs');
  for (const file of job.files) await copy(client, file);
  await client.query('vacuum analyze edge_logs');
  const worlds = job.worlds.map((questions) =>
    questions.map((question) => () => client.query(question)),
  );
  const [answers] = await askInTurn([{ worlds, rowsOf: ({ rows }) => rows.length }], job);
  console.log(JSON.stringify(answers));
} finally {
  await close();
}
