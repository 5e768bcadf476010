import type { Entry } from './answers.ts';

/** Tells entries apart: shippers may give the id of a request to several, and two sources may have the same id. */
export function entryKey({ source = '', timestamp, id, event_message }: Entry): string {
  return JSON.stringify([source, timestamp, id, event_message]);
}
