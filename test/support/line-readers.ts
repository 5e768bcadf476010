import { readersOf } from '../../server/lines/index.ts';

/** Reads lines as the service does with its default settings. */
export const lineReaders = readersOf({ lineFormat: {}, timeZone: {}, fields: {} }, () => false);
