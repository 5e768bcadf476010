/** Shapes that clients send beside the random ones. */
export const STATEMENTS_OF_CLIENTS = [
  // Lists and charts of Studio's log pages.
  `-- a comment first ['edge_logs']
   SELECT id, timestamp, event_message, log_attributes['request.method'] AS method, log_attributes['response.status_code'] AS status_code
   FROM logs WHERE source = 'edge_logs' AND (event_message ILIKE '%rest%')
     AND (toInt32OrZero(log_attributes['response.status_code']) BETWEEN 500 AND 599 OR toInt32OrZero(log_attributes['response.status_code']) BETWEEN 400 AND 499)
   ORDER BY timestamp DESC LIMIT 100;`,
  `SELECT toStartOfHour(timestamp) AS timestamp,
     countIf(NOT ((log_attributes['parsed.error_severity'] IN ('ERROR', 'FATAL', 'PANIC')) OR (0))) AS ok_count,
     countIf(log_attributes['parsed.error_severity'] IN ('ERROR', 'FATAL', 'PANIC')) AS error_count, countIf(0) AS warning_count
   FROM logs WHERE source = 'postgres_logs' GROUP BY timestamp ORDER BY timestamp ASC`,
  'SELECT COUNT(*) as count FROM logs',
  "SELECT count() AS count FROM logs WHERE source = 'auth_logs'",
  // Unified logs: rows, facets and the chart.
  `SELECT id, null AS source_id, timestamp,
     CASE WHEN source = 'edge_logs' THEN 'edge' WHEN source = 'auth_logs' THEN 'auth' ELSE source END AS log_type,
     CASE WHEN source = 'postgres_logs' THEN toString(log_attributes['parsed.sql_state_code'])
       ELSE toString((if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code']))) END AS status,
     CASE WHEN (if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code'])) != ''
       AND toInt32OrZero((if(source = 'auth_logs', log_attributes['status'], log_attributes['response.status_code']))) >= 500 THEN 'error'
       WHEN severity_text IN ('ERROR', 'FATAL') THEN 'error' WHEN severity_text IN ('WARN', 'WARNING') THEN 'warning' ELSE 'success' END AS level
   FROM logs WHERE ((source = 'edge_logs') OR (source = 'postgres_logs')) ORDER BY timestamp DESC, id DESC LIMIT 50`,
  `SELECT arrayJoin(['log_type', 'method']) AS facet,
     multiIf(facet = 'log_type', source, facet = 'method', log_attributes['request.method'], '') AS value, count() AS count
   FROM logs WHERE 1 GROUP BY facet, value HAVING value != ''
   UNION ALL (SELECT 'pathname' AS facet, (log_attributes['request.path']) AS value, count() AS count FROM logs
     WHERE (log_attributes['request.path']) IS NOT NULL AND (log_attributes['request.path']) != '' GROUP BY value ORDER BY count DESC, value LIMIT 20)`,
  // Reports, of which some name the table, as an alias stands for the column.
  `select toUnixTimestamp(toStartOfHour(logs.timestamp)) * 1000000 as timestamp, count() as count, toFloat64(count()) as f
   from logs where source = 'function_edge_logs' group by timestamp order by timestamp asc`,
  `select log_attributes['request.path'] as path, toInt32OrZero(log_attributes['response.status_code']) as status_code, count() as count,
     avg(toFloat64OrZero(log_attributes['response.origin_time'])) as avg
   from logs where source = 'edge_logs' group by path, status_code order by count desc, path, status_code limit 10`,
  `select round(quantile(0.95)(toFloat64OrZero(log_attributes['execution_time_ms'])), 3) as p95, max(toFloat64OrZero(log_attributes['execution_time_ms'])) as most
   from logs where source = 'function_edge_logs'`,
  `select round(avg(toInt64OrZero(JSONExtractString(event_message, 'duration'))) / 1000000, 2) as ms,
     round(quantile(0.5)(JSONExtract(event_message, 'duration', 'Nullable(Int64)')), 2) as half from logs where source = 'auth_logs'`,
  // What people write by hand.
  'select source, severity_text, count(*) as n from logs group by source, severity_text order by 1, 2',
  "select log_attributes['path'], log_attributes['status'], count(*) from logs where source = 'auth_logs' group by 1, 2 order by 1, 2",
  "select distinct arrayJoin(mapKeys(log_attributes)) as key from logs where source = 'app_logs' order by key",
  "select toStartOfMinute(timestamp) m, count() n, quantileExact(0.5)(toFloat64OrZero(log_attributes['response.origin_time'])) p50 from logs where source = 'edge_logs' group by m order by m",
  `select JSONExtractString(event_message, 'event') as event, JSONExtractInt(event_message, 'at', 'line') as where, JSONExtractBool(event_message, 'cold') as from, count() as n
   from logs where source = 'function_logs' and startsWith(event_message, '{') group by event, where, from order by event, where, from`,
  "select splitByChar('?', log_attributes['request.path'])[1] as endpoint, count() as n from logs where source = 'edge_logs' group by endpoint order by n desc, endpoint limit 4",
  `select extract(event_message, 'duration: ([0-9.]+) ms') as d, count() as n from logs where event_message like 'duration:%' group by d order by d`,
  `select arrayJoin(extractAll(log_attributes['parsed.detail'], '"public"\\\\."([a-z_]+)"')) as fn, count() from logs group by fn order by fn`,
  "select uniqExact(log_attributes['request.headers.cf_connecting_ip']) as ips, uniq(source) as sources from logs",
  'select length(groupUniqArrayArray(mapKeys(log_attributes))) as keys from logs',
  "select source, countIf(match(concat(event_message, ' ', arrayStringConcat(mapValues(log_attributes), ' ')), 'curl')) as n from logs group by source order by source",
  'select toString(timestamp) as t, cast(timestamp as datetime) as s, toUnixTimestamp64Micro(timestamp) as us, toDate(timestamp) as day from logs order by id limit 5',
  "select formatDateTime(timestamp, '%F %T') as a, dateDiff('hour', timestamp, toDateTime('2026-11-21 00:00:00')) as b, timestamp - INTERVAL 90 SECOND as c from logs order by id limit 5",
  "select domain('https://www.example.org:8080/a?b') as d, path('https://h/a/b?x#y') as p, formatReadableSize(123456789) as s, intDiv(-7, 2) as i, round(2.5) as r",
  "select '\\\\d' as a, '\\d' as b, 'it''s' as c, 'a\\'b' as e, '\\x41' as f, 1 = 1 as g, 7 / 2 as k, 7 % 3 as l",
  "select multiIf(1 = 2, 'a', 2 = 2, 'b', 'c') as m, coalesce(nullIf('', ''), 'none') as n, ifNull(null, 1) as o, [1, 2, 3][-1] as p, has(['a'], 'a') as q, empty('') as r",
  "select toInt32OrZero('+42') a, toInt32OrZero(' 42') b, toInt32OrZero('10.5') c, toUInt32OrZero('-5') d, toInt8OrZero('200') e, toFloat64OrZero('1e3') f, toFloat64OrZero('.5') g, toFloat64OrNull('x') h",
  "select sum(toInt32OrZero(id)) s, count() n, max(id) m, min(length(id)) l, groupArray(id) g, sumIf(1, id = 'x') i from logs where 0",
  "with 400 as least_bad select countIf(toInt32OrZero(log_attributes['response.status_code']) >= least_bad) as bad from logs",
  `with clients as (select log_attributes['request.headers.cf_connecting_ip'] as ip, count() as n from logs where source = 'edge_logs' group by ip),
     whole as (select sum(n) as all_of_them from clients)
   select clients.ip as ip, clients.n as n, whole.all_of_them as total from clients cross join whole order by ip`,
  'select a.source as source, a.n as n from (select source, count() as n from logs group by source) as a where a.n > 10 order by a.source limit 2, 2',
];

/** Corners of the dialect, each with its own answer in the engine. The one of odd keys needs the entry of `ODD_KEYS`. */
export const CORNERS = String.raw`
select count() from logs where (source,severity_text) in (('edge_logs','ERROR'),('auth_logs','INFO'))
select count() from logs where (source,severity_text) not in (('edge_logs','ERROR'),('auth_logs','INFO'))
select id from logs where (source,severity_text) = ('edge_logs','ERROR') order by id limit 10
select severity_text as source, source as severity_text, id from logs order by id limit 3
select severity_text as source, source as severity_text, count() from logs group by 1, 2 order by 1, 2
select log_attributes['x"y'] a, log_attributes['back\\slash'] b, log_attributes['new\nline'] c, log_attributes[''] d, log_attributes['k.q"r'] e, log_attributes['x.y.z'] f, log_attributes['ü.é'] g from logs where id = 'odd'
select mapContains(log_attributes,'x"y') a, has(mapKeys(log_attributes),'back\\slash') b, length(log_attributes) n from logs where id = 'odd'
select length(log_attributes) n from logs order by id limit 20
select length(groupArray(distinct source)) from logs
select source e, extract(e,'[a-z]+') x, extractAll(e,'[a-z]') y, count() n from logs group by e order by extract(e,'[a-z]+'), e
select extract(event_message,'[a-z]+') x, concat(x, '-', extract(x,'[a-z]'), toString(count())) y from logs group by x having extract(x,'[a-z]') <> '' order by x
select toDate(timestamp) d, addDays(d,1) e, max(addDays(timestamp,1)) f, count() n from logs group by d order by d
select replaceOne('a.b.c','.','-') a, replaceOne('ab','','x') b, replaceOne('ü.é.','.','ö') c, replaceOne('abc','bc','') d, greatest(1,null) e, least(2,null,1) f, greatest('a','b') g
select toString(toDateTime('2026-11-20 10:00:00'),'Asia/Tokyo') a, toString(timestamp,'Europe/Berlin') b from logs order by id limit 3
select toStartOfInterval(timestamp, interval 1 day, 'Europe/Berlin') as a, count() as n from logs group by a order by a
select toStartOfDay(toDateTime('2026-11-20 23:30:00'), 'Europe/Berlin') as a, toDateTime64('2026-11-20 10:00:00.5', 6, 'Asia/Tokyo') as b
select toStartOfInterval(timestamp, interval 5 hour) t, count() from logs group by t order by t
select toStartOfInterval(timestamp, interval 7 hour) t, count() from logs group by t order by t
select toStartOfInterval(timestamp, interval 25 hour) t, toStartOfInterval(timestamp, interval 48 hour) u, count() from logs group by t, u order by t
select toStartOfInterval(timestamp, interval 2 week) a, toStartOfInterval(timestamp, interval 3 week) b, toStartOfInterval(timestamp, interval 3 year) c, toStartOfInterval(timestamp, interval 5 year) d, toStartOfInterval(timestamp, interval 3 quarter) e, toStartOfInterval(timestamp, interval 5 month) f, toStartOfInterval(timestamp, interval 90 minute) g, toStartOfInterval(timestamp, interval 7 second) h, toStartOfInterval(timestamp, interval 1 week) i, toStartOfInterval(timestamp, interval 3 day) j from logs order by id limit 3
select toDate(timestamp,'Asia/Tokyo') d, count() from logs group by d order by d
select concat('x',timestamp) a, timestamp||'' b, cast(timestamp as String) c, timestamp::String d from logs order by id limit 2
select toString(1e15) a, toString(1e16) b, toString(1e20) c, toString(1e22) d, concat(1.0,'') e, cast(toFloat64(1.0) as String) f
select toInt64('9007199254740993') a, toInt64('12345678901234567') b, toUInt64('18446744073709551615') c, toUInt64OrZero('18446744073709551615') d
select locate('b','abc') a, locate('abc','b') b
select arrayJoin([1,2]) as a, arrayJoin([1,2]) as b
select path('/x/y?z') a, path('/x%20y') b, domain('a.b.c/x') c, path('https://h/a?b') d, domain('https://www.example.org:80/a') e, domainWithoutWWW('https://www.example.org/a') f
select 2 in (1,null) a, 2 not in (1,null) b
select count() from logs where source in ('edge_logs') and severity_text not in ('ERROR',null)
select toDate('2026-03-02') - toDate('2026-01-01') a, addMonths(toDate('2026-01-31'),1) b, addDays(toDate('2026-01-31'),1) c, addHours(toDateTime('2026-01-31 23:00:00'),2) d
select JSONExtractUInt('{"a":-1}','a') a, JSONExtractBool('{"a":1}','a') b, JSONExtractInt('{"a":true}','a') c, JSONExtractUInt('{"a":12345678901234567890}','a') d, JSONExtractInt('{"a":"12"}','a') e, JSONExtractFloat('{"a":"1.5"}','a') f
select formatDateTime(toDateTime('2026-01-02 03:04:05'),'%k|%l|%c') x
select toFloat64(toDateTime('2026-01-02 03:04:05')) a
select source, n, sum(n) over (order by source) s, max(n) over () m from (select source, count() n from logs group by source) order by source
select anyIf(source, source = 'edge_logs') a, countDistinct(source) b, quantileExactLow(0.5)(length(id)) c from logs
select cast(1,'String') a, cast('5','UInt8') b, '7'::UInt8 c, cast('x' as Nullable(String)) d, cast(null,'Nullable(String)') e
select extract(hour from toDateTime('2026-01-02 03:04:05')) a, toHour(toDateTime('2026-01-02 03:04:05'),'Asia/Tokyo') b
select toStartOfInterval(timestamp, interval 1 hour, 'UTC') t, count() from logs group by t order by t limit 2
select groupArrayIf(source, source = 'nothing') a, sumIf(1, 0) b, minIf(id, id = 'x') c from logs
select extractURLParameter('https://a/b?x=1&y=2#z=3','y') a, extractURLParameter('https://a/b?yy=0&y=','y') b, extractURLParameter('/p?a.b=1&aXb=2','a.b') c, extractURLParameter('/p','a') d, extractURLParameter('/p?q=a;y=2&y=3','y') e, extractURLParameter('/p?x=1#y=2','y') f, extractURLParameter('y=1?x=2','y') g
select extractURLParameter(log_attributes['request.search'], 'select') p, count() n from logs where source = 'edge_logs' group by p order by n desc, p limit 5
select has(['a'],'b') = 0 a, (1 = 1) = 1 b, (2 > 3) != 0 c, (1 = 1) > 0 d, (2 = 2) in (1, 3) e
select count() n from logs where has(mapKeys(log_attributes), 'request.method') = 1
select leftPad('7', 3, '0') a, cutQueryString('https://a/b?c') b, log2(8) c
select count() c, toStartOfHour(timestamp) as timestamp from logs where timestamp > '2026-11-20 10:00:00' and id != '' group by timestamp having c > 1 order by timestamp desc limit 5
`
  .trim()
  .split('\n');
