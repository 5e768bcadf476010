#!/usr/bin/env node
require('./environment.cjs');
void import('../dist/server/main.js');
