// Preloaded into the service: its n-th call of DuckDB fails, n being FAULT_CALL; stderr says which that was.
import { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';

const CALLS = [
  [DuckDBConnection.prototype, ['run', 'prepare', 'createAppender', 'stream']],
  [DuckDBPreparedStatement.prototype, ['run', 'stream']],
  [DuckDBResult.prototype, ['fetchChunk', 'getRows']],
];

let left = Number(process.env.FAULT_CALL);
for (const [prototype, names] of CALLS) {
  for (const name of names) {
    const original = prototype[name];
    if (typeof original !== 'function') throw new Error(`DuckDB has no ${name} to make fail`);
    prototype[name] = async function (...args) {
      if (--left === 0) {
        console.error(`FAULT in ${name}: ${String(args[0] ?? '').slice(0, 100)}`);
        throw new Error('Injected Error: this call was made to fail');
      }
      return original.apply(this, args);
    };
  }
}
