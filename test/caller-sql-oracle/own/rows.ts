import { PROJECT } from '../events.ts';
import { among } from '../expected/conditions.ts';
import { auth, postgres } from '../expected/joins.ts';
import { moment, newest, times, where } from '../expected/requests.ts';
import { datetime, grouped, microseconds, ordered, shown } from '../form.ts';
import { at, from, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';

/** Requests for rows by their moments and messages. */
export const ROWS: readonly Request[] = [
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
    name: 'more rows than an answer holds',
    sql: 'select e.id from edge_logs e cross join unnest(e.metadata) as m limit 100000',
    rows: (w) => ({
      rows: from(w.edge_logs, { m: 't.metadata' }).map((s) => ({ id: at(s, 't.id') })),
    }),
  },
  {
    name: 'between two moments, both included',
    sql: "select id, timestamp from storage_logs where timestamp between timestamp('2026-08-21 06:00:00') and '2026-08-21T11:15:00Z' order by timestamp",
    rows: (w) =>
      times(
        w.storage_logs.filter(
          ({ timestamp }) =>
            timestamp >= microseconds('2026-08-21T06:00:00Z') &&
            timestamp <= microseconds('2026-08-21T11:15:00Z'),
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
            timestamp >= microseconds('2026-08-21T00:00:00Z') &&
            timestamp < microseconds('2026-08-21T09:30:00Z') &&
            timestamp !== microseconds('2026-08-21T06:00:00Z'),
        ),
      ),
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
        f: Math.trunc((timestamp - microseconds('2026-08-21T00:00:00Z')) / 60e6),
      })),
      by: (row) => row.id,
      limit: 30,
    }),
  },
  {
    name: 'the parameter of the project in any letter case',
    sql: 'select count(*) as n, min(project) as p from edge_logs where project = @project and project = @PROJECT',
    rows: (w) => ({
      rows: [{ n: w.edge_logs.length, p: w.edge_logs.length > 0 ? PROJECT : null }],
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
];
