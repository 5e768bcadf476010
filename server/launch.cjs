#!/usr/bin/env node
require('./environment.cjs');
import('../dist/server/main.js').catch((error) => {
  const few = 'This process may open too few files: raise its limit (ulimit -n, LimitNOFILE).';
  console.error(error.code === 'EMFILE' ? few : error);
  process.exitCode = 1;
});
