import { EXPLORER } from './explorer.ts';
import { PAGES } from './pages.ts';
import { REPORTS } from './reports.ts';
import type { Expectations } from './requests.ts';
import { UNIFIED } from './unified.ts';

/** What the requests of the folder must answer, by the name of their file without `.sql`. */
export const EXPECTED: Expectations = { ...PAGES, ...REPORTS, ...EXPLORER, ...UNIFIED };
