import { allSources, type Source } from '../../ingest/index.ts';
import { columnOf, pathOf } from '../store/index.ts';
import { named, quoted } from './expressions.ts';
import { POLICY } from './reader.ts';
import { allOf, type Members } from './schema.ts';

/** What the user's profile sets: nothing that is asked can change it. */
export const READER_SETTINGS = {
  readonly: 1,
  session_timezone: 'UTC',
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  // Or a condition on metadata is worked out of rows, too, that the columns of members rule out.
  move_all_conditions_to_prewhere: 0,
  max_execution_time: 60,
  max_result_bytes: 16 * 1024 * 1024,
  result_overflow_mode: 'throw',
} as const;

/** The columns of a table that the view of all sources reads. */
export function readerColumns(source: Source, members: Members): string[] {
  return [
    'id',
    'timestamp',
    'project',
    'severity',
    'status',
    'event_message',
    'metadata',
    'member_set',
    'member_state',
    ...(members[source] ?? []).map((member) => named(columnOf(pathOf(member)))),
  ];
}

/** The statements that let a user read, and no more: an operator has made the user. */
export function readerStatements(user: string, cluster: string | null, members: Members): string[] {
  const on = cluster === null ? '' : ` on cluster ${named(cluster)}`;
  const settings = Object.entries(READER_SETTINGS).map(
    ([name, value]) => `${name} = ${typeof value === 'number' ? value : quoted(value)}`,
  );
  return [
    `create settings profile if not exists ${named(user)}${on} settings ${settings.join(', ')} to ${named(user)}`,
    ...allSources().flatMap((source) => [
      ...(cluster === null ? [source] : [source, allOf(source)]).map(
        (table) =>
          `grant${on} select(${readerColumns(source, members).join(', ')}) on ${table} to ${named(user)}`,
      ),
      `create row policy if not exists ${named(user)}${on} on ${source} using ${POLICY} to ${named(user)}`,
    ]),
  ];
}
