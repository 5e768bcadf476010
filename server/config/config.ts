import {
  defineSources,
  type NamePatterns,
  type Source,
  SUPABASE_SOURCES,
} from '../../ingest/index.ts';
import {
  createFieldTable,
  type Format,
  LINE_FORMATS,
  type OwnFields,
  pattern,
  ROLES,
  type SourceFormats,
  UTC,
  type ZoneOffset,
} from '../lines/index.ts';
import { WAITS, type Waits } from '../waits.ts';
import { nearestOf } from './nearest-name.ts';
import {
  type FormatNames,
  fieldNames,
  forAll,
  memberLists,
  namePatterns,
  ofEach,
  sourceNames,
} from './parse.ts';
import { SETTINGS, type ServiceMeans, type Setting, TEST_WAITS, type Values } from './settings.ts';

const PREFIX = 'TAILPOND_';

export interface ClickHouseConfig {
  /** A server of each shard. */
  readonly urls: readonly string[];
  readonly database: string;
  readonly user: string;
  readonly passwordFile: string | null;
  /** The user who may only read; null: there is none. */
  readonly reader: { readonly user: string; readonly passwordFile: string | null } | null;
  /** Whose shards hold the rows together; null: one server holds all. */
  readonly cluster: string | null;
  readonly intervalMs: number;
}

/** The settings as the service uses them. */
export interface Config {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  readonly tokenFile: string | null;
  /** The file of further tokens; null: the one in the data folder. */
  readonly tokens: string | null;
  /** The folder of the operator's own endpoints; null for none. */
  readonly endpoints: string | null;
  /** Names of further logs. */
  readonly files: NamePatterns;
  readonly lineFormat: Readonly<Record<Source, SourceFormats>>;
  /** The zone of moments that name none. */
  readonly timeZone: Readonly<Record<Source, ZoneOffset>>;
  /** Names of fields beside the built-in ones. */
  readonly fields: Readonly<Record<Source, OwnFields>>;
  /** The project of lines that name none; null: they have none. */
  readonly defaultProject: Readonly<Record<Source, string | null>>;
  /** What the name of a service of OpenTelemetry stands for. */
  readonly serviceMeans: ServiceMeans;
  readonly logLevel: string;
  /** The engine's memory limit, bytes. */
  readonly memory: number;
  readonly queryTimeoutMs: number;
  readonly maxLine: number;
  readonly maxPushLines: number;
  /** How long rows and rejected lines are kept; Infinity: for ever. */
  readonly keepMs: Readonly<Record<Source, number>>;
  /** Bytes that the whole store, and that each source may take; Infinity: no limit. */
  readonly maxBytes: number;
  readonly maxSourceBytes: Readonly<Record<Source, number>>;
  /** Bytes that must be free for lines to be stored; 0: the disk is not looked at. */
  readonly minFree: number;
  /** Members of metadata that get columns beside the built-in ones. */
  readonly columns: Readonly<Record<Source, readonly string[]>>;
  /** Whether stored rows are settled. */
  readonly settling: boolean;
  /** Where rows are forwarded to; null: they stay. */
  readonly clickhouse: ClickHouseConfig | null;
  readonly maxConnections: number;
  /** Requests a minute and token; null: any number. */
  readonly rateLimit: number | null;
  /** Whether a token may be in the URL of a push or a query. */
  readonly apiKeyInUrl: boolean;
  readonly corsOrigin: string | null;
  /** How long the service waits in the background; tests shorten it. */
  readonly waits: Waits;
}

/** What `sysexits.h` calls a configuration error: starting again does not help. */
export const EX_CONFIG = 78;

/** Every fault of the settings at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Defines the sources that the environment names; none where what it says is not a list of them. */
export function takeSources(env: Environment): void {
  defineSources(sourceNames(env.TAILPOND_SOURCES?.trim() ?? '') ?? []);
}

/** Reads the settings from the environment. Throws ConfigError; `warnings` name unknown variables and settings without effect. */
export function readConfig(env: Environment): { config: Config; warnings: string[] } {
  const faults: string[] = [];
  // Other settings name them.
  takeSources(env);
  const parsed = (setting: Setting): unknown => {
    const text = env[setting.name]?.trim() || setting.default;
    if (text === '') return null;
    const value = setting.parse(text);
    if (value === null) faults.push(faultOf(setting, text));
    return value;
  };
  const values = Object.fromEntries(
    SETTINGS.map((setting) => [setting.key, parsed(setting)]),
  ) as Values;
  const formats = formatsOf(values, faults);
  const waits = (env[TEST_WAITS.name]?.trim() ? parsed(TEST_WAITS) : WAITS) as Waits;
  if (values.token && values.tokenFile)
    faults.push('TAILPOND_TOKEN and TAILPOND_TOKEN_FILE: expected one of them, got both');
  if ((values.clickhouseUrl?.length ?? 0) > 1 && !values.clickhouseCluster)
    faults.push(
      'TAILPOND_CLICKHOUSE_CLUSTER: expected the name of the cluster, as TAILPOND_CLICKHOUSE_URL names several servers, got none',
    );
  const warnings = [...unknownVariables(env), ...idleVariables(env)];
  // A wrong setting may be wrong because another one has a wrong name.
  if (faults.length > 0) throw new ConfigError([...faults, ...warnings]);
  return { config: Object.freeze({ ...configOf(values, formats), waits }), warnings };
}

/** What the service goes by, of values that were all allowed. */
function configOf(
  {
    retention,
    maxDisk,
    rateLimit,
    columns,
    defaultProject,
    files,
    lineFormat,
    linePatterns: _named,
    timeZone,
    fields,
    sources: _defined,
    clickhouseUrl: urls,
    clickhouseDatabase: database,
    clickhouseUser: user,
    clickhousePasswordFile: passwordFile,
    clickhouseReader: reader,
    clickhouseReaderPasswordFile: readerPasswordFile,
    clickhouseCluster: cluster,
    clickhouseIntervalMs: intervalMs,
    ...values
  }: Values,
  formats: Formats,
): Omit<Config, 'waits'> {
  return {
    ...(values as WithoutNull<typeof values>),
    token: values.token,
    tokenFile: values.tokenFile,
    tokens: values.tokens,
    endpoints: values.endpoints,
    corsOrigin: values.corsOrigin,
    files: files ?? namePatterns.none(),
    lineFormat: lineFormats(lineFormat ?? { ...forAll('auto'), files: [] }, formats),
    timeZone: ofEach(timeZone ?? forAll(UTC)),
    fields: fields ?? fieldNames.none(),
    defaultProject: ofEach(defaultProject ?? forAll<string | null>(null)),
    keepMs: ofEach(retention ?? forAll(Infinity)),
    maxBytes: maxDisk?.all ?? Infinity,
    maxSourceBytes: ofEach({ ...(maxDisk ?? forAll(Infinity)), all: Infinity }),
    rateLimit: rateLimit === Infinity ? null : rateLimit,
    columns: columns ?? memberLists.none(),
    clickhouse: urls && {
      urls,
      database: database ?? '',
      user: user ?? '',
      passwordFile,
      reader: reader === null ? null : { user: reader, passwordFile: readerPasswordFile },
      cluster,
      intervalMs: intervalMs ?? 0,
    },
  };
}

/** Formats by their names: the built-in ones, and those of an operator's patterns. */
type Formats = ReadonlyMap<string, readonly Format[]>;

/** Returns the formats that there are, and adds the faults of patterns, and of names that no format has. */
function formatsOf({ linePatterns, lineFormat, fields }: Values, faults: string[]): Formats {
  const formats = new Map<string, readonly Format[]>(Object.entries(LINE_FORMATS));
  const table = createFieldTable(ofAllSources(fields ?? {}));
  for (const [name, expression] of linePatterns ?? [])
    try {
      if (formats.has(name)) throw new Error(`${name} is the name of a built-in format.`);
      formats.set(name, [{ ...pattern(expression, table), name }]);
    } catch (error) {
      faults.push(`TAILPOND_LINE_PATTERNS: ${name}: ${(error as Error).message}`);
      formats.set(name, []);
    }
  const { all, sources, files } = lineFormat ?? { ...forAll('auto'), files: [] };
  for (const name of new Set([all, ...sources.values(), ...files.map(({ format }) => format)])) {
    const known = [...formats.keys()];
    const nearest = nearestOf(name, known);
    if (!formats.has(name))
      faults.push(
        `TAILPOND_LINE_FORMAT: expected one of ${known.join(', ')}, or a name of TAILPOND_LINE_PATTERNS, got "${name}"${nearest ? `; did you mean ${nearest}?` : ''}`,
      );
  }
  return formats;
}

/** A pattern may be that of any source. */
function ofAllSources(fields: Readonly<Record<Source, OwnFields>>): OwnFields {
  return Object.fromEntries(
    ROLES.map((role) => [role, Object.values(fields).flatMap((own) => own[role] ?? [])]),
  );
}

/** Supabase's services write JSON, so that a broken line of theirs is to be seen. */
function lineFormats(
  { all, sources, files }: FormatNames,
  formats: Formats,
): Record<Source, SourceFormats> {
  const json = all === 'auto' ? SUPABASE_SOURCES.map((source) => [source, 'json'] as const) : [];
  const named = ofEach({ all, sources: new Map<Source, string>([...json, ...sources]) });
  const formatsOfName = (name: string) => formats.get(name) ?? [];
  return Object.fromEntries(
    Object.entries(named).map(([source, name]) => [
      source,
      {
        formats: formatsOfName(name),
        files: files
          .filter((file) => file.source === source)
          .map(({ pattern: glob, format }) => ({ pattern: glob, formats: formatsOfName(format) })),
      },
    ]),
  );
}

type WithoutNull<T> = { readonly [Key in keyof T]: NonNullable<T[Key]> };

function faultOf({ name, expected, secret }: Setting, text: string): string {
  const got = secret ? 'a shorter one' : JSON.stringify(text);
  return `${name}: expected ${expected}, got ${got}${unitHint(text)}`;
}

/** What a size wants whose unit is one letter, as other programs write it. */
function unitHint(value: string): string {
  const [, letter] = /\d\s*([kmg])(?:,|$)/i.exec(value) ?? [];
  return letter ? `; the unit is ${letter.toUpperCase()}B` : '';
}

function unknownVariables(env: Environment): string[] {
  const names = SETTINGS.map(({ name }): string => name);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !names.includes(name) && name !== TEST_WAITS.name)
    .map((name) => {
      const nearest = nearestOf(
        name.slice(PREFIX.length),
        names.map((known) => known.slice(PREFIX.length)),
      );
      return `unknown setting ${name}${nearest ? `; did you mean ${PREFIX}${nearest}?` : ''}`;
    });
}

/** Returns a warning for each ClickHouse setting that has no effect, because the setting it belongs to is missing. */
function idleVariables(env: Environment): string[] {
  const isSet = (name: string) => Boolean(env[name]?.trim());
  return SETTINGS.map(({ name }): string => name).flatMap((name) => {
    if (!isSet(name) || !name.startsWith('TAILPOND_CLICKHOUSE_')) return [];
    if (!isSet('TAILPOND_CLICKHOUSE_URL'))
      return [`${name} has no effect without TAILPOND_CLICKHOUSE_URL: no rows are forwarded`];
    if (name.startsWith('TAILPOND_CLICKHOUSE_READER_') && !isSet('TAILPOND_CLICKHOUSE_READER'))
      return [`${name} has no effect without TAILPOND_CLICKHOUSE_READER`];
    return [];
  });
}

/** The settings, whose warnings go to stderr. Throws ConfigError. */
export function settingsOf(): Config {
  const { config, warnings } = readConfig(process.env);
  for (const warning of warnings) console.error(warning);
  return config;
}
