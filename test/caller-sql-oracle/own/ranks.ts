import type { Row } from '../dataset.ts';
import { functions } from '../expected/joins.ts';
import { moment } from '../expected/requests.ts';
import { grouped, ordered, sum } from '../form.ts';
import { at, from, type Scope } from '../reading.ts';
import type { Request } from '../request.ts';

/** Requests with window functions. */
export const RANKS: readonly Request[] = [
  {
    name: 'the newest of each',
    sql: `
select metadata.function_id, t.timestamp, event_message
from function_logs t cross join unnest(metadata) as metadata
where true
qualify row_number() over (partition by metadata.function_id order by t.timestamp desc) = 1
order by function_id`,
    rows: (w) => ({
      rows: ordered(
        grouped(functions(w), (s) => [at(s, 'metadata.function_id')]).map(({ keys, items }) => {
          const newest = items.toSorted((a, b) => moment(b) - moment(a))[0] as Scope;
          return {
            function_id: keys[0],
            timestamp: moment(newest),
            event_message: at(newest, 't.event_message'),
          };
        }),
        'function_id',
      ),
      by: (row) => row.function_id,
    }),
  },
  {
    name: 'differences from row to row and running sums',
    sql: `
select
  timestamp,
  row_number() over (order by timestamp) as place,
  timestamp_diff(timestamp, lag(timestamp) over (order by timestamp), millisecond) as gap,
  sum(length(event_message)) over (order by timestamp) as letters,
  first_value(id) over (order by timestamp) as first,
  lead(id, 2) over (order by timestamp) as later
from pgbouncer_logs
order by timestamp`,
    rows: (w) => {
      const rows = w.pgbouncer_logs.toSorted((a, b) => a.timestamp - b.timestamp);
      return {
        rows: rows.map(({ timestamp }, i) => ({
          timestamp,
          place: i + 1,
          gap: i === 0 ? null : Math.floor((timestamp - (rows[i - 1] as Row).timestamp) / 1000),
          letters: sum(rows.slice(0, i + 1).map(({ event_message }) => [...event_message].length)),
          first: rows[0]?.id ?? null,
          later: rows[i + 2]?.id ?? null,
        })),
        by: (row) => row.timestamp,
      };
    },
  },
  {
    name: 'counts beside the rows',
    sql: 'select id, count(*) over () as total, count(*) over (partition by event_message) as same from pgbouncer_logs',
    rows: (w) => ({
      rows: w.pgbouncer_logs.map(({ id, event_message }, _, rows) => ({
        id,
        total: rows.length,
        same: rows.filter((row) => row.event_message === event_message).length,
      })),
    }),
  },
  {
    name: 'ranks of groups, and the share of each',
    sql: `
select level, n, rank() over (order by n desc) as place, round(n / sum(n) over (), 4) as share
from (select m.level, count(*) as n from realtime_logs cross join unnest(metadata) as m group by m.level)
order by place, level`,
    rows: (w) => {
      const groups = grouped(from(w.realtime_logs, { m: 't.metadata' }), (s) => [at(s, 'm.level')]);
      const total = sum(groups.map(({ items }) => items.length));
      return {
        rows: ordered(
          groups.map(({ keys, items }) => ({
            level: keys[0],
            n: items.length,
            place: 1 + groups.filter((other) => other.items.length > items.length).length,
            share: Math.round((items.length / total) * 1e4) / 1e4,
          })),
          'place',
          'level',
        ),
        by: (row) => [row.place, row.level],
      };
    },
  },
];
