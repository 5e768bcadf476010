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

/** Requests of our own, by kind, in the same dialect: other pages, reports and users plausibly send them. These read entries. */
export const OF_ENTRIES: Readonly<Record<string, readonly Request[]>> = {
  pages: OWN_PAGES,
  reports: REPORTS,
  counts: COUNTS,
  measures: MEASURES,
  calendars: CALENDAR,
  rows: ROWS,
  records: RECORDS,
  ranks: RANKS,
  combinations: COMBINED,
};

/** These come to the same whatever is stored. */
export const OF_NOTHING: Readonly<Record<string, readonly Request[]>> = {
  values: VALUES,
  'requests that are refused': REFUSED,
  'requests that are not supported': UNSUPPORTED,
};

export const OWN: readonly Request[] = Object.values({ ...OF_ENTRIES, ...OF_NOTHING }).flat();
