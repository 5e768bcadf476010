#!/usr/bin/env node
// Queries run on libuv's pool, whose size is read once, before any module loads; in an ES module it is too late.
process.env.UV_THREADPOOL_SIZE ||= '16';
void import('../dist/server/main.js');
