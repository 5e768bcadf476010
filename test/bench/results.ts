import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Scanned } from './grep.ts';
import type { Loaded } from './job.ts';
import type { Machine } from './machine.ts';
import type { PeerKind } from './peer-questions.ts';
import type { Latency } from './statistics.ts';

/** Whose figures they are; `duckdb` is the engine alone. */
export const ENGINES = ['tailpond', 'duckdb', 'clickhouse', 'postgres'] as const;
export type EngineName = (typeof ENGINES)[number];

/** A value a run for each engine; runs of the same place belong together. An engine that is missing has none. */
export type PerEngine<T> = Readonly<Record<EngineName, readonly T[]>>;

export interface Ingest {
  readonly lines: number;
  readonly bytes: number;
  readonly loaded: PerEngine<Loaded>;
}

/** Bulk ingest of as many rows in each of the formats, run by run. */
export interface Formats {
  readonly rows: number;
  readonly formats: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly own: readonly StoredLines[];
    /** VictoriaLogs's; none where it is missing or cannot read the format. */
    readonly theirs: readonly StoredLines[];
  }[];
}

export interface Questions {
  readonly list: Latency;
  readonly counts: Latency;
}

export interface Engine {
  readonly asked: PerEngine<Questions>;
  readonly scanned: Scanned;
  /** Whether all engines gave the same answers. */
  readonly agree: boolean;
}

/** Times of each question: the first one after a start, not in the cache, in the cache (null: never is). */
export interface Http {
  readonly questions: readonly {
    readonly name: string;
    readonly first: Latency;
    readonly fresh: Latency;
    readonly cached: Latency | null;
  }[];
}

/** SQL of callers: ms of each question, by hand and as Studio asks it, run by run. */
export interface OwnSql {
  readonly questions: readonly {
    readonly name: string;
    readonly handMs: readonly number[];
    readonly ownMs: readonly number[];
    /** Reading the caller's text and writing it anew. */
    readonly translate: Latency;
  }[];
}

/** Search queries: ms of each, as SQL by hand and as `q=`, run by run; their rows are counted. */
export interface Searched {
  readonly rows: number;
  readonly questions: readonly {
    readonly name: string;
    readonly entries: number;
    readonly handMs: readonly number[];
    readonly ownMs: readonly number[];
  }[];
}

export interface Cached {
  readonly pairs: readonly { readonly tailpond: number; readonly express: number }[];
  readonly answerBytes: number;
  readonly duringIngest: readonly Latency[];
}

export interface Fresh {
  readonly runs: readonly Latency[];
  /** Processor time of the service by elapsed time, with the same lines and nobody asking. */
  readonly cores: readonly number[];
}

export interface Restart {
  readonly readyMs: readonly number[];
  readonly idleMb: readonly number[];
  readonly recoveries: readonly {
    readonly killedAt: number;
    readonly readyMs: number;
    readonly wholeMs: number;
  }[];
}

export interface Size {
  readonly rows: number;
  readonly inputBytes: number;
  readonly diskBytes: number;
  readonly ingestMs: number;
  readonly peakMb: number;
  readonly readyMs: readonly number[];
  readonly idleMb: number;
  readonly engine: Questions;
  readonly list: Latency;
  readonly counts: Latency;
  /** Answers of logs.all a second, eight clients at a time. */
  readonly listsPerSecond: number;
}

/** Questions of settled rows over HTTP, and at ClickHouse's engine and PostgreSQL, over a table of one form. */
export interface PeerTable {
  readonly rows: number;
  readonly projects: number;
  readonly arrays: boolean;
  readonly ingestPeakMb: number;
  /** The most until all rows were settled, ingest included. */
  readonly settledPeakMb: number;
  /** From the last line that was stored until all rows were settled. */
  readonly settleMs: number;
  /** Bytes of the store, settled, by bytes of input. */
  readonly diskShare: number;
  readonly questions: readonly {
    readonly name: string;
    readonly kind: PeerKind;
    readonly ms: number;
    /** Null where the engine is missing. */
    readonly clickhouseMs: number | null;
    readonly postgresMs: number | null;
    /** Whether all answers have as many rows. */
    readonly agree: boolean;
  }[];
}

export interface Peer {
  readonly tables: readonly PeerTable[];
}

/** What it took to store lines. */
export interface StoredLines {
  readonly ms: number;
  /** Of the processor, until the lines are found. */
  readonly seconds: number;
  /** Of the processor, until they are in the form in which they stay; null where that was not waited for. */
  readonly settledSeconds: number | null;
  readonly peakMb: number;
  readonly diskBytes: number;
}

/** The same lines in tailpond and in VictoriaLogs, and the medians of the same questions over HTTP. */
export interface VictoriaTable {
  readonly rows: number;
  readonly bytes: number;
  readonly projects: number;
  /** How often the lines were stored, and each question timed. */
  readonly runs: number;
  readonly times: number;
  readonly own: readonly StoredLines[];
  readonly theirs: readonly StoredLines[];
  readonly questions: readonly {
    readonly name: string;
    readonly ms: number;
    readonly theirMs: number;
  }[];
}

export interface VictoriaLogsResults {
  readonly version: string;
  readonly tables: readonly VictoriaTable[];
}

/** Requests of Studio's kind over the last 7 of 30 days of all sources, settled; ms of each. */
export interface Studio {
  readonly sizes: readonly {
    readonly rows: number;
    readonly settleMs: number;
    readonly idleMb: number;
    readonly requests: readonly { readonly name: string; readonly ms: number }[];
  }[];
}

/** Lines that a node forwards to ClickHouse, and the same lines that ClickHouse inserts by itself. */
export interface Forwarding {
  readonly lines: number;
  readonly alone: readonly { readonly ms: number; readonly processorSeconds: number }[];
  /** Until all rows have left the node. */
  readonly forwarded: readonly {
    readonly ms: number;
    readonly nodeSeconds: number;
    readonly serverSeconds: number;
    readonly peakMb: number;
  }[];
  /** Two nodes at once, each with all of the lines and a server of its own. */
  readonly two: readonly {
    readonly ms: number;
    readonly nodeSeconds: number;
    readonly serverSeconds: number;
  }[];
  /** From the write of a line to the first answer of logs.all that holds it, at 1,000 lines a second over all sources. */
  readonly fresh: readonly Latency[];
  /** What such lines cost the node and the server, processor seconds a second. */
  readonly cores: readonly { readonly node: number; readonly server: number }[];
  /** The endpoints over HTTP, of the lines in ClickHouse and in a store; null where a question is refused. */
  readonly answers: readonly {
    readonly name: string;
    readonly clickhouse: Latency | null;
    readonly store: Latency | null;
  }[];
  /** SQL of callers in ClickHouse's dialect, of one project, that ClickHouse is asked itself, and over fetched rows; null where it is refused. */
  readonly dialect: readonly {
    readonly name: string;
    readonly asked: Latency | null;
    readonly fetched: Latency | null;
  }[];
}

/** Everything that was measured; a section that was not is absent. */
export interface Results {
  readonly machine: Machine;
  readonly measured: Readonly<Record<string, { date: string; rows: number; runs: number }>>;
  readonly ingest?: Ingest;
  readonly formats?: Formats;
  readonly engine?: Engine;
  readonly http?: Http;
  readonly sql?: OwnSql;
  readonly search?: Searched;
  readonly peer?: Peer;
  readonly victorialogs?: VictoriaLogsResults;
  readonly studio?: Studio;
  readonly cached?: Cached;
  readonly fresh?: Fresh;
  readonly restart?: Restart;
  readonly scale?: { readonly sizes: readonly Size[] };
  readonly cluster?: Forwarding;
}

/** Not in git; a run replaces the sections that it measured. */
const FILE = join(dirname(fileURLToPath(import.meta.url)), '.results/results.json');

/** The results of earlier runs; null when there are none. */
export function readResults(): Results | null {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : null;
}

/** Keeps the results and says where. */
export function keepResults(results: Results): string {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
  return FILE;
}
