import type { Dataset, Row } from '../dataset.ts';
import { ONE_ID } from '../events.ts';
import { edge } from '../expected/joins.ts';
import { moment, newest, picked } from '../expected/requests.ts';
import { ordered, shown, shownRow } from '../form.ts';
import { at, from, number } from '../reading.ts';
import type { Request } from '../request.ts';

/** Requests for records of metadata: those that are missing, that are several, and whole ones. */
export const RECORDS: readonly Request[] = [
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
    name: 'members of members by dots',
    sql: "select id, metadata.parsed.command_tag as tag, metadata.host as host from postgres_logs where metadata.parsed.user_name = 'supabase_admin' order by timestamp desc limit 50",
    rows: (w) => ({
      rows: newest(w.postgres_logs)
        .map((row) => ({ row, m: first(row.metadata) }))
        .map(({ row, m }) => ({ row, m, parsed: first(at(m, 'parsed')) }))
        .filter(({ parsed }) => at(parsed, 'user_name') === 'supabase_admin')
        .map(({ row, m, parsed }) => ({
          id: row.id,
          tag: at(parsed, 'command_tag'),
          host: at(m, 'host'),
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
];

function first(value: Dataset[keyof Dataset][number]['metadata']) {
  return Array.isArray(value) ? (value[0] ?? null) : value;
}
