/** A setting: its environment variable, what it takes, its default as an operator would write it, and a sentence. */
export interface Setting {
  readonly name: string;
  readonly type: SettingType;
  readonly default: string;
  readonly description: string;
}

type SettingType =
  | 'path'
  | 'text'
  | 'port'
  | 'size'
  | 'sizes'
  | 'ages'
  | 'duration'
  | 'level'
  | 'count';

/** Every setting there is. The table in docs/settings.md is checked against this one. */
export const SETTINGS = [
  {
    name: 'TAILPOND_DATA',
    type: 'path',
    default: './data',
    description: 'The data folder: logs/ to drop files in, store/ for the database.',
  },
  {
    name: 'TAILPOND_HOST',
    type: 'text',
    default: '127.0.0.1',
    description: 'The address to listen on; the image sets 0.0.0.0.',
  },
  {
    name: 'TAILPOND_PORT',
    type: 'port',
    default: '4000',
    description: 'The port to listen on; 0 takes a free one, which is logged.',
  },
  {
    name: 'TAILPOND_TOKEN',
    type: 'text',
    default: '',
    description:
      'The access token, at least 16 characters; without it and TAILPOND_TOKEN_FILE one is made and kept in store/access-token.',
  },
  {
    name: 'TAILPOND_TOKEN_FILE',
    type: 'path',
    default: '',
    description: 'A file that holds the access token.',
  },
  {
    name: 'TAILPOND_TOKENS',
    type: 'path',
    default: '',
    description:
      'The file of further tokens, read at the start and on SIGHUP; without it tokens.json in the data folder. It need not be there.',
  },
  {
    name: 'TAILPOND_ENDPOINTS',
    type: 'path',
    default: '',
    description:
      'A folder of endpoints of your own, one .sql file each, beside those that are built in; read at the start and on SIGHUP.',
  },
  {
    name: 'TAILPOND_LOG_LEVEL',
    type: 'level',
    default: 'info',
    description:
      'The least severe level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  {
    name: 'TAILPOND_MEMORY',
    type: 'size',
    default: '400MB',
    description:
      "The engine's memory limit, at least 96MB; it uses a core for each 85MB of it, at most four. The process needs some 200 MB beside it.",
  },
  {
    name: 'TAILPOND_QUERY_TIMEOUT',
    type: 'duration',
    default: '30s',
    description: 'How long a query may take, waiting included.',
  },
  {
    name: 'TAILPOND_MAX_LINE',
    type: 'size',
    default: '1MiB',
    description:
      'The longest line that is taken whole, at most 16MiB; of a longer one the first 4 KiB are kept as a rejected line.',
  },
  {
    name: 'TAILPOND_RETENTION',
    type: 'ages',
    default: '30d',
    description:
      'How long rows and rejected lines are kept, from 1h, or off; then perhaps other ages of single sources: 30d,postgres_logs=7d,auth_logs=off.',
  },
  {
    name: 'TAILPOND_MAX_DISK',
    type: 'sizes',
    default: 'off',
    description:
      'The size of the store above which the oldest rows are removed, or off; then perhaps sizes of single sources: 20GB,edge_logs=10GB.',
  },
  {
    name: 'TAILPOND_MIN_FREE',
    type: 'size',
    default: '500MB',
    description: 'Free space below which nothing is stored until there is room again, or off.',
  },
  {
    name: 'TAILPOND_MAX_CONNECTIONS',
    type: 'count',
    default: '512',
    description: 'How many connections may be open; some more get 503, those beyond are closed.',
  },
  {
    name: 'TAILPOND_RATE_LIMIT',
    type: 'count',
    default: 'off',
    description: 'How many requests a minute each token may make, or off.',
  },
  {
    name: 'TAILPOND_CORS_ORIGIN',
    type: 'text',
    default: '',
    description: 'The origin that browsers may call from; none without it.',
  },
] as const satisfies readonly Setting[];

/** The name of a setting. */
export type SettingName = (typeof SETTINGS)[number]['name'];
