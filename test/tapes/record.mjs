#!/usr/bin/env node
// Records what a log rotator does to files, as a "tape" that replay.mjs plays back.
//
//   node record.mjs <name>...     records the tapes with these names (see recordings.json)
//   node record.mjs --all         records every tape
//   node record.mjs --convert <trace> <folder> <tape>     turns an existing strace output into a tape
//
// A recording runs the program under strace in the empty folder build/run/<name>.
// The trace goes to raw/<name>.strace, the tape to tapes/<name>.jsonl. The names and
// SHA-1 sums of the files that the program left go to trees.json; check.mjs compares
// a played tape with them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listTree } from './replay.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** A pause longer than this many seconds is put on the tape as "rest". */
const REST_SECONDS = 0.2;

/** Runs of equal characters that are at least this long are written as [character, count]. */
const MIN_RUN = 64;

const TRACED_CALLS = [
  'open',
  'openat',
  'openat2',
  'creat',
  'close',
  'close_range',
  'write',
  'pwrite64',
  'writev',
  'pwritev',
  'pwritev2',
  'rename',
  'renameat',
  'renameat2',
  'unlink',
  'unlinkat',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'truncate',
  'ftruncate',
  'fallocate',
  'mkdir',
  'mkdirat',
  'rmdir',
  'copy_file_range',
  'sendfile',
  'splice',
  'ioctl',
  'lseek',
  'dup',
  'dup2',
  'dup3',
  'fcntl',
  'clone',
  'clone3',
  'fork',
  'vfork',
  'execve',
  'chdir',
  'fchdir',
  'io_uring_setup',
];

// ---------------------------------------------------------------------------
// Reading strace output

/** Decodes the inside of a string that strace printed in hexadecimal (-xx). */
function decodeHex(text) {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/** Returns the bytes of a printed string argument. */
function stringArgument(argument) {
  if (argument === 'NULL') return Buffer.alloc(0);
  const match = /^"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?$/.exec(argument);
  if (!match) throw new Error(`not a string argument: ${argument.slice(0, 80)}`);
  if (match[2]) throw new Error('strace cut a string short; its -s is too small');
  return decodeHex(match[1]);
}

/** Splits the arguments of a call at the commas that are not inside brackets. */
function splitArguments(text) {
  const result = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') {
      i = text.indexOf('"', i + 1);
    } else if (c === '[' || c === '{' || c === '(') {
      depth++;
    } else if (c === ']' || c === '}' || c === ')') {
      depth--;
    } else if (c === ',' && depth === 0) {
      result.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  const last = text.slice(start).trim();
  if (last !== '') result.push(last);
  return result;
}

/** Splits `12</path>` into the descriptor's number and the path that strace noted beside it. */
function descriptorArgument(argument) {
  const match = /^(AT_FDCWD|-?\d+)(?:<(.*?)>)?/.exec(argument);
  if (!match) throw new Error(`not a descriptor: ${argument}`);
  const noted = match[2]?.startsWith('\\x') ? decodeHex(match[2]).toString() : undefined;
  return { fd: match[1] === 'AT_FDCWD' ? null : Number(match[1]), noted };
}

/**
 * Reads a trace and returns its events in order. Calls that strace split into
 * "unfinished" and "resumed" are joined: they count where they were resumed.
 * A split close is the exception. It counts where it began, because another
 * thread can get the same number before the close is seen to end.
 */
function readEvents(file) {
  const events = [];
  const unfinished = new Map();
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const match = /^(\d+)\s+(\d+\.\d+) (.*)$/s.exec(line);
    if (!match) continue;
    const pid = Number(match[1]);
    const time = Number(match[2]);
    let text = match[3];
    if (text.startsWith('---')) continue;
    if (text.startsWith('+++')) {
      if (/exited|killed/.test(text)) events.push({ pid, time, name: 'exit' });
      continue;
    }
    if (text.endsWith('<unfinished ...>')) {
      text = text.slice(0, -'<unfinished ...>'.length);
      if (text.startsWith('close(')) {
        text = `${text.trimEnd()}) = 0`;
      } else {
        unfinished.set(pid, text);
        events.push({ pid, time, name: 'begin' });
        continue;
      }
    } else if (text.startsWith('<... ')) {
      const begun = unfinished.get(pid);
      unfinished.delete(pid);
      if (begun === undefined) continue;
      text = begun + text.slice(text.indexOf('resumed>') + 'resumed>'.length);
    }
    const call = /^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)/s.exec(text);
    if (!call) continue;
    const result = call[3] === '?' ? -1 : Number(call[3]);
    events.push({ pid, time, name: call[1], args: call[2], result });
  }
  return events;
}

// ---------------------------------------------------------------------------
// Following processes and descriptors

/** The descriptors of a process; threads of one process share it. */
class DescriptorTable {
  constructor() {
    this.entries = new Map();
    this.users = 1;
  }

  copy() {
    const copy = new DescriptorTable();
    for (const [fd, entry] of this.entries) {
      entry.file.references++;
      copy.entries.set(fd, { ...entry });
    }
    return copy;
  }
}

/** Turns the events of a trace into the operations of a tape. */
class Converter {
  constructor(folder, events) {
    this.folder = folder;
    this.events = events;
    this.operations = [];
    this.processes = new Map();
    this.parents = new Map();
    for (const event of events) {
      if (/^(clone3?|v?fork)$/.test(event.name) && event.result > 0) {
        this.parents.set(event.result, { pid: event.pid, args: event.args });
      }
    }
  }

  convert() {
    const first = this.events[0].pid;
    this.processes.set(first, { table: new DescriptorTable(), directory: { path: this.folder } });
    for (const event of this.events) {
      this.event = event;
      this.process = this.processOf(event.pid);
      if (event.name === 'exit') {
        this.releaseTable(this.process.table);
        this.processes.delete(event.pid);
      } else if (event.name !== 'begin' && event.result >= 0) {
        this[`on_${event.name}`]?.(splitArguments(event.args), event.result);
      }
    }
    return this.finish();
  }

  /** Returns a process; one that was not seen before inherits from its parent. */
  processOf(pid) {
    let process = this.processes.get(pid);
    if (process) return process;
    const birth = this.parents.get(pid);
    if (!birth) throw new Error(`process ${pid} has no known parent`);
    const parent = this.processOf(birth.pid);
    let table = parent.table;
    if (birth.args.includes('CLONE_FILES')) table.users++;
    else table = table.copy();
    const directory = birth.args.includes('CLONE_FS') ? parent.directory : { ...parent.directory };
    process = { table, directory };
    this.processes.set(pid, process);
    return process;
  }

  /** Resolves a path argument; returns it relative to the folder, or null when it is outside. */
  resolve(argument, directoryArgument) {
    const name = stringArgument(argument).toString();
    const noted = directoryArgument && descriptorArgument(directoryArgument).noted;
    return this.relative(path.resolve(noted ?? this.process.directory.path, name));
  }

  relative(absolute) {
    return absolute.startsWith(`${this.folder}/`) ? absolute.slice(this.folder.length + 1) : null;
  }

  /** Returns the open file behind a descriptor argument, or undefined for a directory or a file elsewhere. */
  file(argument) {
    return this.process.table.entries.get(descriptorArgument(argument).fd)?.file;
  }

  /** Like file(), but a descriptor that strace notes as one in the folder must be known. */
  changedFile(argument) {
    const { fd, noted } = descriptorArgument(argument);
    const file = this.file(argument);
    if (!file && noted && this.relative(noted) !== null)
      this.problem(`descriptor ${fd} is not known`);
    return file;
  }

  problem(text) {
    throw new Error(`${text}, in: ${this.event.name}(${String(this.event.args).slice(0, 200)})`);
  }

  put(operation) {
    this.operations.push({ ...operation, time: this.event.time });
  }

  /** Drops a descriptor; the file is closed when this was its last one. */
  drop(table, fd) {
    const entry = table.entries.get(fd);
    if (!entry) return;
    table.entries.delete(fd);
    if (--entry.file.references === 0) this.put({ op: 'close', file: entry.file });
  }

  releaseTable(table) {
    if (--table.users > 0) return;
    for (const fd of [...table.entries.keys()]) this.drop(table, fd);
  }

  // Opening and closing

  opened(relative, flags, fd) {
    this.drop(this.process.table, fd);
    if (relative === null || /O_DIRECTORY|O_PATH/.test(flags)) return;
    if (flags.includes('O_TMPFILE')) this.problem('O_TMPFILE is not supported');
    const file = {
      writable: /O_WRONLY|O_RDWR/.test(flags),
      append: flags.includes('O_APPEND'),
      used: /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(flags), // is false for files that are only read
      references: 1,
      position: 0, // where the program's next write goes
      tapePosition: 0, // where replay would put it without being told
    };
    this.process.table.entries.set(fd, { file, closeOnExec: flags.includes('O_CLOEXEC') });
    this.put({
      op: 'open',
      file,
      path: relative,
      append: file.append,
      create: flags.includes('O_CREAT'),
      truncate: flags.includes('O_TRUNC'),
      exclusive: flags.includes('O_EXCL'),
      ...(file.writable ? {} : { read: true }),
    });
  }

  on_open([name, flags], result) {
    this.opened(this.resolve(name), flags, result);
  }

  on_openat([directory, name, flags], result) {
    this.opened(this.resolve(name, directory), flags, result);
  }

  on_openat2(args, result) {
    this.on_openat(args, result);
  }

  on_creat([name], result) {
    this.opened(this.resolve(name), 'O_WRONLY|O_CREAT|O_TRUNC', result);
  }

  on_close([fd]) {
    this.drop(this.process.table, descriptorArgument(fd).fd);
  }

  on_close_range([first, last, flags]) {
    const limit = /^\d+/.test(last) ? Number.parseInt(last, 10) : Infinity;
    for (const [fd, entry] of [...this.process.table.entries]) {
      if (fd < Number.parseInt(first, 10) || fd > limit) continue;
      if (flags.includes('CLOEXEC')) entry.closeOnExec = true;
      else this.drop(this.process.table, fd);
    }
  }

  duplicate(from, fd, closeOnExec) {
    const file = this.file(from);
    if (descriptorArgument(from).fd === fd) return;
    if (file) file.references++;
    this.drop(this.process.table, fd);
    if (file) this.process.table.entries.set(fd, { file, closeOnExec });
  }

  on_dup([from], result) {
    this.duplicate(from, result, false);
  }

  on_dup2([from], result) {
    this.duplicate(from, result, false);
  }

  on_dup3([from, , flags], result) {
    this.duplicate(from, result, flags.includes('O_CLOEXEC'));
  }

  on_fcntl([fd, command, argument], result) {
    if (command.startsWith('F_DUPFD')) {
      this.duplicate(fd, result, command === 'F_DUPFD_CLOEXEC');
    } else if (command === 'F_SETFD') {
      const entry = this.process.table.entries.get(descriptorArgument(fd).fd);
      if (entry) entry.closeOnExec = argument.includes('FD_CLOEXEC');
    } else if (command === 'F_SETFL') {
      const file = this.file(fd);
      if (file?.writable && argument.includes('O_APPEND') !== file.append)
        this.problem('O_APPEND is changed later');
    }
  }

  // Processes

  on_clone(_, result) {
    this.processOf(result);
  }

  on_clone3(_, result) {
    this.processOf(result);
  }

  on_fork(_, result) {
    this.processOf(result);
  }

  on_vfork(_, result) {
    this.processOf(result);
  }

  on_execve() {
    const { process } = this;
    if (process.table.users > 1) {
      process.table.users--;
      process.table = process.table.copy();
    }
    for (const [fd, entry] of [...process.table.entries]) {
      if (entry.closeOnExec) this.drop(process.table, fd);
    }
  }

  on_chdir([name]) {
    const { directory } = this.process;
    directory.path = path.resolve(directory.path, stringArgument(name).toString());
  }

  on_fchdir([fd]) {
    this.process.directory.path = descriptorArgument(fd).noted;
  }

  on_io_uring_setup() {
    this.problem('io_uring hides file operations from strace');
  }

  // Contents

  /** Puts down a write of `data`; `at` is given for writes with an offset of their own. */
  written(file, data, at) {
    if (!file || data.length === 0) return;
    const operation = { op: 'write', file, ...encodeData(data) };
    if (!file.append) {
      const start = at ?? file.position;
      if (start !== file.tapePosition || at !== undefined) operation.at = start;
      file.tapePosition = start + data.length;
      if (at === undefined) file.position = file.tapePosition;
    }
    this.put(operation);
  }

  on_write([fd, text], result) {
    const file = this.changedFile(fd);
    if (file) this.written(file, stringArgument(text).subarray(0, result));
  }

  on_pwrite64([fd, text, , offset], result) {
    const file = this.changedFile(fd);
    if (file) this.written(file, stringArgument(text).subarray(0, result), Number(offset));
  }

  on_writev([fd, vectors, , offset], result) {
    const file = this.changedFile(fd);
    if (!file) return;
    const parts = [...vectors.matchAll(/iov_base=("[^"]*"(?:\.\.\.)?)/g)].map((match) =>
      stringArgument(match[1]),
    );
    this.written(
      file,
      Buffer.concat(parts).subarray(0, result),
      offset === undefined ? undefined : Number(offset),
    );
  }

  on_pwritev(args, result) {
    this.on_writev(args, result);
  }

  on_pwritev2(args) {
    if (this.file(args[0])) this.problem('pwritev2 is not supported');
  }

  on_lseek([fd], result) {
    const file = this.file(fd);
    if (file) file.position = result;
  }

  on_ftruncate([fd, size]) {
    const file = this.changedFile(fd);
    if (file) this.put({ op: 'truncate', file, size: Number(size) });
  }

  on_truncate([name, size]) {
    const target = this.resolve(name);
    if (target !== null) this.put({ op: 'truncate', path: target, size: Number(size) });
  }

  on_fallocate([fd]) {
    if (this.file(fd)) this.problem('fallocate is not supported');
  }

  on_splice([from, , to]) {
    if (this.file(from) || this.file(to)) this.problem('splice is not supported');
  }

  on_ioctl([fd, command]) {
    const entry = this.process.table.entries.get(descriptorArgument(fd).fd);
    if (entry && command === 'FIOCLEX') entry.closeOnExec = true;
    if (entry && command === 'FIONCLEX') entry.closeOnExec = false;
    if (command.includes('FICLONE') && this.file(fd)) this.problem('FICLONE is not supported');
  }

  /** Puts down a copy that the kernel made. Offsets are given only where they do not simply continue. */
  copied(from, fromOffset, to, toOffset, bytes) {
    if (!from && !to) return;
    if (!from || !to) this.problem('a copy across the border of the folder is not supported');
    if (bytes === 0) return;
    from.used = true;
    const operation = { op: 'copy', from, to, bytes };
    const begin = (file, offset, key) => {
      const own = /^\[(\d+)/.exec(offset);
      const start = own ? Number(own[1]) : file.position;
      if (start !== file.tapePosition) operation[key] = start;
      file.tapePosition = start + bytes;
      if (!own) file.position = file.tapePosition;
    };
    begin(from, fromOffset, 'fromAt');
    if (!to.append) begin(to, toOffset, 'at');
    this.put(operation);
  }

  on_copy_file_range([from, fromOffset, to, toOffset], result) {
    this.copied(this.changedFile(from), fromOffset, this.changedFile(to), toOffset, result);
  }

  on_sendfile([to, from, fromOffset], result) {
    this.copied(this.changedFile(from), fromOffset, this.changedFile(to), 'NULL', result);
  }

  // Names

  named(op, from, to) {
    if (from === null && to === null) return;
    if (from === null || to === null) this.problem('a name moves across the border of the folder');
    this.put({ op, from, to });
  }

  on_rename([from, to]) {
    this.named('rename', this.resolve(from), this.resolve(to));
  }

  on_renameat([fromDirectory, from, toDirectory, to]) {
    this.named('rename', this.resolve(from, fromDirectory), this.resolve(to, toDirectory));
  }

  on_renameat2(args) {
    if (args[4].includes('RENAME_EXCHANGE')) this.problem('RENAME_EXCHANGE is not supported');
    this.on_renameat(args);
  }

  on_link([from, to]) {
    this.named('link', this.resolve(from), this.resolve(to));
  }

  on_linkat([fromDirectory, from, toDirectory, to]) {
    this.named('link', this.resolve(from, fromDirectory), this.resolve(to, toDirectory));
  }

  on_symlink([target, name]) {
    const link = this.resolve(name);
    if (link === null) return;
    // A link that names the folder itself would not work where the tape is played.
    let text = stringArgument(target).toString();
    if (this.relative(text) !== null)
      text = path.relative(path.dirname(`${this.folder}/${link}`), text);
    this.put({ op: 'symlink', target: text, path: link });
  }

  on_symlinkat([target, directory, name]) {
    const noted = descriptorArgument(directory).noted;
    if (
      noted &&
      this.relative(`${noted}/x`) === null &&
      !stringArgument(name).toString().startsWith('/')
    )
      return;
    this.on_symlink([target, name]);
  }

  pathOperation(op, target) {
    if (target !== null) this.put({ op, path: target });
  }

  on_unlink([name]) {
    this.pathOperation('unlink', this.resolve(name));
  }

  on_unlinkat([directory, name, flags]) {
    this.pathOperation(
      flags.includes('AT_REMOVEDIR') ? 'rmdir' : 'unlink',
      this.resolve(name, directory),
    );
  }

  on_mkdir([name]) {
    this.pathOperation('mkdir', this.resolve(name));
  }

  on_mkdirat([directory, name]) {
    this.pathOperation('mkdir', this.resolve(name, directory));
  }

  on_rmdir([name]) {
    this.pathOperation('rmdir', this.resolve(name));
  }

  /** Leaves out files that were only read, numbers the others and puts in the rests. */
  finish() {
    const numbers = new Map();
    const number = (file) => {
      if (!numbers.has(file)) numbers.set(file, numbers.size + 1);
      return numbers.get(file);
    };
    const result = [];
    let last = Infinity;
    for (const { time, ...operation } of this.operations) {
      if (operation.file && !operation.file.used) continue;
      for (const key of ['file', 'from', 'to']) {
        if (typeof operation[key] === 'object') operation[key] = number(operation[key]);
      }
      if (time - last > REST_SECONDS) result.push({ op: 'rest' });
      last = time;
      result.push(operation);
    }
    return result;
  }
}

// ---------------------------------------------------------------------------
// Writing the tape

/** Encodes written bytes: text where they are UTF-8, otherwise base64. */
export function encodeData(data) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return { base64: data.toString('base64') };
  }
  const parts = [];
  let start = 0;
  for (const match of text.matchAll(new RegExp(`(.)\\1{${MIN_RUN - 1},}`, 'gsu'))) {
    if (match.index > start) parts.push(text.slice(start, match.index));
    parts.push([match[1], match[0].length / match[1].length]);
    start = match.index + match[0].length;
  }
  if (start < text.length) parts.push(text.slice(start));
  return { text: parts };
}

/** Turns a trace into a tape and returns its operations. */
function convert(trace, folder, tape) {
  const operations = new Converter(path.resolve(folder), readEvents(trace)).convert();
  writeFileSync(tape, operations.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
  return operations;
}

/** Runs a program under strace in an empty folder and turns what it did into a tape. */
function record({ name, command }) {
  const folder = path.join(HERE, 'build/run', name);
  const trace = path.join(HERE, 'raw', `${name}.strace`);
  rmSync(folder, { recursive: true, force: true });
  for (const needed of [folder, path.dirname(trace), path.join(HERE, 'tapes')])
    mkdirSync(needed, { recursive: true });
  const options = ['--seccomp-bpf', '-f', '-ttt', '-y', '-xx', '-s', '10000000', '-o', trace];
  const { status, error } = spawnSync(
    'strace',
    [...options, '-e', `trace=${TRACED_CALLS}`, 'sh', '-c', `exec ${command}`],
    {
      cwd: folder,
      env: { ...process.env, TAPES: HERE, NAME: name, UV_USE_IO_URING: '0' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (status !== 0)
    throw new Error(`${name}: the program ended with ${error ?? `status ${status}`}`);
  const operations = convert(trace, folder, path.join(HERE, 'tapes', `${name}.jsonl`));
  const treesFile = path.join(HERE, 'trees.json');
  const trees = existsSync(treesFile) ? JSON.parse(readFileSync(treesFile, 'utf8')) : {};
  trees[name] = listTree(folder);
  const sorted = Object.fromEntries(Object.entries(trees).sort());
  writeFileSync(treesFile, `${JSON.stringify(sorted, null, 1)}\n`);
  console.log(
    `${name}: ${operations.length} operations, left: ${Object.keys(trees[name]).join(' ')}`,
  );
}

function main(args) {
  if (args[0] === '--convert') {
    convert(args[1], args[2], args[3]);
    return;
  }
  const recordings = JSON.parse(readFileSync(path.join(HERE, 'recordings.json'), 'utf8'));
  const names = args[0] === '--all' ? recordings.map(({ name }) => name) : args;
  for (const name of names) {
    const recording = recordings.find((candidate) => candidate.name === name);
    if (!recording) throw new Error(`recordings.json has no ${name}`);
    try {
      record(recording);
    } catch (error) {
      console.error(`${name}: ${error.message}`);
      process.exitCode = 1;
    }
  }
}

main(process.argv.slice(2));
