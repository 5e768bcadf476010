/** What the store takes for the time; tests supply their own. */
export interface Clock {
  /** The machine's clock, ms since the epoch. */
  now(): number;
  /** Ms that went by since some moment, whatever is done to the machine's clock. */
  monotonic(): number;
}
