// ClickHouse's own server, out of the library of chDB: `node engine.ts <config file> <data folder>`. It runs until it is killed.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DataType, load, open } from 'ffi-rs';

const [config = '', data = ''] = process.argv.slice(2);
const LIBRARY = '@chdb/lib-linux-x64-gnu';
const found = createRequire(import.meta.url).resolve(`${LIBRARY}/package.json`);
open({ library: LIBRARY, path: join(found, '..', 'libchdb.so') });

/** A query that starts the listeners and does not end. */
const QUERY = `system start listen queries all;
  select sleepEachRow(3) from system.numbers
  settings function_sleep_max_microseconds_per_block = 0, max_block_size = 1
  format Null`;
const words = ['clickhouse', `--config-file=${config}`, `--path=${data}`, `--query=${QUERY}`];
await load({
  library: LIBRARY,
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [words.length, words],
});
