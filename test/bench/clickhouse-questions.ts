// Loads lines into a table of ClickHouse's engine that is ordered by project and time, with a text index of the messages,
// asks it questions, and prints what each took.
import { join } from 'node:path';
import { Session } from 'chdb';
import { askAll, peerJob } from './peer-job.ts';

const job = peerJob();
const session = new Session(join(job.folder, 'clickhouse'));
session.query('create database logs');
session.query(`create table logs.edge_logs (
  id String codec(ZSTD),
  timestamp DateTime64(6, 'UTC') codec(ZSTD),
  project LowCardinality(String) codec(ZSTD),
  event_message String codec(ZSTD),
  metadata String codec(ZSTD),
  path LowCardinality(String) codec(ZSTD),
  url String codec(ZSTD),
  index words event_message type text(tokenizer = splitByNonAlpha)
) engine = MergeTree order by (project, timestamp)`);
for (const { path } of job.files)
  session.query(`insert into logs.edge_logs
    select id, timestamp, project, event_message, metadata,
      if(metadata like '[%', JSONExtractString(metadata, 1, 'request', 1, 'path'), JSONExtractString(metadata, 'request', 'path')),
      if(metadata like '[%', JSONExtractString(metadata, 1, 'request', 1, 'url'), JSONExtractString(metadata, 'request', 'url'))
    from file('${path}', JSONEachRow,
      'id String, timestamp DateTime64(6), project String, event_message String, metadata String')
    settings date_time_input_format = 'best_effort'`);
session.query('optimize table logs.edge_logs final');

// Each question is asked several times; that it remembers which granules had nothing would answer for the next one.
session.query('set use_query_condition_cache = 0');
const answers = await askAll(
  job,
  (question) => session.query(question, 'JSONCompactEachRow').split('\n').length - 1,
);
session.close();
console.log(JSON.stringify(answers));
