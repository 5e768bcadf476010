import type { Source } from '../../ingest/index.ts';
import { type LinesOptions, lines } from '../support/lines.ts';
import { type Random, randomOf } from '../support/random.ts';
import { type InsertFields, SUPABASE_FIELDS } from './victorialogs-server.ts';

/** A format of lines that bulk ingest is measured with. */
export interface LineFormat {
  readonly name: string;
  readonly source: Source;
  /** Returns the texts of `count` entries, oldest first. An entry may have several lines. */
  entries(count: number, options: LinesOptions): Iterable<string>;
  /** What VictoriaLogs is told of the fields; null where its endpoint of JSON lines cannot read the format. */
  readonly victorialogs: InsertFields | null;
}

const LEVELS = ['info', 'info', 'info', 'info', 'info', 'info', 'info', 'warn', 'warn', 'error'];
/** Of pino. */
const NUMBERS: Readonly<Record<string, number>> = { info: 30, warn: 40, error: 50 };
const MESSAGES = ['order paid', 'order sent', 'invoice written', 'stock counted', 'cart emptied'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 201, 204, 304, 404, 500];
const AGENTS = ['curl/8.5.0', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101'];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
/** As long as those of a web framework are. */
const TRACE_LINES = 20;

export const FORMATS: readonly LineFormat[] = [
  {
    name: "Supabase's JSON",
    source: 'edge_logs',
    entries: (count, options) => lines('edge_logs', count, options),
    victorialogs: SUPABASE_FIELDS,
  },
  {
    name: 'flat JSON, as pino writes it',
    source: 'app_logs',
    entries: entriesOf(pino),
    victorialogs: { _time_field: 'time', _msg_field: 'msg', _stream_fields: 'hostname' },
  },
  { name: 'logfmt', source: 'app_logs', entries: entriesOf(logfmt), victorialogs: null },
  { name: 'nginx, combined', source: 'app_logs', entries: entriesOf(nginx), victorialogs: null },
  { name: 'text of Logback', source: 'app_logs', entries: entriesOf(logback), victorialogs: null },
  {
    name: `the same, each error with ${TRACE_LINES} lines of stack trace`,
    source: 'app_logs',
    entries: entriesOf(traced),
    victorialogs: null,
  },
];

type Write = (shop: Shop, at: Date, random: Random) => string;

/** What an application says. */
interface Shop {
  readonly level: string;
  readonly message: string;
  readonly order: string;
  readonly customer: string;
  readonly ms: number;
}

function entriesOf(write: Write): LineFormat['entries'] {
  return function* (count, { seed, end, spanMs }) {
    const random = randomOf(seed);
    const { below, pick, uuid } = random;
    for (let i = 1; i <= count; i++) {
      const shop = {
        level: pick(LEVELS),
        message: pick(MESSAGES),
        order: `A-${below(1e6)}`,
        customer: uuid(),
        ms: below(900),
      };
      yield write(shop, new Date(end - spanMs + (spanMs * i) / count), random);
    }
  };
}

function pino({ level, message, ...shop }: Shop, at: Date): string {
  const fields = { level: NUMBERS[level], time: at.getTime(), pid: 4219, hostname: 'web-1' };
  return JSON.stringify({ ...fields, ...shop, msg: message });
}

function logfmt({ level, message, order, customer, ms }: Shop, at: Date): string {
  return `time="${at.toISOString()}" level=${level} msg="${message}" order=${order} customer=${customer} ms=${ms}`;
}

function logback({ level, message, order, customer, ms }: Shop, at: Date): string {
  const time = at.toISOString().replace('T', ' ').slice(0, -1);
  return `${time} [http-nio-8080-exec-${ms % 10}] ${level.toUpperCase().padEnd(5)} com.example.shop.Orders - ${message}: ${order} of ${customer} in ${ms} ms`;
}

function traced(shop: Shop, at: Date): string {
  const line = logback(shop, at);
  if (shop.level !== 'error') return line;
  const places = Array.from(
    { length: TRACE_LINES - 1 },
    (_, n) => `\tat com.example.shop.Orders.step${n}(Orders.java:${shop.ms + n})`,
  );
  return [line, `java.lang.IllegalStateException: ${shop.order} declined`, ...places].join('\n');
}

function nginx({ order, ms }: Shop, at: Date, { below, pick }: Random): string {
  const [, day, time] = /-(\d+)T([\d:]+)/.exec(at.toISOString()) ?? [];
  const date = `${day}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}:${time} +0000`;
  return `10.${below(256)}.${below(256)}.7 - - [${date}] "${pick(METHODS)} /orders/${order} HTTP/1.1" ${pick(STATUSES)} ${ms} "-" "${pick(AGENTS)}"`;
}
