// Preloaded into the service: its n-th call of DuckDB fails, n being FAULT_CALL; or the first FAULT_TIMES statements fail, in the
// engine itself, that match FAULT_SQL; or, with FAULT_COMMIT, the transactions of these are committed and the client is told that they
// were not; or the first FAULT_TIMES appenders to the table FAULT_APPENDER cannot be closed, and
// garbage is collected all the time. stderr says which those were. It stands between the client and the engine's library, which is
// the one part of both that the bundle loads from its package.
import Module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LIBRARY = '@duckdb/node-bindings';
/** Calls that give a promise. The SQL of the first two is their second argument. */
const CALLS = [
  'query',
  'prepare',
  'appender_create_ext',
  'execute_prepared',
  'execute_prepared_streaming',
  'pending_prepared',
  'pending_prepared_streaming',
  'fetch_chunk',
];

let left = Number(process.env.FAULT_CALL ?? 0);
const matching = process.env.FAULT_SQL ? new RegExp(process.env.FAULT_SQL) : null;
let times = Number(process.env.FAULT_TIMES ?? 0);
/** Whether the next COMMIT fails. */
let isDue = false;

function failing(library) {
  const replaced = new Map();
  for (const name of CALLS) {
    const original = library[name];
    if (typeof original !== 'function') throw new Error(`DuckDB has no ${name} to make fail`);
    replaced.set(name, (...args) => {
      const sql = typeof args[1] === 'string' ? args[1].slice(0, 100) : '';
      if (--left === 0) {
        console.error(`FAULT in ${name}: ${sql}`);
        throw new Error('Injected Error: this call was made to fail');
      }
      if (isDue && /^commit$/i.test(sql)) {
        isDue = false;
        console.error(`FAULT in ${name}: ${sql}`);
        return original.apply(library, args).then(() => {
          throw new Error('Injected Error: this COMMIT was made to fail');
        });
      }
      if (times > 0 && (name === 'query' || name === 'prepare') && matching?.test(args[1])) {
        times--;
        if (process.env.FAULT_COMMIT) {
          isDue = true;
          return original.apply(library, args);
        }
        console.error(`FAULT in ${name}: ${sql}`);
        args[1] = "select error('made to fail')";
      }
      return original.apply(library, args);
    });
  }
  if (process.env.FAULT_APPENDER) {
    const failingAppenders = new WeakSet();
    const create = replaced.get('appender_create_ext');
    replaced.set('appender_create_ext', (...args) => {
      const appender = create(...args);
      if (args.includes(process.env.FAULT_APPENDER) && times-- > 0) failingAppenders.add(appender);
      return appender;
    });
    replaced.set('appender_close_sync', (appender) => {
      if (!failingAppenders.has(appender)) return library.appender_close_sync(appender);
      console.error(`FAULT in an appender to ${process.env.FAULT_APPENDER}`);
      throw new Error('Injected Error: this appender was made to fail');
    });
    setFlagsFromString('--expose_gc');
    setInterval(runInNewContext('gc'), 150).unref();
  }
  // The library's own functions are called on the library alone.
  return new Proxy(
    {},
    {
      get(_, name) {
        if (replaced.has(name)) return replaced.get(name);
        const value = library[name];
        if (typeof value !== 'function' || value.prototype) return value;
        replaced.set(name, value.bind(library));
        return replaced.get(name);
      },
    },
  );
}

const load = Module._load;
let wrapped = null;
Module._load = function (request, ...rest) {
  const library = load.call(this, request, ...rest);
  if (request !== LIBRARY) return library;
  wrapped ??= failing(library);
  return wrapped;
};
