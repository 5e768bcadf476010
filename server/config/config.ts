import type { Source } from '../../ingest/index.ts';
import { nearestOf } from './nearest.ts';
import { age, bytes, count, diskSize, duration, ofEach, origin, perSource, port } from './parse.ts';
import { SETTINGS, type SettingName } from './settings.ts';

const PREFIX = 'TAILPOND_';
const MIB = 1024 * 1024;
const MAX_LINE_MAX = 16 * MIB;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

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
  readonly logLevel: string;
  /** The engine's memory limit, bytes. */
  readonly memory: number;
  readonly queryTimeoutMs: number;
  readonly maxLine: number;
  /** How long rows and rejected lines are kept; Infinity: for ever. */
  readonly keepMs: Readonly<Record<Source, number>>;
  /** Bytes that the whole store, and that each source may take; Infinity: no limit. */
  readonly maxBytes: number;
  readonly maxSourceBytes: Readonly<Record<Source, number>>;
  /** Bytes that must be free for lines to be stored; 0: the disk is not looked at. */
  readonly minFree: number;
  readonly maxConnections: number;
  /** Requests a minute and token; null: any number. */
  readonly rateLimit: number | null;
  readonly corsOrigin: string | null;
}

/** Every fault of the settings at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** The settings, from the environment. Throws ConfigError; `warnings` name variables that look like a setting and are none. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): {
  config: Config;
  warnings: string[];
} {
  const faults: string[] = [];
  const text = (name: SettingName): string => {
    const value = env[name]?.trim();
    return value || (SETTINGS.find((setting) => setting.name === name)?.default ?? '');
  };
  const expect = <T>(name: SettingName, allowed: string, value: T | null): T => {
    if (value === null)
      faults.push(
        `${name}: expected ${allowed}, got ${name === 'TAILPOND_TOKEN' ? 'a shorter one' : JSON.stringify(text(name))}${unitHint(text(name))}`,
      );
    return value as T;
  };

  const token = text('TAILPOND_TOKEN') || null;
  const maxLine = expect(
    'TAILPOND_MAX_LINE',
    'a size from 1KiB to 16MiB, such as 1MiB',
    bytes(text('TAILPOND_MAX_LINE')),
  );
  if (maxLine !== null && (maxLine < 1024 || maxLine > MAX_LINE_MAX))
    expect('TAILPOND_MAX_LINE', 'a size from 1KiB to 16MiB', null);
  const memory = expect(
    'TAILPOND_MEMORY',
    'a size of at least 96MB, such as 400MB',
    bytes(text('TAILPOND_MEMORY')),
  );
  if (memory !== null && memory < 96e6) expect('TAILPOND_MEMORY', 'a size of at least 96MB', null);
  if (token && text('TAILPOND_TOKEN_FILE'))
    faults.push('TAILPOND_TOKEN and TAILPOND_TOKEN_FILE: expected one of them, got both');

  const keep = expect(
    'TAILPOND_RETENTION',
    'off or an age from 1h to 9999d, then perhaps ages of sources, such as 30d,postgres_logs=7d',
    perSource(text('TAILPOND_RETENTION'), age),
  );
  const disk = expect(
    'TAILPOND_MAX_DISK',
    'off or a size from 16MB, then perhaps sizes of sources, such as 20GB,edge_logs=10GB',
    perSource(text('TAILPOND_MAX_DISK'), diskSize),
  );

  const config: Config = {
    data: text('TAILPOND_DATA'),
    host: text('TAILPOND_HOST'),
    port: expect('TAILPOND_PORT', 'a port from 0 to 65535', port(text('TAILPOND_PORT'))),
    token:
      token &&
      expect(
        'TAILPOND_TOKEN',
        'at least 16 characters without blanks',
        /^\S{16,}$/.test(token) ? token : null,
      ),
    tokenFile: text('TAILPOND_TOKEN_FILE') || null,
    tokens: text('TAILPOND_TOKENS') || null,
    endpoints: text('TAILPOND_ENDPOINTS') || null,
    logLevel: expect(
      'TAILPOND_LOG_LEVEL',
      `one of ${LEVELS.join(', ')}`,
      LEVELS.find((level) => level === text('TAILPOND_LOG_LEVEL')) ?? null,
    ),
    memory,
    queryTimeoutMs: expect(
      'TAILPOND_QUERY_TIMEOUT',
      'a duration from 100ms to 1h, such as 30s',
      duration(text('TAILPOND_QUERY_TIMEOUT')),
    ),
    maxLine,
    keepMs: ofEach(keep?.all ?? Infinity, keep?.sources),
    maxBytes: disk?.all ?? Infinity,
    maxSourceBytes: ofEach(Infinity, disk?.sources),
    minFree: expect(
      'TAILPOND_MIN_FREE',
      'off or a size, such as 500MB',
      text('TAILPOND_MIN_FREE') === 'off' ? 0 : bytes(text('TAILPOND_MIN_FREE')),
    ),
    maxConnections: expect(
      'TAILPOND_MAX_CONNECTIONS',
      'a whole number from 1 to 1000000',
      count(text('TAILPOND_MAX_CONNECTIONS')),
    ),
    rateLimit:
      text('TAILPOND_RATE_LIMIT') === 'off'
        ? null
        : expect(
            'TAILPOND_RATE_LIMIT',
            'off or a whole number from 1 to 1000000',
            count(text('TAILPOND_RATE_LIMIT')),
          ),
    corsOrigin: text('TAILPOND_CORS_ORIGIN')
      ? expect(
          'TAILPOND_CORS_ORIGIN',
          'an origin such as https://example.org, or *',
          origin(text('TAILPOND_CORS_ORIGIN')),
        )
      : null,
  };
  const warnings = unknownVariables(env);
  // A wrong setting may be wrong because another one has a wrong name.
  if (faults.length > 0) throw new ConfigError([...faults, ...warnings]);
  return { config: Object.freeze(config), warnings };
}

/** What a size wants whose unit is one letter, as other programs write it. */
function unitHint(value: string): string {
  const [, letter] = /\d\s*([kmg])(?:,|$)/i.exec(value) ?? [];
  return letter ? `; the unit is ${letter.toUpperCase()}B` : '';
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const names = SETTINGS.map(({ name }) => name as string);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !names.includes(name))
    .map((name) => {
      const nearest = nearestOf(
        name.slice(PREFIX.length),
        names.map((known) => known.slice(PREFIX.length)),
      );
      return `unknown setting ${name}${nearest ? `; did you mean ${PREFIX}${nearest}?` : ''}`;
    });
}

/** The settings, whose warnings go to stderr. Throws ConfigError. */
export function settingsOf(): Config {
  const { config, warnings } = readConfig(process.env);
  for (const warning of warnings) console.error(warning);
  return config;
}
