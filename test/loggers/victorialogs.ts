/**
 * Sends the samples to a new VictoriaLogs, and prints how many rows have the right facts there, beside tailpond:
 *
 *     victoria-logs -storageDataPath=NEW -retentionPeriod=100y -syslog.listenAddr.tcp=127.0.0.1:5140
 *     node --import=tsx test/loggers/victorialogs.ts http://127.0.0.1:9428 5140
 *
 * Each line takes the way that VictoriaLogs's documentation has for it: JSON goes to its endpoint of JSON lines, lines of syslog to its
 * listener, and the export of journald to its own endpoint. Other text has no endpoint: a shipper sends each line as a message.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { severityOf } from '../../server/lines/index.ts';
import {
  FACTS,
  type Facts,
  factsOf,
  linesOf,
  type Reading,
  type Row,
  readingsOf,
  rowsOf,
  type Sample,
  samples,
  wrongFacts,
} from './judge.ts';

const [, , url = '', port = ''] = process.argv;
const began = Date.now();
const JOURNALD = 'journald-export';
/** Until a line of syslog is found. */
const FOUND_MS = 10_000;

/** The names of fields that it is told for JSON. By itself it knows `_msg` and `_time` alone. */
const NAMES: readonly (readonly [title: string, names: Readonly<Record<string, string>>])[] = [
  ['its defaults', {}],
  [
    'with the names of its manual for shippers',
    { _msg_field: 'message,log,MESSAGE', _time_field: '@timestamp,timestamp,date' },
  ],
  [
    'with the names of all loggers here',
    {
      _msg_field:
        'message,msg,event,short_message,@message,@m,@mt,Message,fields.message,record.message,0,log,MESSAGE,request',
      _time_field:
        '@timestamp,timestamp,time,ts,datetime,@t,Timestamp,t.$date,_meta.date,StartUTC,__REALTIME_TIMESTAMP',
    },
  ],
];

/** A row as VictoriaLogs answers it. */
type Stored = Readonly<Record<string, string>>;

async function ask(path: string, query: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} gave ${response.status}: ${text}`);
  return text;
}

async function found(query: string): Promise<Stored[]> {
  await ask('/internal/force_flush', {});
  const lines = (await ask('/select/logsql/query', { query })).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** Sends a body. An answer other than 200 means that it could read no line, which the rows show anyway. */
async function send(
  path: string,
  fields: Readonly<Record<string, string>>,
  body: string | Buffer,
  type = 'application/stream+json',
): Promise<void> {
  const query = new URLSearchParams(fields);
  await fetch(`${url}${path}?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body,
  });
}

/** Stores the lines of a sample, each with the number of lines before it. */
async function storeLines(sample: Sample, names: Readonly<Record<string, string>>): Promise<void> {
  const lines = linesOf(sample).flatMap((line, at) => {
    const place = `${sample.name}:${at}`;
    if (line.trim() === '') return [];
    if (!line.startsWith('{')) return [JSON.stringify({ place, _msg: line })];
    return [`{"place":"${place}",${line.slice(1)}`];
  });
  await send('/insert/jsonline', names, lines.join('\n'));
}

/** Stores the entries of journald's export, which a blank line separates. */
async function storeJournal(extra: string): Promise<void> {
  const file = readFileSync(new URL(`samples/${JOURNALD}.log`, import.meta.url), 'latin1');
  let at = 0;
  for (const entry of file.split('\n\n')) {
    const body = Buffer.from(`${entry.trimEnd()}\n\n`, 'latin1');
    const fields = { extra_fields: `${extra},place=${JOURNALD}:${at}` };
    await send('/insert/journald/upload', fields, body, 'application/vnd.fdo.journal');
    at += entry.split('\n').length + 1;
  }
}

/** Stores a line of syslog. Returns the row; its listener lets no place be added, so it is the only new row without one. */
async function storeSyslog(line: string): Promise<Stored | undefined> {
  const before = (await found('format:rfc*')).map((row) => JSON.stringify(row));
  const socket = connect(Number(port), new URL(url).hostname);
  socket.end(`${line}\n`);
  await once(socket.resume(), 'close');
  for (const until = Date.now() + FOUND_MS; Date.now() < until; await delay(50)) {
    const after = await found('format:rfc*');
    if (after.length > before.length)
      return after.find((row) => !before.includes(JSON.stringify(row))) ?? after[0];
  }
  return undefined;
}

const syslog = new Map<string, Stored>();
for (const sample of samples.filter(({ format }) => format === 'syslog'))
  for (const [at, line] of linesOf(sample).entries()) {
    const row = await storeSyslog(line);
    if (row) syslog.set(`${sample.name}:${at}`, row);
  }

/** Returns what became of each row of the samples. */
async function readings(run: number, names: Readonly<Record<string, string>>): Promise<Reading[]> {
  const extra = `run=${began}-${run}`;
  await storeJournal(extra);
  for (const sample of samples)
    if (sample.format !== 'syslog' && sample.name !== JOURNALD)
      await storeLines(sample, { ...names, extra_fields: extra });
  const rows = new Map(syslog);
  for (const row of await found(`run:="${began}-${run}"`)) rows.set(row.place ?? '', row);
  return samples.flatMap((sample) =>
    rowsOf(sample).map(({ row, at }): Reading => {
      const places = Array.from({ length: row.lines }, (_, n) => `${sample.name}:${at + n}`);
      const stored = places.map((place) => rows.get(place)).filter((each) => each !== undefined);
      const [only] = stored;
      if (!only || stored.length > 1) return { row, found: `${stored.length} entries for one row` };
      return { row, found: factsIn(only) };
    }),
  );
}

/** Reads its facts where its documentation has them: it sets `level` for syslog and journald, and charts by it. */
function factsIn({ _time = '', _msg = '', level = '', status = '' }: Stored): Facts {
  const time = Date.parse(_time);
  return {
    // The time of ingestion.
    time: time >= began ? null : time,
    message: _msg.startsWith('missing _msg field') ? '' : _msg.trim(),
    severity: /^\d/.test(level) ? null : severityOf(level),
    status: /^\d{3}$/.test(status) ? Number(status) : null,
  };
}

/** Counts the rows whose fact is right, of those that have one; then those with all four right, and those that are not a row of their own. */
function line(title: string, all: readonly Reading[]): string {
  const wrong = all.map(wrongFacts);
  const right = (fact: keyof Facts) =>
    all.filter(({ row }, n) => has(row, fact) && !wrong[n]?.includes(fact)).length;
  const whole = (kind?: string) =>
    wrong.filter((faults, n) => faults.length === 0 && (kind ?? kinds[n]) === kinds[n]).length;
  const lost = all.filter(({ found: what }) => typeof what === 'string' && what.startsWith('0 '));
  return cells(title, ...FACTS.map(right), whole(), ...KINDS.map(whole), lost.length);
}

function has(row: Row, fact: keyof Facts): boolean {
  const value = factsOf(row)[fact];
  return value !== null && value !== '';
}

function cells(...values: readonly (string | number)[]): string {
  return `| ${values.join(' | ')} |`;
}

const KINDS = ['JSON', 'syslog and journald', 'other text'] as const;
const kinds = samples.flatMap(({ name, format, rows }) => {
  const isSyslog = format === 'syslog' || name === JOURNALD;
  const kind = isSyslog ? KINDS[1] : format === 'json' ? KINDS[0] : KINDS[2];
  return rows.map(() => kind);
});
const own = samples.flatMap(readingsOf);
const having = (fact: keyof Facts) => own.filter(({ row }) => has(row, fact)).length;
const ofKind = (kind: string) => kinds.filter((each) => each === kind).length;

console.log(cells('rows', ...FACTS, 'all four', ...KINDS, 'no row'));
console.log(cells(...Array.from({ length: 10 }, () => '---')));
console.log(cells('that have it', ...FACTS.map(having), own.length, ...KINDS.map(ofKind), ''));
for (const [run, [title, names]] of NAMES.entries())
  console.log(line(`VictoriaLogs, ${title}`, await readings(run, names)));
console.log(line('tailpond', own));
