// Loads lines into PostgreSQL, as Logflare keeps them, asks it questions, and prints what each took.
import { join } from 'node:path';
import { startCluster } from './cluster.ts';
import { askAll, peerJob } from './peer-job.ts';
import { copy, createTable } from './postgres-table.ts';

const job = peerJob();
const { client, close } = await startCluster(join(job.folder, 'postgres'));
try {
  await createTable(client, 'edge_logs');
  for (const file of job.files) await copy(client, file);
  await client.query('vacuum analyze edge_logs');
  const answers = await askAll(
    job,
    (question) => client.query(question),
    ({ rows }) => rows.length,
  );
  console.log(JSON.stringify(answers));
} finally {
  await close();
}
