import { AppError } from '../errors.ts';

/** Bytes that all bodies may hold at a time. Requests beyond get 503 and come again. */
const MEMORY_BYTES = 48e6;

/** Counts the memory that all pushes hold together. */
export interface Memory {
  /** Opens the account of one request. */
  open(): Holding;
}

/** Counts the memory that one request holds. */
export interface Holding {
  /** Throws `PUSH_OVERLOADED` where all requests together would hold too much. */
  add(bytes: number): void;
  remove(bytes: number): void;
  /** Gives back whatever is still held. */
  release(): void;
}

export function createMemory(maxBytes = MEMORY_BYTES): Memory {
  let left = maxBytes;
  return {
    open() {
      let held = 0;
      const remove = (bytes: number) => {
        held -= bytes;
        left += bytes;
      };
      return {
        add(bytes) {
          if (bytes > left) throw new AppError('PUSH_OVERLOADED');
          held += bytes;
          left -= bytes;
        },
        remove,
        release: () => remove(held),
      };
    },
  };
}
