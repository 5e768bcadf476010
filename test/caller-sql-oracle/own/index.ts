import type { Request } from '../request.ts';
import { CALENDAR } from './calendar.ts';
import { COMBINED } from './combined.ts';
import { COUNTS } from './counts.ts';
import { MEASURES } from './measures.ts';
import { OWN_PAGES } from './pages.ts';
import { RANKS } from './ranks.ts';
import { RECORDS } from './records.ts';
import { REFUSED } from './refused.ts';
import { REPORTS } from './reports.ts';
import { ROWS } from './rows.ts';
import { UNSUPPORTED } from './unsupported.ts';
import { VALUES } from './values.ts';

/** Requests of our own, in the same dialect: what other pages, reports and users plausibly send. */
export const OWN: readonly Request[] = [
  ...OWN_PAGES,
  ...REPORTS,
  ...COUNTS,
  ...MEASURES,
  ...CALENDAR,
  ...ROWS,
  ...RECORDS,
  ...RANKS,
  ...COMBINED,
  ...VALUES,
  ...REFUSED,
  ...UNSUPPORTED,
];
