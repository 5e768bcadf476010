import { isIPv6 } from 'node:net';

const MARK = 'REDACTED';

/** The length of the shortest personal data, `::1`. */
const SHORTEST = '::1'.length;

/**
 * The text with personal data replaced by `REDACTED`: IPv4 and IPv6 addresses, e-mail addresses,
 * JWTs, bearer and other tokens, and payment-card numbers; as they are written in URLs and JSON, too. In doubt it hides: a version such as `113.0.0.0` is
 * an IPv4 address too. Takes time linear in the text, whatever the text.
 */
export function redact(text: string): string {
  const visible = hidden(text);
  if (!ESCAPE.test(visible)) return visible;
  // A word that is personal data once it is read as it was meant is hidden as a whole.
  return visible
    .split(WORDS)
    .map((word, i) => (i % 2 === 0 && ESCAPE.test(word) && isPersonal(word) ? MARK : word))
    .join('');
}

/** A character as a URL or JSON may write it. */
const ESCAPE = /%[\dA-Fa-f]{2}|\\u[\dA-Fa-f]{4}/;
const WORDS = /([\s"<>,]+)/;
/** A URL in a URL in a URL. */
const MOST_ESCAPED = 3;

function isPersonal(word: string): boolean {
  let text = word;
  for (let depth = 0; depth < MOST_ESCAPED; depth++) {
    const meant = text
      .replaceAll(/\\u([\dA-Fa-f]{4})/g, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
      .replaceAll(/(?:%[\dA-Fa-f]{2})+/g, (bytes) =>
        Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
      );
    if (meant === text) return false;
    if (hidden(meant) !== meant) return true;
    text = meant;
  }
  return false;
}

/** The text with what can be seen of personal data replaced. */
function hidden(text: string): string {
  const visible = IN_WHOLE.reduce(
    (rest, { hint, hide }) => (hint.test(rest) ? hide(rest) : rest),
    text,
  );
  const kinds = KINDS.filter(({ hint }) => hint.test(visible));
  if (kinds.length === 0) return visible;
  const hide = (part: string) => kinds.reduce((rest, kind) => kind.hide(rest), part);
  return visible
    .split(ESCAPES)
    .map((part, i) => (i % 2 === 1 || part.length < SHORTEST ? part : hide(part)))
    .join('');
}

interface Kind {
  /**
   * What a text must contain to be searched at all: most texts have nothing, and searching costs
   * more.
   */
  readonly hint: RegExp;
  readonly hide: (part: string) => string;
}

/*
 * The patterns below are linear: none can start again within a run of characters that it has failed
 * on, or each start is of bounded length. Repeated groups are bounded too, since V8 gives up on a
 * long run of them (`RangeError`).
 */

/**
 * The scheme in any letter case, a blank (in a URL `%20` or `+`), a colon or an equals sign, and a
 * token, whose characters may be escaped.
 */
const BEARER =
  /(bearer(?:[ \t]+|%20|\+|[ \t]*[:=][ \t]*))(?:[\w.~+/=-]|\\\/|%(?:2[BCDEFbcdef]|3[Dd]|7[Ee]))+/gi;

/** What clients put into the query string of a URL, which may stand in another's. */
const PARAMETER =
  /((?:[?&#;]|%3F|%26)(?:(?:access|refresh|id)_?)?(?:token|api_?key|password|secret)(?:\[\])?)(?:(=)[^&#\s"\\<>]+|(%3D)(?:[^&#\s"\\<>%]|%(?!2[02367]|0A)[\dA-F]{2})+)/gi;

/** Keys whose beginning says what they are: of Supabase, and of tailpond itself. */
const KEY = /(?:sb_secret_|(?<![\dA-Za-z])tp_[\dA-Za-z]{1,32}_)[\w-]{8,}/g;

/** An IPv6 address whose colons are escaped as in a URL. */
const IPV6_IN_URL =
  /(?<![\dA-Za-z]|%[\dA-Fa-f])(?:[\da-f]{0,4}%3A){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4})(?![\dA-Za-z])|(?<=%(?!3A)[\dA-F]{2})(?:[\da-f]{0,4}%3A){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{0,4})(?![\dA-Za-z])/gi;

/** A card's number whose groups are parted as in a URL. */
const CARD_IN_URL =
  /(?<![\dA-Za-z]|%[\dA-Fa-f])[2-6]\d{3}(?:(%20)\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|(%20)\d{6}\2\d{4,5})(?![\dA-Za-z])/g;

/** Kinds in which escapes of URLs are parts of what is hidden. */
const IN_WHOLE: readonly Kind[] = [
  { hint: /bearer/i, hide: (text) => text.replace(BEARER, `$1${MARK}`) },
  { hint: /token|key|password|secret/i, hide: (text) => text.replace(PARAMETER, `$1$2$3${MARK}`) },
  { hint: /sb_secret_|tp_/, hide: (text) => text.replace(KEY, MARK) },
  { hint: /%3A/i, hide: (text) => text.replace(IPV6_IN_URL, hideIpv6InUrl) },
  {
    hint: /\d%20\d/,
    hide: (text) =>
      text.replace(CARD_IN_URL, (card) => (isCard(card.replaceAll('%20', '')) ? MARK : card)),
  },
];

function hideIpv6InUrl(candidate: string): string {
  const address = candidate.replaceAll(/%3A/gi, ':');
  return hideIpv6(candidate, address);
}

/**
 * What stands between words though it ends in letters or digits: escapes of JSON within the text
 * (`\n`), of terminals (`ESC[32m`) and of URLs. `\u0040`, `%40`, `%2540`, `%2B` and `%2E` are not among
 * them: `@`, `+` and `.` are parts of e-mail addresses.
 */
const ESCAPES =
  /(\\(?:u(?!0040)[\dA-Fa-f]{4}|[bfnrt])(?:\[[\d;]*m)?|\p{Cc}\[[\d;]*m|%(?!40|2540|2[BEbe])[\dA-Fa-f]{2})/u;

/** `{"` in base64, or `{` with a blank or a line's end behind it. */
const JWT = /(?<![\dA-Za-z])(?:eyJ|eyAi|ewog|ew0K)[\w.-]+/g;

/** Before the `@` stand words, perhaps with apostrophes between them, or anything in quotes. */
const EMAIL =
  /(?:(?<![\p{L}\p{N}_.%+-])[\p{L}\p{N}_.%+-]+(?:'[\p{L}\p{N}_.%+-]+){0,3}|\\?"[^"\\\p{Cc}]{1,64}\\?")(?:@|%40|%2540|\\u0040)(?:[\p{L}\p{N}-]{1,63}\.){1,20}(?:xn--[\w-]{1,59}|\p{L}{2,63})/gu;

const IPV4 = /(?<![\dA-Za-z]|\d\.)\d{1,3}(?:\.\d{1,3}){3}(?![\dA-Za-z])/g;

/**
 * Groups and colons beside no letter: `$1::date` and `Foo::B2` are code, `host:::1` is a name and
 * an address.
 */
const IPV6 =
  /(?<![\dA-Za-z$])((?:::(?!:)|[\da-f]{1,4}:)(?:[\da-f]{0,4}:){0,6}(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{1,4}|:?(?<=(?<!:)::)))(?![\dA-Za-z])(?:%\w+(?:[.-]\w+){0,3})?/gi;

/** In this order: an e-mail address may end in an IPv4 address, and IPv6 addresses embed them. */
const KINDS: readonly Kind[] = [
  { hint: /eyJ|eyAi|ewog|ew0K/, hide: (part) => part.replace(JWT, hideJwt) },
  { hint: /@|%40|%2540|\\u0040/, hide: (part) => part.replace(EMAIL, MARK) },
  { hint: /:[\dA-Fa-f]{0,4}:/, hide: (part) => part.replace(IPV6, hideIpv6) },
  { hint: /\d\.\d{1,3}\.\d/, hide: (part) => part.replace(IPV4, hideIpv4) },
  { hint: /\d(?:[ \t_.+\u00a0-]?\d){12}/, hide: hideCards },
];

/**
 * A JWT has three parts, an encrypted one five; some may be empty. A JWT that was cut before its
 * signature has two that are JSON. A full stop behind it ends a sentence.
 */
function hideJwt(candidate: string): string {
  const [, second, third] = candidate.split('.', 3);
  if (third === undefined && !/^(?:eyJ|eyAi|ewog|ew0K)/.test(second ?? '')) return candidate;
  return candidate.endsWith('.') ? `${MARK}.` : MARK;
}

function hideIpv6(candidate: string, address: string): string {
  return isIPv6(address) && !isCodeLike(address) ? MARK : candidate;
}

/**
 * Whether valid IPv6 is more likely something else. With eight groups that is an EUI-64 or the
 * start of a fingerprint, in pairs of digits; with one or two, a name or a slice of code (`a::b`,
 * `f32::add`, `[1::2]`): addresses so short begin with `::` or with four digits (`fe80::1`), as
 * those in use do (RFC 4291, section 2.4).
 */
function isCodeLike(address: string): boolean {
  const groups = address.split(':');
  if (groups.filter((group) => group !== '').length > 2) return /^(?:..:){7}..$/.test(address);
  const first = groups[0] ?? '';
  return !/\d/.test(address) || (first !== '' && first.length < 4);
}

/** Unlike `isIPv4` of node:net it takes octets padded with zeros, `010.000.000.001`. */
function hideIpv4(candidate: string): string {
  return candidate.split('.').every((octet) => Number(octet) <= 255) ? MARK : candidate;
}

function hideCards(part: string): string {
  let shown = '';
  let from = 0;
  for (const { index } of part.matchAll(CARD_START)) {
    const end = index < from ? -1 : endOfCard(part, index);
    if (end < 0) continue;
    shown += part.slice(from, index) + MARK;
    from = end;
  }
  return shown + part.slice(from);
}

const CARD_START = /(?<![\dA-Za-z]|\d\.)[2-6](?=\d{3})/g;

/**
 * How numbers are printed: in one, in fours, or as American Express and Diners do. No UUID has such
 * groups.
 */
const CARD_FORMS = [
  /\d{13,19}(?:\.0{1,9})?(?![\dA-Za-z]|\.\d)/y,
  /(?<!\d-)\d{4}([ \t_.+\u00a0-])\d{4}\1\d{4}\1\d{4}\1\d{1,3}(?![\dA-Za-z]|[.-]\d)/y,
  /(?<!\d-)\d{4}([ \t_.+\u00a0-])\d{4}\1\d{4}\1\d{1,4}(?![\dA-Za-z]|[.-]\d)/y,
  /(?<!\d-)\d{4}([ \t_.+\u00a0-])\d{6}\1\d{4,5}(?![\dA-Za-z]|[.-]\d)/y,
];

/** The place after the card number that starts at `start`, or -1. */
function endOfCard(part: string, start: number): number {
  for (const form of CARD_FORMS) {
    form.lastIndex = start;
    const [printed] = form.exec(part) ?? [];
    if (printed !== undefined && isCard(printed.replace(/\.0+$/, '').replace(/\D/g, '')))
      return start + printed.length;
  }
  return -1;
}

/**
 * Prefixes and lengths of Visa, American Express, Diners, JCB, Mastercard, Maestro, Discover and
 * UnionPay.
 */
const ISSUERS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|3[47]\d{13}|3[0689]\d{12}|35\d{14,17}|5[1-5]\d{14}|(?:5[06-8]|6\d)\d{11,17}|2[2-7]\d{14})$/;

function isCard(digits: string): boolean {
  return ISSUERS.test(digits) && luhnSum(digits) % 10 === 0;
}

const ZERO = '0'.charCodeAt(0);

/** The sum that ISO/IEC 7812-1 puts to a multiple of ten by the last digit. */
function luhnSum(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - ZERO;
    sum += i % 2 === 0 ? digit : 2 * digit - (digit > 4 ? 9 : 0);
  }
  return sum;
}
