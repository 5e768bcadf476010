/** Characters of a line that a format with quoted parts reads. Node's regular expressions overflow their stack between 8 and 32 million. */
export const MOST_QUOTED_CHARS = 4 * 1024 * 1024;
