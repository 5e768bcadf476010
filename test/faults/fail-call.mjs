// Preloaded into the service: its n-th call of DuckDB fails, n being FAULT_CALL; or the first FAULT_TIMES statements fail, in the
// engine itself, that match FAULT_SQL; or the first FAULT_TIMES appenders to the table FAULT_APPENDER can not be closed, and
// garbage is collected all the time. stderr says which those were.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';

const CALLS = [
  [DuckDBConnection.prototype, ['run', 'prepare', 'createAppender', 'stream']],
  [DuckDBPreparedStatement.prototype, ['run', 'stream']],
  [DuckDBResult.prototype, ['fetchChunk', 'getRows']],
];

let left = Number(process.env.FAULT_CALL ?? 0);
const matching = process.env.FAULT_SQL ? new RegExp(process.env.FAULT_SQL) : null;
let times = Number(process.env.FAULT_TIMES ?? 0);
for (const [prototype, names] of CALLS) {
  for (const name of names) {
    const original = prototype[name];
    if (typeof original !== 'function') throw new Error(`DuckDB has no ${name} to make fail`);
    prototype[name] = async function (...args) {
      if (--left === 0) {
        console.error(`FAULT in ${name}: ${String(args[0] ?? '').slice(0, 100)}`);
        throw new Error('Injected Error: this call was made to fail');
      }
      if (times > 0 && typeof args[0] === 'string' && matching?.test(args[0])) {
        times--;
        console.error(`FAULT in ${name}: ${args[0].slice(0, 100)}`);
        args[0] = "select error('made to fail')";
      }
      return original.apply(this, args);
    };
  }
}

if (process.env.FAULT_APPENDER) {
  const { createAppender } = DuckDBConnection.prototype;
  DuckDBConnection.prototype.createAppender = async function (table, ...rest) {
    const appender = await createAppender.call(this, table, ...rest);
    if (table === process.env.FAULT_APPENDER && times-- > 0)
      appender.closeSync = () => {
        console.error(`FAULT in an appender to ${table}`);
        throw new Error('Injected Error: this appender was made to fail');
      };
    return appender;
  };
  setFlagsFromString('--expose_gc');
  setInterval(runInNewContext('gc'), 30).unref();
}
