import { sorted } from '../expected/requests.ts';
import { datetime, grouped, truncated } from '../form.ts';
import type { Request } from '../request.ts';

/** Requests that group entries by days, hours and texts of them. */
export const CALENDAR: readonly Request[] = [
  {
    name: 'entries by hour of the day and day of the week',
    sql: `select extract(dayofweek from timestamp) as day, extract(hour from timestamp) as hour, count(*) as n from auth_logs group by day, hour order by day, hour`,
    rows: (w) =>
      sorted(
        grouped(w.auth_logs, ({ timestamp }) => {
          const date = new Date(timestamp / 1000);
          return [date.getUTCDay() + 1, date.getUTCHours()];
        }).map(({ keys, items }) => ({ day: keys[0], hour: keys[1], n: items.length })),
        'day',
        'hour',
      ),
  },
  {
    name: 'entries by day in a zone',
    sql: `select date(timestamp, 'Asia/Tokyo') as day, count(id) as n, min(timestamp) as first, max(timestamp) as last from realtime_logs group by day order by day desc`,
    rows: (w) =>
      sorted(
        grouped(w.realtime_logs, ({ timestamp }) => [
          datetime(timestamp + 9 * 3600e6).slice(0, 10),
        ]).map(({ keys, items }) => ({
          day: keys[0],
          n: items.length,
          first: Math.min(...items.map(({ timestamp }) => timestamp)),
          last: Math.max(...items.map(({ timestamp }) => timestamp)),
        })),
        '-day',
      ),
  },
  {
    name: 'entries by a text of their moment',
    sql: `select format_timestamp('%Y-%m-%d %H:00', timestamp) as hour, count(*) as n from storage_logs group by 1 order by 1`,
    rows: (w) =>
      sorted(
        grouped(w.storage_logs, ({ timestamp }) => [
          `${datetime(truncated(timestamp, 'hour')).slice(0, 16).replace('T', ' ')}`,
        ]).map(({ keys, items }) => ({ hour: keys[0], n: items.length })),
        'hour',
      ),
  },
  {
    name: 'the time from the first to the last entry',
    sql: `select timestamp_diff(max(timestamp), min(timestamp), second) as seconds, timestamp_diff(max(timestamp), min(timestamp), hour) as hours, date_diff(date(max(timestamp)), date(min(timestamp)), day) as days from pgbouncer_logs`,
    rows: (w) => {
      const times = w.pgbouncer_logs.map(({ timestamp }) => timestamp);
      const [first, last] = [Math.min(...times), Math.max(...times)];
      return {
        rows: [
          {
            seconds: Math.floor((last - first) / 1e6),
            hours: Math.floor((last - first) / 3600e6),
            days: (truncated(last, 'day') - truncated(first, 'day')) / 86_400e6,
          },
        ],
      };
    },
  },
];
