import type { Request } from '../request.ts';
import { GROUPS } from './groups.ts';
import { OWN_PAGES } from './pages.ts';
import { REFUSED } from './refused.ts';
import { REPORTS } from './reports.ts';
import { SHAPES } from './shapes.ts';
import { VALUES } from './values.ts';

/** Requests of our own, in the same dialect: what other pages, reports and users plausibly send. */
export const OWN: readonly Request[] = [
  ...OWN_PAGES,
  ...REPORTS,
  ...GROUPS,
  ...SHAPES,
  ...VALUES,
  ...REFUSED,
];
