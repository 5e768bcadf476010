import { LINE_FORMATS, ROLES, zoneNamed } from '../lines/index.ts';
import { parseWaits, WAITS } from '../waits.ts';
import {
  age,
  bytes,
  count,
  diskSize,
  duration,
  fieldNames,
  formatNames,
  interval,
  linePatterns,
  memberLists,
  namePatterns,
  onOrOff,
  origin,
  orOff,
  perSource,
  port,
  projectName,
  serverUrls,
  sizeWithin,
  sourceNames,
  sqlName,
} from './parse.ts';

/** A setting: its environment variable, its default as an operator would write it, what it takes and what it is. */
export interface Setting {
  readonly name: string;
  /** What its value is called here. */
  readonly key: string;
  /** Empty: none. */
  readonly default: string;
  /** Whether its value may not be shown. */
  readonly secret?: true;
  /** The allowed values, as an error names them. */
  readonly expected: string;
  /** Returns the value of a text; null if it is not allowed. It is not asked about an empty text. */
  readonly parse: (text: string) => unknown;
  readonly description: string;
}

/** What the name of a service of OpenTelemetry stands for: the project of its lines, their source, or nothing but itself. */
export type ServiceMeans = 'project' | 'source' | 'nothing';

const SERVICE_MEANS: readonly ServiceMeans[] = ['project', 'source', 'nothing'];
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const anyText = (text: string): string | null => text;
const level = (text: string): string | null => LEVELS.find((known) => known === text) ?? null;
const serviceMeans = (text: string): ServiceMeans | null =>
  SERVICE_MEANS.find((known) => known === text) ?? null;
const token = (text: string): string | null => (/^\S{16,}$/.test(text) ? text : null);

/** Every setting there is. The table in docs/settings.md is checked against this one. */
export const SETTINGS = [
  {
    name: 'TAILPOND_DATA',
    key: 'data',
    default: './data',
    expected: 'a path',
    parse: anyText,
    description: 'The data folder: logs/ holds the log files, store/ the database.',
  },
  {
    name: 'TAILPOND_HOST',
    key: 'host',
    default: '127.0.0.1',
    expected: 'an address',
    parse: anyText,
    description: 'The address to listen on. The container image sets 0.0.0.0.',
  },
  {
    name: 'TAILPOND_PORT',
    key: 'port',
    default: '4000',
    expected: 'a port from 0 to 65535',
    parse: port,
    description: 'The port to listen on. 0 takes a free port, which is logged.',
  },
  {
    name: 'TAILPOND_TOKEN',
    key: 'token',
    default: '',
    secret: true,
    expected: 'at least 16 characters without blanks',
    parse: token,
    description:
      'The access token, at least 16 characters. Without it and TAILPOND_TOKEN_FILE a token is created in store/access-token.',
  },
  {
    name: 'TAILPOND_TOKEN_FILE',
    key: 'tokenFile',
    default: '',
    expected: 'a path',
    parse: anyText,
    description: 'A file that holds the access token.',
  },
  {
    name: 'TAILPOND_TOKENS',
    key: 'tokens',
    default: '',
    expected: 'a path',
    parse: anyText,
    description:
      'The file of further tokens, read at the start and on SIGHUP. Without it: tokens.json in the data folder. It may be missing.',
  },
  {
    name: 'TAILPOND_API_KEY_IN_URL',
    key: 'apiKeyInUrl',
    default: 'off',
    expected: 'on or off',
    parse: onOrOff,
    description:
      'Whether pushes and queries may have their token as ?api_key= in the URL, where proxies log it: on or off.',
  },
  {
    name: 'TAILPOND_ENDPOINTS',
    key: 'endpoints',
    default: '',
    expected: 'a path',
    parse: anyText,
    description:
      'A folder of your own endpoints, one .sql file each, in addition to the built-in ones. Read at the start and on SIGHUP.',
  },
  {
    name: 'TAILPOND_SOURCES',
    key: 'sources',
    default: '',
    expected:
      'names of small letters, digits and _, each once, that do not end with _all, such as nginx_logs,worker_logs',
    parse: sourceNames,
    description:
      'Sources of your own beside the built-in ones, each with a folder, a table and a view of its name: nginx_logs,worker_logs.',
  },
  {
    name: 'TAILPOND_FILES',
    key: 'files',
    default: '',
    expected:
      'patterns of file names, each perhaps with its source, such as *.txt,nginx_logs=access_log',
    parse: namePatterns,
    description:
      'Further names of log files, for all sources or for single ones, with * and ?: *.txt,nginx_logs=access_log. Rotated and packed files of such names are read, too.',
  },
  {
    name: 'TAILPOND_LINE_FORMAT',
    key: 'lineFormat',
    default: 'auto',
    expected: `one of ${Object.keys(LINE_FORMATS).join(', ')}, or a name of TAILPOND_LINE_PATTERNS, then perhaps others of sources and of their files, such as auto,k8s_logs=cri,nginx_logs/error*.log=nginx-error`,
    parse: formatNames,
    description:
      'How lines are written that are not JSON objects: json (they are rejected), text, logfmt, nginx or apache (access and error logs), combined (both), nginx-error, apache-error, haproxy, syslog, postgres, cri (container runtimes of Kubernetes), a name of TAILPOND_LINE_PATTERNS, or auto, any but the last. Others for single sources and files may follow: auto,k8s_logs=cri,nginx_logs/error*.log=nginx-error. With auto, the sources of Supabase have json.',
  },
  {
    name: 'TAILPOND_LINE_PATTERNS',
    key: 'linePatterns',
    default: '',
    expected:
      'names with regular expressions that begin with ^, such as billing=^(?<time>\\S+) (?<message>.*)',
    parse: linePatterns,
    description:
      'Formats of your own for TAILPOND_LINE_FORMAT: names with regular expressions that begin with ^ and whose named groups are fields: billing=^(?<time>\\S+) (?<message>.*). A comma or a newline stands before the next one.',
  },
  {
    name: 'TAILPOND_TIME_ZONE',
    key: 'timeZone',
    default: 'UTC',
    expected:
      'UTC or a zone such as Europe/Berlin, then perhaps zones of sources, such as UTC,mysql_logs=Europe/Berlin',
    parse: (text: string) => perSource(text, zoneNamed),
    description:
      'The time zone of timestamps that name none. Others for single sources may follow: UTC,mysql_logs=Europe/Berlin.',
  },
  {
    name: 'TAILPOND_FIELDS',
    key: 'fields',
    default: '',
    expected: `names of fields by what they mean (${ROLES.join(', ')}), each name once, such as time=zeit|wann,app_logs.severity=stufe`,
    parse: fieldNames,
    description:
      'Further names of fields by what they mean, for all sources or single ones: time=zeit,message=text_de,app_logs.severity=stufe. They come before the built-in names.',
  },
  {
    name: 'TAILPOND_DEFAULT_PROJECT',
    key: 'defaultProject',
    default: 'default',
    expected:
      'off or a project, then perhaps projects of sources, such as default,nginx_logs=website',
    parse: (text: string) => perSource(text, projectName, { means: null }),
    description:
      'The project of lines that name none, or off. Other projects for single sources may follow: default,nginx_logs=website.',
  },
  {
    name: 'TAILPOND_OTLP_SERVICE',
    key: 'serviceMeans',
    default: 'project',
    expected: `one of ${SERVICE_MEANS.join(', ')}`,
    parse: serviceMeans,
    description:
      'What the service.name of OpenTelemetry stands for: the project of its log records, the source that they go to, or nothing.',
  },
  {
    name: 'TAILPOND_LOG_LEVEL',
    key: 'logLevel',
    default: 'info',
    expected: `one of ${LEVELS.join(', ')}`,
    parse: level,
    description:
      'The lowest level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  {
    name: 'TAILPOND_MEMORY',
    key: 'memory',
    default: '300MB',
    expected: 'a size of at least 96MB, such as 300MB',
    parse: sizeWithin(96e6, Infinity),
    description:
      "The engine's memory limit, at least 96MB. It uses one core per 85MB, at most four. The process needs about 200 MB more.",
  },
  {
    name: 'TAILPOND_QUERY_TIMEOUT',
    key: 'queryTimeoutMs',
    default: '30s',
    expected: 'a duration from 100ms to 1h, such as 30s',
    parse: duration,
    description:
      'How long the query of a request may take, with all its statements and the time that it waits. Each page of an export may take as long.',
  },
  {
    name: 'TAILPOND_MAX_LINE',
    key: 'maxLine',
    default: '1MiB',
    expected: 'a size from 1KiB to 16MiB, such as 1MiB',
    parse: sizeWithin(1024, 16 * 1024 * 1024),
    description:
      'The longest line that is stored, at most 16MiB. A longer line is rejected, and its first 4 KiB are kept.',
  },
  {
    name: 'TAILPOND_MAX_PUSH_LINES',
    key: 'maxPushLines',
    default: '500000',
    expected: 'a whole number from 1 to 1000000',
    parse: count,
    description:
      'How many lines one push may hold: lines, elements of an array, or records of OpenTelemetry with their resources and scopes. More get 413.',
  },
  {
    name: 'TAILPOND_RETENTION',
    key: 'retention',
    default: '30d',
    expected:
      'off or an age from 1h to 9999d, then perhaps ages of sources, such as 30d,postgres_logs=7d',
    parse: (text: string) => perSource(text, age, { means: Infinity }),
    description:
      'How long rows and rejected lines are kept, at least 1h, or off. Other ages for single sources may follow: 30d,postgres_logs=7d,auth_logs=off.',
  },
  {
    name: 'TAILPOND_MAX_DISK',
    key: 'maxDisk',
    default: 'off',
    expected: 'off or a size from 16MB, then perhaps sizes of sources, such as 20GB,edge_logs=10GB',
    parse: (text: string) => perSource(text, diskSize, { means: Infinity }),
    description:
      'The size of the store above which the oldest rows are removed, at least 16MB, or off. Sizes for single sources may follow: 20GB,edge_logs=10GB.',
  },
  {
    name: 'TAILPOND_MIN_FREE',
    key: 'minFree',
    default: '500MB',
    expected: 'off or a size, such as 500MB',
    parse: orOff(0, bytes),
    description:
      'The free disk space below which nothing is stored until there is room again, or off.',
  },
  {
    name: 'TAILPOND_COLUMNS',
    key: 'columns',
    default: '',
    expected:
      'members of metadata, each with its source, such as edge_logs=request.headers.referer,auth_logs=provider',
    parse: memberLists,
    description:
      'Further members of metadata that get columns of their own, so that SQL of callers reads them fast: edge_logs=request.headers.referer,auth_logs=provider.',
  },
  {
    name: 'TAILPOND_SETTLING',
    key: 'settling',
    default: 'on',
    expected: 'on or off',
    parse: onOrOff,
    description:
      'Whether stored rows are put in order of project and time in the background, with columns of their members and filters for searches: on or off.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_URL',
    key: 'clickhouseUrl',
    default: '',
    expected: 'http or https URLs without a path, each once, such as http://127.0.0.1:8123',
    parse: serverUrls,
    description:
      'The ClickHouse that rows are forwarded to: the URL of its HTTP interface, or of one server of each shard, separated by commas. Without it rows stay here.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_DATABASE',
    key: 'clickhouseDatabase',
    default: 'default',
    expected: 'a name of letters, digits and _',
    parse: sqlName,
    description: 'The database of ClickHouse that holds the tables.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_USER',
    key: 'clickhouseUser',
    default: 'default',
    expected: 'a name',
    parse: anyText,
    description: 'The user of ClickHouse. It needs INSERT and SELECT on the tables.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_PASSWORD_FILE',
    key: 'clickhousePasswordFile',
    default: '',
    expected: 'a path',
    parse: anyText,
    description: 'A file that holds the password of that user. Without it: no password.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_READER',
    key: 'clickhouseReader',
    default: '',
    expected: 'a name',
    parse: anyText,
    description:
      "A user of ClickHouse who may only read, by row policies. SQL of callers in ClickHouse's dialect is asked as this user. Without it rows are fetched for it.",
  },
  {
    name: 'TAILPOND_CLICKHOUSE_READER_PASSWORD_FILE',
    key: 'clickhouseReaderPasswordFile',
    default: '',
    expected: 'a path',
    parse: anyText,
    description: 'A file that holds the password of that user. Without it: no password.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_CLUSTER',
    key: 'clickhouseCluster',
    default: '',
    expected: 'a name of letters, digits and _',
    parse: sqlName,
    description:
      'The cluster of ClickHouse that has the tables. Answers are then of all of its shards. It is needed where TAILPOND_CLICKHOUSE_URL names several servers.',
  },
  {
    name: 'TAILPOND_CLICKHOUSE_INTERVAL',
    key: 'clickhouseIntervalMs',
    default: '1s',
    expected: 'a duration from 1s to 5m, such as 1s',
    parse: interval,
    description:
      'How often rows are forwarded, unless there are many. Each time is an INSERT of every source with new rows: many nodes send less often.',
  },
  {
    name: 'TAILPOND_MAX_CONNECTIONS',
    key: 'maxConnections',
    default: '512',
    expected: 'a whole number from 1 to 1000000',
    parse: count,
    description: 'How many connections may be open. A few more get 503; the rest are closed.',
  },
  {
    name: 'TAILPOND_RATE_LIMIT',
    key: 'rateLimit',
    default: 'off',
    expected: 'off or a whole number from 1 to 1000000',
    parse: orOff(Infinity, count),
    description: 'How many requests each token may make per minute, or off.',
  },
  {
    name: 'TAILPOND_CORS_ORIGIN',
    key: 'corsOrigin',
    default: '',
    expected: 'an origin such as https://example.org, or *',
    parse: origin,
    description: 'The origin of web pages that may call tailpond, or *. Without it, none may.',
  },
] as const satisfies readonly Setting[];

/** The setting by which tests shorten what the service waits for (CONTRIBUTING.md). No operator needs it, so docs/settings.md has no row. */
export const TEST_WAITS: Setting = {
  name: 'TAILPOND_TEST_WAITS',
  key: 'waits',
  default: '',
  expected: `durations of ${Object.keys(WAITS).join(', ')}, such as settle=100ms,quiet=1s`,
  parse: parseWaits,
  description: 'How long the service waits in the background.',
};

type Known = (typeof SETTINGS)[number];

/** The value of each setting, by its key; null without a value. */
export type Values = { readonly [Each in Known as Each['key']]: ReturnType<Each['parse']> };
