import type { Request } from '../request.ts';

/** Requests that BigQuery would answer and tailpond does not; it must say so, and what it does not know. */
export const UNSUPPORTED: readonly Request[] = [
  unsupported("select net.host('https://www.example.co') as a", /net\.host/i),
  unsupported("select to_hex(md5('a')) as a", /to_hex|md5/i),
  unsupported("select int64(parse_json('3')) as a", /int64/i),
  unsupported('select array_concat([1], [2, 3]) as a', /array_concat/i),
  unsupported('select array(select x from unnest([3, 1]) as x) as a', /./),
  unsupported(
    'select percentile_cont(length(id), 0.5) over () as median from pgbouncer_logs',
    /percentile_cont/i,
  ),
  unsupported("select last_day(date '2026-02-10') as a", /last_day/i),
  unsupported('select rand() as a', /rand/i),
  unsupported(
    'select timestamp_bucket(timestamp, interval 5 minute) as a from edge_logs',
    /timestamp_bucket/i,
  ),
  unsupported("select id from edge_logs where id like any ('a%', 'b%')", /./),
];

function unsupported(sql: string, says: RegExp): Request {
  return { name: `unsupported: ${sql}`, sql, refused: says };
}
