/** More digits of a fraction, and of a whole number, are not kept by the engine. */
export const [MOST_DIGITS, MOST_WHOLE_DIGITS] = [15, 18];
/** A number that the engine would write otherwise, or a text that looks like one: 1.10, 1e5, -0, 0.00001, or one of too many digits. */
const CHANGES = /\d\.\d*0(?!\d)|\d[eE]|-0(?!\.)|(?<!\d)0\.0000|\d{19}|(?=[\d.]{17})\d+\.\d/;
const WHOLE = /^(?:0|-?[1-9]\d{0,17})$/;
const QUOTE = 0x22;
const LETTER = 0x61;

/** Tells whether the engine, which writes JSON anew, surely keeps the digits of all numbers in a value. */
export function keepsDigits(json: string): boolean {
  const first = json.charCodeAt(0);
  if (first === QUOTE || (first >= LETTER && first <= LETTER + 25) || WHOLE.test(json)) return true;
  return !CHANGES.test(json);
}
