import type { Answer } from '../answer.ts';
import { ONE_ID, PROJECT } from '../events.ts';
import { among, matches, within } from '../expected/conditions.ts';
import { auth, edge, edgeWithAnswer, functions, postgres } from '../expected/joins.ts';
import { moment, picked, where } from '../expected/requests.ts';
import { unified } from '../expected/unified.ts';
import { datetime, grouped, mean, ordered, shown, shownRow, sum, truncated } from '../form.ts';
import { at, from, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';
import type { Row, World } from '../world.ts';

/** Requests whose FROM clause, conditions or columns have a form of their own: joins, subqueries, windows, records. */
export const SHAPES: readonly Request[] = [
  {
    name: 'all columns of a view',
    sql: 'select t.id, t.timestamp, t.event_message, t.metadata, t.project from pgbouncer_logs as t order by t.timestamp limit 10',
    rows: (w) => ({
      rows: w.pgbouncer_logs
        .toSorted((a, b) => a.timestamp - b.timestamp)
        .map(({ id, timestamp, event_message, metadata, project }) => ({
          id,
          timestamp,
          event_message,
          metadata: shown(metadata),
          project,
        })),
      by: (row) => row.timestamp,
      limit: 10,
    }),
  },
  {
    name: 'back-quoted names of columns, views and aliases',
    sql: 'select `t`.`id`, `t`.`timestamp` as `when it was`, `m`.`host` from `postgrest_logs` as `t` cross join unnest(`t`.`metadata`) as `m` order by `when it was`',
    rows: (w) => ({
      rows: from(w.postgrest_logs, { m: 't.metadata' })
        .toSorted((a, b) => moment(a) - moment(b))
        .map((s) => ({ id: at(s, 't.id'), 'when it was': moment(s), host: at(s, 'm.host') })),
      by: (row) => row['when it was'],
    }),
  },
  {
    name: 'a page further down',
    sql: 'select id from realtime_logs order by timestamp desc limit 7 offset 5',
    rows: (w) => ({
      rows: newest(w.realtime_logs)
        .slice(5)
        .map(({ id }) => ({ id })),
      by: (row) => row.id,
      limit: 7,
    }),
  },
  {
    name: 'between two moments, both included',
    sql: "select id, timestamp from storage_logs where timestamp between timestamp('2026-08-21 06:00:00') and '2026-08-21T11:15:00Z' order by timestamp",
    rows: (w) =>
      times(
        w.storage_logs.filter(
          ({ timestamp }) =>
            timestamp >= us('2026-08-21T06:00:00Z') && timestamp <= us('2026-08-21T11:15:00Z'),
        ),
      ),
  },
  {
    name: 'moments compared with texts of several forms',
    sql: "select id, timestamp from auth_logs where timestamp >= '2026-08-21' and timestamp < '2026-08-21 09:30:00' and timestamp != timestamp '2026-08-21 08:00:00+02' and date(timestamp) = '2026-08-21' order by timestamp",
    rows: (w) =>
      times(
        w.auth_logs.filter(
          ({ timestamp }) =>
            timestamp >= us('2026-08-21T00:00:00Z') &&
            timestamp < us('2026-08-21T09:30:00Z') &&
            timestamp !== us('2026-08-21T06:00:00Z'),
        ),
      ),
  },
  {
    name: 'the parameter of the project in any letter case',
    sql: 'select count(*) as n, min(project) as p from edge_logs where project = @project and project = @PROJECT',
    rows: (w) => ({
      rows: [{ n: w.edge_logs.length, p: w.edge_logs.length > 0 ? PROJECT : null }],
    }),
  },
  {
    name: 'a field whose record is missing is nothing',
    sql: 'select t.id, m.request.method.deeper as a, m.nowhere as b, m.nowhere.at_all as c from edge_logs as t cross join unnest(t.metadata) as m where m.nowhere.at_all is null order by t.timestamp limit 3',
    rows: (w) => ({
      rows: from(w.edge_logs, { m: 't.metadata' })
        .toSorted((a, b) => moment(a) - moment(b))
        .map((s) => ({ id: at(s, 't.id'), a: null, b: null, c: null })),
      by: (row) => row.id,
      limit: 3,
    }),
  },
  {
    name: 'records by their places',
    sql: "select id, metadata[0].parsed[0].command_tag as tag, metadata[safe_offset(0)].host as host, metadata[offset(0)].parsed[offset(0)].user_name as who from postgres_logs where metadata[0].parsed[0].command_tag in ('SELECT', 'INSERT') order by timestamp desc limit 50",
    rows: (w) => ({
      rows: newest(w.postgres_logs)
        .map((row) => ({ row, m: first(row.metadata) }))
        .filter(({ m }) =>
          ['SELECT', 'INSERT'].includes(`${at(first(at(m, 'parsed')), 'command_tag')}`),
        )
        .map(({ row, m }) => ({
          id: row.id,
          tag: at(first(at(m, 'parsed')), 'command_tag'),
          host: at(m, 'host'),
          who: at(first(at(m, 'parsed')), 'user_name'),
        })),
      by: (row) => row.id,
      limit: 50,
    }),
  },
  {
    name: 'records that are missing keep their entries in a left join',
    sql: `
select t.id, r.method, h.x_sb_edge_region as region, m is null as bare
from function_edge_logs t
left join unnest(t.metadata) as m
left join unnest(m.request) as r on true
left join unnest(m.response) as s
left join unnest(s.headers) as h
order by t.timestamp desc, region
limit 200`,
    rows: (w) => ({
      rows: ordered(
        from(
          w.function_edge_logs,
          {},
          { m: 't.metadata', r: 'm.request', s: 'm.response', h: 's.headers' },
        ).map((s) => ({
          id: at(s, 't.id'),
          method: at(s, 'r.method'),
          region: at(s, 'h.x_sb_edge_region'),
          bare: s.m === null,
          timestamp: moment(s),
        })),
        '-timestamp',
        'region',
      ).map(({ timestamp, ...row }) => row),
      by: (row) => [row.id, row.region],
      limit: 200,
    }),
  },
  {
    name: 'records joined by commas',
    sql: 'select t.id, c.host, c.pid from storage_logs as t, unnest(t.metadata) as m, unnest(m.context) as c where c.pid = 1 order by t.timestamp',
    rows: (w) => ({
      rows: from(w.storage_logs, { m: 't.metadata', c: 'm.context' })
        .filter((s) => number(at(s, 'c.pid')) === 1)
        .toSorted((a, b) => moment(a) - moment(b))
        .map((s) => picked(s, ['t.id', 'c.host', 'c.pid'])),
      by: (row) => row.id,
    }),
  },
  {
    name: 'records as values',
    sql: 'select t.timestamp, request, request.headers as headers, response.headers as answer from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response order by timestamp desc limit 40',
    rows: (w) => ({
      rows: ordered(
        edge(w).map((s) => ({
          timestamp: moment(s),
          request: shown(s.request ?? null),
          headers: shown(at(s, 'request.headers')),
          answer: shown(at(s, 'response.headers')),
        })),
        '-timestamp',
      ),
      by: (row) => row.timestamp,
      limit: 40,
    }),
  },
  {
    name: 'whole rows and what is in them',
    sql: "select r as raw, r.id from realtime_logs as r where regexp_contains(r.event_message, 'restarting') order by r.timestamp limit 5",
    rows: (w) => ({
      rows: w.realtime_logs
        .filter(({ event_message }) => /restarting/.test(event_message))
        .toSorted((a, b) => a.timestamp - b.timestamp)
        .map((row) => ({ raw: shownRow(row), id: row.id })),
      by: (row) => row.id,
      limit: 5,
    }),
  },
  {
    name: 'a record made of fields',
    sql: 'select t.id, struct(request.method as verb, response.status_code as status, struct(t.timestamp as at) as moment) as request from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response order by t.timestamp limit 6',
    rows: (w) => ({
      rows: edge(w)
        .toSorted((a, b) => moment(a) - moment(b))
        .map((s) => ({
          id: at(s, 't.id'),
          request: [
            {
              verb: at(s, 'request.method'),
              status: at(s, 'response.status_code'),
              moment: [{ at: moment(s) }],
            },
          ],
        })),
      by: (row) => row.id,
      limit: 6,
    }),
  },
  {
    name: 'a subquery in FROM',
    sql: `select hour, avg(n) as mean, max(n) as most from (select timestamp_trunc(timestamp, hour) as hour, timestamp_trunc(timestamp, minute) as minute, count(*) as n from auth_logs group by hour, minute) group by hour order by hour`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          grouped(w.auth_logs, ({ timestamp }) => [truncated(timestamp, 'minute')]),
          ({ keys }) => [truncated(keys[0], 'hour')],
        ).map(({ keys, items }) => ({
          hour: keys[0],
          mean: mean(items.map(({ items: rows }) => rows.length)),
          most: Math.max(...items.map(({ items: rows }) => rows.length)),
        })),
        'hour',
      ),
      by: (row) => row.hour,
    }),
  },
  {
    name: 'entries named by another query',
    sql: `
select f.id, m.request_id
from function_logs as f cross join unnest(f.metadata) as m
where m.request_id in (
  select e.request_id from function_edge_logs cross join unnest(metadata) as e cross join unnest(e.response) as r where r.status_code >= 500
)
order by f.timestamp desc limit 100`,
    rows: (w) => {
      const failed = new Set(
        where(
          from(w.function_edge_logs, { m: 't.metadata', r: 'm.response' }),
          within('r.status_code', 500),
        ).map((s) => at(s, 'm.request_id')),
      );
      failed.delete(null);
      return {
        rows: functions(w)
          .filter((s) => failed.has(at(s, 'metadata.request_id')))
          .toSorted((a, b) => moment(b) - moment(a))
          .map((s) => picked(s, ['t.id', 'metadata.request_id'])),
        by: (row) => row.id,
        limit: 100,
      };
    },
  },
  {
    name: 'entries for which others exist, or none does',
    sql: `
select
  countif(exists(select 1 from unnest(t.metadata) as m where m.host = 'default')) as hosts,
  countif(not exists(select 1 from unnest(t.metadata) as m)) as bare,
  (select count(*) from pgbouncer_logs) as others
from postgrest_logs as t`,
    rows: (w) => ({
      rows: [
        {
          hosts: new Set(
            from(w.postgrest_logs, { m: 't.metadata' })
              .filter((s) => text(at(s, 'm.host')) === 'default')
              .map((s) => at(s, 't.id')),
          ).size,
          bare:
            w.postgrest_logs.length -
            new Set(from(w.postgrest_logs, { m: 't.metadata' }).map((s) => at(s, 't.id'))).size,
          others: w.pgbouncer_logs.length,
        },
      ],
    }),
  },
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
  lead(id, 2) over (order by timestamp) as later,
  count(*) over () as total
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
          total: rows.length,
        })),
        by: (row) => row.timestamp,
      };
    },
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
  {
    name: 'percentiles over a window',
    sql: 'select distinct percentile_cont(cast(m.execution_time_ms as float64), 0.5) over () as median from function_edge_logs cross join unnest(metadata) as m where m.execution_time_ms is not null',
    rows: (w) => {
      const times = from(w.function_edge_logs, { m: 't.metadata' })
        .map((s) => number(at(s, 'm.execution_time_ms')))
        .filter((n) => n !== null)
        .toSorted((a, b) => a - b);
      const middle = (times.length - 1) / 2;
      const median = mean([
        times[Math.floor(middle)] as number,
        times[Math.ceil(middle)] as number,
      ]);
      return { rows: [{ median }] };
    },
  },
  {
    name: 'common table expressions, one by one and joined',
    sql: `
with calls as (
  select timestamp_trunc(timestamp, hour) as hour, count(*) as calls from function_edge_logs group by hour
),
errors as (
  select timestamp_trunc(f.timestamp, hour) as hour, count(*) as errors
  from function_logs f cross join unnest(f.metadata) as m
  where m.level = 'error'
  group by 1
)
select c.hour, c.calls, ifnull(e.errors, 0) as errors
from calls as c
left join errors as e on c.hour = e.hour
order by c.hour desc`,
    rows: (w) => {
      const errors = new Map(
        grouped(where(functions(w), among('metadata.level', 'error')), (s) => [
          truncated(moment(s), 'hour'),
        ]).map(({ keys, items }) => [keys[0], items.length]),
      );
      return {
        rows: ordered(
          grouped(w.function_edge_logs, ({ timestamp }) => [truncated(timestamp, 'hour')]).map(
            ({ keys, items }) => ({
              hour: keys[0],
              calls: items.length,
              errors: errors.get(keys[0]) ?? 0,
            }),
          ),
          '-hour',
        ),
        by: (row) => row.hour,
      };
    },
  },
  {
    name: 'entries of two views side by side',
    sql: `
select 'auth' as source, count(*) as n, max(timestamp) as newest from auth_logs
union all
select 'realtime', count(*), max(timestamp) from realtime_logs
union all
select 'none', 0, null
order by source desc`,
    rows: (w) => ({
      rows: [
        {
          source: 'realtime',
          n: w.realtime_logs.length,
          newest: newest(w.realtime_logs)[0]?.timestamp ?? null,
        },
        { source: 'none', n: 0, newest: null },
        {
          source: 'auth',
          n: w.auth_logs.length,
          newest: newest(w.auth_logs)[0]?.timestamp ?? null,
        },
      ],
      by: (row) => row.source,
    }),
  },
  {
    name: 'requests at the edge and what the auth service says of them',
    sql: `
select e.id as edge_id, a.id as auth_id, h.cf_ray
from edge_logs as e
cross join unnest(e.metadata) as m
cross join unnest(m.request) as request
cross join unnest(m.response) as response
cross join unnest(response.headers) as h
inner join (
  select id, am.request_id from auth_logs cross join unnest(metadata) as am where am.request_id is not null
) as a on a.request_id = h.cf_ray
where request.path like '/auth/%' and response.status_code >= 400
order by edge_id, auth_id`,
    rows: (w) => {
      const told = from(w.auth_logs, { am: 't.metadata' });
      return {
        rows: ordered(
          where(edgeWithAnswer(w), within('response.status_code', 400))
            .filter((s) => matches('request.path', /^\/auth\//)(s))
            .flatMap((s) =>
              told
                .filter((a) => at(a, 'am.request_id') !== null)
                .filter((a) => at(a, 'am.request_id') === at(s, 'h.cf_ray'))
                .map((a) => ({
                  edge_id: at(s, 't.id'),
                  auth_id: at(a, 't.id'),
                  cf_ray: at(s, 'h.cf_ray'),
                })),
            ),
          'edge_id',
          'auth_id',
        ),
        by: (row) => [row.edge_id, row.auth_id],
      };
    },
  },
  {
    name: 'hours without entries, too',
    sql: `
select hour, count(p.id) as n
from unnest(generate_timestamp_array('2026-08-21T00:00:00Z', '2026-08-21T11:00:00Z', interval 1 hour)) as hour
left join postgrest_logs as p on p.timestamp >= hour and p.timestamp < timestamp_add(hour, interval 1 hour)
group by hour
order by hour`,
    rows: (w) => ({
      rows: Array.from({ length: 12 }, (_, i) => us('2026-08-21T00:00:00Z') + i * 3600e6).map(
        (hour) => ({
          hour,
          n: w.postgrest_logs.filter(({ timestamp }) => truncated(timestamp, 'hour') === hour)
            .length,
        }),
      ),
      by: (row) => row.hour,
    }),
  },
  {
    name: 'words of messages',
    sql: "select word, count(*) as n from realtime_logs, unnest(split(lower(event_message), ' ')) as word where length(word) > 3 group by word order by n desc, word limit 10",
    rows: (w) => ({
      rows: ordered(
        grouped(
          w.realtime_logs
            .flatMap(({ event_message }) => event_message.toLowerCase().split(' '))
            .filter((word) => [...word].length > 3),
          (word) => [word],
        ).map(({ keys, items }) => ({ word: keys[0], n: items.length })),
        '-n',
        'word',
      ),
      by: (row) => [row.n, row.word],
      limit: 10,
    }),
  },
  {
    name: 'a search in message, metadata and id',
    sql: "select id, timestamp from auth_logs where lower(event_message) like lower('%Invalid_GRANT%') or to_json_string(metadata) like '%u-3%' or id like 'ab%' order by timestamp desc limit 1000",
    rows: (w) =>
      times(
        w.auth_logs.filter(
          ({ id, event_message, metadata }) =>
            /invalid.grant/i.test(event_message) ||
            JSON.stringify(metadata).includes('u-3') ||
            id.startsWith('ab'),
        ),
        '-timestamp',
      ),
  },
  {
    name: 'words of several languages and signs',
    sql: "select id, timestamp, length(event_message) as letters from function_logs where event_message like '%€ 😀%' or regexp_contains(event_message, '日本') or event_message like '%\\\\\\\\d+ 100\\\\%%' order by timestamp",
    rows: (w) => ({
      rows: ordered(
        w.function_logs
          .filter(({ event_message }) => /€ 😀|日本|\\d\+ 100%/u.test(event_message))
          .map(({ id, timestamp, event_message }) => ({
            id,
            timestamp,
            letters: [...event_message].length,
          })),
        'timestamp',
      ),
      by: (row) => row.timestamp,
    }),
  },
  {
    name: 'several patterns, and lists of values',
    sql: "select count(*) as n, countif(parsed.error_severity not in ('LOG', 'NOTICE')) as loud, countif(parsed.error_severity in unnest(['ERROR', 'PANIC'])) as bad, countif(parsed.sql_state_code is null) as unknown, countif(parsed.detail = '') as empty from postgres_logs cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed where not regexp_contains(event_message, r'^checkpoint|cron')",
    rows: (w) => {
      const shown = postgres(w).filter(
        (s) => !/^checkpoint|cron/.test(`${at(s, 't.event_message')}`),
      );
      const severity = (s: Scope) => text(at(s, 'parsed.error_severity'));
      return {
        rows: [
          {
            n: shown.length,
            loud: shown.filter(
              (s) => severity(s) !== null && !['LOG', 'NOTICE'].includes(`${severity(s)}`),
            ).length,
            bad: where(shown, among('parsed.error_severity', 'ERROR', 'PANIC')).length,
            unknown: shown.filter((s) => at(s, 'parsed.sql_state_code') === null).length,
            empty: 0,
          },
        ],
      };
    },
  },
  {
    name: 'a number as text and a text as number',
    sql: "select countif(metadata.status = '400') as a, countif(metadata.status = 400) as b, countif(metadata.status > '3') as c, countif(cast(metadata.status as string) like '4%') as d, countif(metadata.status in (422, 500)) as e from auth_logs cross join unnest(metadata) as metadata",
    rows: (w) => {
      const states = auth(w).map((s) => at(s, 'metadata.status'));
      return {
        rows: [
          {
            a: states.filter((status) => text(status) === '400').length,
            b: states.filter((status) => number(status) === 400).length,
            c: states.filter((status) => (text(status) ?? '') > '3').length,
            d: states.filter((status) => text(status)?.startsWith('4')).length,
            e: states.filter((status) => [422, 500].includes(number(status) ?? 0)).length,
          },
        ],
      };
    },
  },
  {
    name: 'dates and times of entries',
    sql: "select id, datetime(timestamp) as a, date(timestamp) as b, datetime(timestamp, 'Europe/Berlin') as c, unix_seconds(timestamp) as d, format_timestamp('%T', timestamp) as e, timestamp_diff(timestamp, timestamp '2026-08-21', minute) as f from pgbouncer_logs order by timestamp desc limit 30",
    rows: (w) => ({
      rows: newest(w.pgbouncer_logs).map(({ id, timestamp }) => ({
        id,
        a: datetime(timestamp),
        b: datetime(timestamp).slice(0, 10),
        c: datetime(timestamp + 2 * 3600e6),
        d: Math.floor(timestamp / 1e6),
        e: datetime(timestamp).slice(11, 19),
        f: Math.trunc((timestamp - us('2026-08-21T00:00:00Z')) / 60e6),
      })),
      by: (row) => row.id,
      limit: 30,
    }),
  },
  {
    name: 'the unified page, one part of it',
    sql: `
with logs as (
  select id, el.timestamp as timestamp, cast(res.status_code as string) as status, req.path as pathname, null as event_message, req.method as method
  from edge_logs as el cross join unnest(metadata) as md cross join unnest(md.request) as req cross join unnest(md.response) as res
  where req.path not like '%/rest/%' and req.path not like '%/storage/%'
  union all
  select id, pl.timestamp, cast(p.sql_state_code as string), null, event_message, null
  from postgres_logs as pl cross join unnest(pl.metadata) as md cross join unnest(md.parsed) as p
)
select id, timestamp, status, pathname, event_message, method from logs
where timestamp > '2026-08-21T06:00:00.000Z' and (status is null or status not in ('00000', '200'))
order by timestamp desc, id
limit 50`,
    rows: (w) => ({
      rows: ordered(
        unified(w)
          .filter(({ log_type }) => log_type === 'edge' || log_type === 'postgres')
          .filter(({ timestamp }) => (timestamp as number) > us('2026-08-21T06:00:00Z'))
          .filter(({ status }) => status !== '00000' && status !== '200')
          .map(({ id, timestamp, status, pathname, event_message, method }) => ({
            id: id as string,
            timestamp: timestamp as number,
            status: status as string,
            pathname: pathname as string,
            event_message: event_message as string,
            method: method as string,
          })),
        '-timestamp',
        'id',
      ),
      by: (row) => [row.timestamp, row.id],
      limit: 50,
    }),
  },
  {
    name: 'how many of each kind the unified page has, by its level',
    sql: `
with logs as (
  select 'edge' as log_type, case when res.status_code between 200 and 299 then 'success' when res.status_code between 400 and 499 then 'warning' when res.status_code >= 500 then 'error' else 'success' end as level
  from edge_logs cross join unnest(metadata) as md cross join unnest(md.request) as req cross join unnest(md.response) as res
  where req.path not like '%/rest/%' and req.path not like '%/storage/%'
  union all
  select 'postgres', case p.error_severity when 'LOG' then 'success' when 'WARNING' then 'warning' when 'FATAL' then 'error' when 'ERROR' then 'error' end
  from postgres_logs cross join unnest(metadata) as md cross join unnest(md.parsed) as p
)
select log_type, level, count(*) as count from logs group by log_type, level order by log_type, level`,
    rows: (w) => ({
      rows: ordered(
        grouped(
          unified(w).filter(({ log_type }) => log_type === 'edge' || log_type === 'postgres'),
          ({ log_type, level }) => [log_type as string, level as string | null],
        ).map(({ keys, items }) => ({ log_type: keys[0], level: keys[1], count: items.length })),
        'log_type',
        'level',
      ),
      by: (row) => [row.log_type, row.level],
    }),
  },
  {
    name: 'the flow of one request',
    sql: `
select el.id, res.status_code as status, sb.auth_user, key.prefix, sb is null as keyless, el as raw
from edge_logs as el
cross join unnest(el.metadata) as md
cross join unnest(md.request) as req
cross join unnest(md.response) as res
left join unnest(req.sb) as sb
left join unnest(coalesce(sb.apikey, [])) as outer_key
left join unnest(coalesce(outer_key.apikey, [])) as key
where el.id = '${ONE_ID}'`,
    rows: (w) => ({
      rows: from(
        w.edge_logs.filter(({ id }) => id === ONE_ID),
        { md: 't.metadata', req: 'md.request', res: 'md.response' },
        { sb: 'req.sb', outer: 'sb.apikey', key: 'outer.apikey' },
      ).map((s) => ({
        ...picked(s, ['t.id', 'res.status_code as status', 'sb.auth_user', 'key.prefix']),
        keyless: s.sb === null,
        raw: shownRow(s.t as unknown as Row),
      })),
    }),
  },
  {
    name: 'more rows than an answer holds',
    sql: 'select e.id from edge_logs e cross join unnest(e.metadata) as m limit 100000',
    rows: (w) => ({
      rows: from(w.edge_logs, { m: 't.metadata' }).map((s) => ({ id: at(s, 't.id') })),
    }),
  },
];

function us(text: string): number {
  return Date.parse(text) * 1000;
}

function newest(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => b.timestamp - a.timestamp);
}

/** Ids and moments of rows, in the order of their moments. */
function times(rows: readonly Row[], order: 'timestamp' | '-timestamp' = 'timestamp'): Answer {
  const lines = rows.map(({ id, timestamp }) => ({ id, timestamp }));
  return { rows: ordered(lines, order), by: (row) => row.timestamp };
}

function first(value: World[keyof World][number]['metadata']) {
  return Array.isArray(value) ? (value[0] ?? null) : value;
}
