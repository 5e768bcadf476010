/** PostgreSQL's `csvlog`: a line has 22 to 26 fields, the later ones in newer versions. A text in quotes may have newlines. */
import { type Format, textMember } from '../line.ts';
import { MOST_QUOTED_CHARS } from '../longest.ts';

const NAMES = [
  ...['time', 'user', 'database', 'pid', 'client', 'session_id', 'session_line', 'command_tag'],
  ...['session_start', 'virtual_transaction', 'transaction', 'level', 'sql_state', 'message'],
  ...['detail', 'hint', 'internal_query', 'internal_query_pos', 'context', 'query', 'query_pos'],
  ...['location', 'application', 'backend_type', 'leader_pid', 'query_id'],
];
const LEAST_FIELDS = 22;
const NUMBERS = new Set(['pid', 'session_line', 'query_pos', 'leader_pid']);
const BEGINNING =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [A-Z][\w+-]{0,7},(?:"[^"]{0,200}")?,(?:"[^"]{0,200}")?,\d{0,10},/;
const FIELD = /(?:"(?<quoted>(?:[^"]|"")*)"|(?<bare>[^",]*))(?:,|$)/suy;

/** Says whether a line begins an entry of `csvlog`. */
export function beginsCsvEntry(line: string): boolean {
  return BEGINNING.test(line);
}

export const postgresCsv: Format = {
  name: 'postgres-csv',
  parse(line) {
    if (line.length > MOST_QUOTED_CHARS || !beginsCsvEntry(line)) return null;
    const values: string[] = [];
    FIELD.lastIndex = 0;
    while (FIELD.lastIndex < line.length) {
      const found = FIELD.exec(line)?.groups;
      if (!found || values.length === NAMES.length) return null;
      values.push(found.quoted?.replaceAll('""', '"') ?? found.bare ?? '');
    }
    if (values.length < LEAST_FIELDS) return null;
    return values.flatMap((value, at) => {
      const name = NAMES[at];
      if (!name || value === '') return [];
      const isNumber = NUMBERS.has(name) && /^[1-9]\d{0,14}$/.test(value);
      return [isNumber ? { name, json: value } : textMember(name, value)];
    });
  },
};
