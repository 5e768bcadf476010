/**
 * The tag of tests and suites that `npm test` leaves out, at the end of their title. `npm run test:slow` runs them alone, and
 * `npx mocha` with the name of a file runs both.
 */
export const SLOW = '@slow';
