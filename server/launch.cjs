#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=16777216 MALLOC_MMAP_THRESHOLD_=16777216 node
// What must be in the environment before the program loads: an ES module is too late for it. Even this is too late for glibc, hence the
// first line: with an arena a thread, each thread would hold the memory of its last query, or give it back (docs/decisions/0003).

// Queries run on libuv's pool, whose size is read once.
process.env.UV_THREADPOOL_SIZE ||= '16';
// One arena takes a tenth less memory during bulk ingest than one a thread. Pages that are given back much sooner are asked for again at
// once, at the cost of processor time; later, settling takes more memory than it may (docs/decisions/0003, 0008).
process.env.DUCKDB_JE_MALLOC_CONF ||= 'narenas:1,dirty_decay_ms:300,muzzy_decay_ms:0';

import('../dist/server/main.js').catch((error) => {
  const few = 'This process may open too few files: raise its limit (ulimit -n, LimitNOFILE).';
  // Where Node.js meets the limit inside its own loader, only the message names it.
  console.error(/EMFILE|too many open files/.test(`${error.code} ${error.message}`) ? few : error);
  process.exitCode = 1;
});
