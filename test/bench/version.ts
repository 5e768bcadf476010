import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../server/config/package-root.ts';

/** tailpond's version, as package.json has it. */
export const version = String(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
