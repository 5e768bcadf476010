import { type Cell, OneOf, oneOf, quantile } from '../answer.ts';
import { among, within } from '../expected/conditions.ts';
import { auth, edge, functions, postgres } from '../expected/joins.ts';
import { moment, sorted, where } from '../expected/requests.ts';
import { grouped, mean, rounded, shown, sum, truncated } from '../form.ts';
import { at, from, integer, number, type Scope, text } from '../reading.ts';
import type { Request } from '../request.ts';
import type { Json } from '../shape.ts';

const EDGE = `edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

/** Requests for sums, means, quantiles and lists of what entries say. */
export const MEASURES: readonly Request[] = [
  {
    name: 'counts of distinct values, exact and not',
    sql: `select count(distinct request.path) as exact, approx_count_distinct(request.path) as about, count(distinct if(response.status_code >= 400, request.path, null)) as failing from ${EDGE}`,
    rows: (w) => {
      const paths = distinct(edge(w), 'request.path');
      return {
        rows: [
          {
            exact: paths,
            about: around(paths, 0.02),
            failing: distinct(where(edge(w), within('response.status_code', 400)), 'request.path'),
          },
        ],
      };
    },
  },
  {
    name: 'the most frequent values, roughly',
    sql: `select approx_top_count(response.status_code, 1) as top from ${EDGE}`,
    rows: (w) => {
      const counts = grouped(edge(w), (s) => [at(s, 'response.status_code')]).toSorted(
        (a, b) => b.items.length - a.items.length,
      );
      const tops = counts.filter(({ items }) => items.length === counts[0]?.items.length);
      const answers = tops.map(({ keys, items }) => [{ value: keys[0], count: items.length }]);
      return { rows: [{ top: oneOf(answers) }] };
    },
  },
  {
    name: 'quantiles of the time at the origin',
    sql: `
select
  request.method,
  count(response.origin_time) as n,
  min(response.origin_time) as least,
  max(response.origin_time) as most,
  avg(response.origin_time) as mean,
  approx_quantiles(response.origin_time, 100)[offset(50)] as p50,
  approx_quantiles(response.origin_time, 100)[safe_offset(90)] as p90,
  approx_quantiles(response.origin_time, 100)[ordinal(100)] as p99,
  array_length(approx_quantiles(response.origin_time, 4)) as bounds
from ${EDGE}
where safe_cast(response.origin_time as float64) is not null
group by method
order by method`,
    rows: (w) =>
      sorted(
        grouped(
          edge(w).filter((s) => number(at(s, 'response.origin_time')) !== null),
          (s) => [at(s, 'request.method')],
        ).map(({ keys, items }) => {
          const times = items.map((s) => number(at(s, 'response.origin_time')) as number);
          return {
            method: keys[0],
            n: times.length,
            least: Math.min(...times),
            most: Math.max(...times),
            mean: mean(times),
            p50: quantile(times, 0.5),
            p90: quantile(times, 0.9),
            p99: quantile(times, 0.99),
            bounds: 5,
          };
        }),
        'method',
      ),
  },
  {
    name: 'what is not a number has no part in a sum',
    sql: `select sum(safe_cast(metadata.status as int64)) as total, count(safe_cast(metadata.status as int64)) as n, avg(cast(metadata.status as float64)) as mean from auth_logs cross join unnest(metadata) as metadata`,
    rows: (w) => {
      const states = auth(w)
        .map((s) => integer(at(s, 'metadata.status')))
        .filter((n) => n !== null);
      return { rows: [{ total: sum(states), n: states.length, mean: mean(states) }] };
    },
  },
  {
    name: 'times that functions took, summed as numbers',
    sql: `
select m.function_id, round(sum(m.execution_time_ms), 3) as total, max(m.execution_time_ms) as longest
from function_edge_logs cross join unnest(metadata) as m
where m.function_id is not null
group by m.function_id
order by total desc`,
    rows: (w) =>
      sorted(
        grouped(
          from(w.function_edge_logs, { m: 't.metadata' }).filter(
            (s) => at(s, 'm.function_id') !== null,
          ),
          (s) => [at(s, 'm.function_id')],
        ).map(({ keys, items }) => {
          const times = items
            .map((s) => number(at(s, 'm.execution_time_ms')))
            .filter((n) => n !== null);
          return {
            function_id: keys[0],
            total: rounded(sum(times), 3),
            longest: Math.max(...times),
          };
        }),
        '-total',
      ),
  },
  {
    name: 'lists of what was seen',
    sql: `
select
  metadata.function_id as id,
  array_agg(distinct cast(metadata.level as string) order by cast(metadata.level as string)) as levels,
  string_agg(distinct metadata.region, ', ' order by metadata.region) as regions,
  array_agg(event_message order by timestamp desc limit 2) as newest,
  array_agg(struct(metadata.level as level, timestamp as at) order by timestamp limit 1) as first
from function_logs cross join unnest(metadata) as metadata
where metadata.function_id is not null and metadata.level is not null and metadata.region is not null
group by id
order by id`,
    rows: (w) =>
      sorted(
        grouped(
          functions(w).filter((s) =>
            ['function_id', 'level', 'region'].every((name) => at(s, `metadata.${name}`) !== null),
          ),
          (s) => [at(s, 'metadata.function_id')],
        ).map(({ keys, items }) => {
          const byTime = items.toSorted((a, b) => moment(a) - moment(b));
          const first = byTime[0] as Scope;
          return {
            id: keys[0],
            levels: unique(items, 'metadata.level'),
            regions: unique(items, 'metadata.region').join(', '),
            newest: byTime
              .slice(-2)
              .reverse()
              .map((s) => at(s, 't.event_message')),
            first: [{ level: at(first, 'metadata.level'), at: moment(first) }],
          };
        }),
        'id',
      ),
  },
  {
    name: 'any of several messages',
    sql: `select parsed.error_severity as severity, any_value(event_message) as example, logical_or(event_message like '%connection%') as connects, logical_and(event_message like '%e%') as e from postgres_logs cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed group by 1 order by 1`,
    rows: (w) =>
      sorted(
        grouped(postgres(w), (s) => [at(s, 'parsed.error_severity')]).map(({ keys, items }) => {
          const messages = items.map((s) => at(s, 't.event_message') as string);
          return {
            severity: keys[0],
            example: oneOf(messages),
            connects: messages.some((message) => message.includes('connection')),
            e: messages.every((message) => message.includes('e')),
          };
        }),
        'severity',
      ),
  },
  {
    name: 'whole records by their hour',
    sql: `select timestamp_trunc(timestamp, hour) as hour, array_agg(m order by timestamp limit 1) as first from pgbouncer_logs cross join unnest(metadata) as m group by hour order by hour`,
    rows: (w) =>
      sorted(
        grouped(from(w.pgbouncer_logs, { m: 't.metadata' }), (s) => [
          truncated(moment(s), 'hour'),
        ]).map(({ keys, items }) => ({
          hour: keys[0],
          first: oneOf(earliest(items).map((s) => shown([s.m ?? null]))),
        })),
        'hour',
      ),
  },
  {
    name: 'a count of nothing is 0',
    sql: "select countif(m.level = 'x') as a, count(m.nowhere) as b, count(distinct id) as c, countif(m.nowhere) as d from realtime_logs cross join unnest(metadata) as m where event_message = 'never said'",
    rows: () => ({ rows: [{ a: 0, b: 0, c: 0, d: 0 }] }),
  },
  {
    name: 'a count of a condition that never holds is 0',
    sql: "select countif(m.nowhere = 'x') as a, countif(null) as b from realtime_logs cross join unnest(metadata) as m",
    rows: () => ({ rows: [{ a: 0, b: 0 }] }),
  },
  {
    name: 'the least and the most of texts are texts',
    sql: "select min(metadata.version) as a, max(metadata.version) as b, min(metadata.function_id) as c, max(metadata.event_type) as d from function_logs cross join unnest(metadata) as metadata where metadata.version = '3' and length(metadata.event_type) > 2 and length(metadata.function_id) >= 2 and starts_with(metadata.function_id, 'a')",
    rows: (w) => {
      const there = functions(w).filter((s) =>
        /^3,..+,a.+$/.test(
          `${['version', 'event_type', 'function_id'].map((name) => at(s, `metadata.${name}`))}`,
        ),
      );
      const ids = unique(there, 'metadata.function_id');
      const types = unique(there, 'metadata.event_type');
      return { rows: [{ a: '3', b: '3', c: ids[0] ?? null, d: types.at(-1) ?? null }] };
    },
  },
  {
    name: 'lists without what is missing',
    sql: "select array_agg(distinct metadata.level ignore nulls order by metadata.level) as levels from function_logs cross join unnest(metadata) as metadata where metadata.event_type = 'Boot'",
    rows: (w) => ({
      rows: [
        {
          levels: unique(
            where(functions(w), among('metadata.event_type', 'Boot')).filter(
              (s) => at(s, 'metadata.level') !== null,
            ),
            'metadata.level',
          ),
        },
      ],
    }),
  },
  {
    name: 'nothing to sum up is one row of nothing',
    sql: "select count(*) as n, sum(length(event_message)) as s, max(timestamp) as t, avg(length(id)) as a from realtime_logs where event_message = 'never said'",
    rows: () => ({ rows: [{ n: 0, s: null, t: null, a: null }] }),
  },
];

function earliest(scopes: readonly Scope[]): Scope[] {
  const first = Math.min(...scopes.map(moment));
  return scopes.filter((s) => moment(s) === first);
}

function distinct(scopes: readonly Scope[], path: string): number {
  return new Set(scopes.map((s) => at(s, path)).filter((value) => value !== null)).size;
}

function unique(scopes: readonly Scope[], path: string): string[] {
  return [...new Set(scopes.map((s) => text(at(s, path)) as string))].toSorted();
}

/** A number that is right to some part of it. */
function around(count: number, part: number): Cell {
  return new OneOf(
    `about ${count}`,
    (value: Json) => typeof value === 'number' && Math.abs(value - count) <= count * part,
  );
}
