#!/usr/bin/env node
// Plays a tape in an empty folder, with real files.
//
//   node replay.mjs <tape> <folder>

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Reads the operations of a tape. */
export function readTape(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Returns the bytes of a write operation. */
export function decodeData({ text, base64 }) {
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  return Buffer.from(
    text.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join(''),
  );
}

/** Plays the operations of one tape in a folder, one at a time. */
export class Player {
  constructor(folder) {
    this.folder = folder;
    this.files = new Map();
  }

  /** Does one operation. A "rest" does nothing here; the caller may wait or look at the files then. */
  play(operation) {
    const at = (name) => path.join(this.folder, name);
    switch (operation.op) {
      case 'open': {
        let flags = operation.read ? constants.O_RDONLY : constants.O_RDWR;
        if (operation.append) flags |= constants.O_APPEND;
        if (operation.create) flags |= constants.O_CREAT;
        if (operation.truncate) flags |= constants.O_TRUNC;
        if (operation.exclusive) flags |= constants.O_EXCL;
        const fd = openSync(at(operation.path), flags, 0o644);
        this.files.set(operation.file, { fd, append: operation.append, position: 0 });
        break;
      }
      case 'write':
        this.#write(this.files.get(operation.file), decodeData(operation), operation.at);
        break;
      case 'copy': {
        const from = this.files.get(operation.from);
        const data = Buffer.alloc(operation.bytes);
        const start = operation.fromAt ?? from.position;
        if (readSync(from.fd, data, 0, data.length, start) !== data.length)
          throw new Error('the source is too short');
        from.position = start + data.length;
        this.#write(this.files.get(operation.to), data, operation.at);
        break;
      }
      case 'truncate':
        if (operation.path === undefined)
          ftruncateSync(this.files.get(operation.file).fd, operation.size);
        else truncateSync(at(operation.path), operation.size);
        break;
      case 'rename':
        renameSync(at(operation.from), at(operation.to));
        break;
      case 'link':
        linkSync(at(operation.from), at(operation.to));
        break;
      case 'symlink':
        symlinkSync(operation.target, at(operation.path));
        break;
      case 'unlink':
        unlinkSync(at(operation.path));
        break;
      case 'mkdir':
        mkdirSync(at(operation.path));
        break;
      case 'rmdir':
        rmdirSync(at(operation.path));
        break;
      case 'close':
        closeSync(this.files.get(operation.file).fd);
        this.files.delete(operation.file);
        break;
      case 'rest':
        break;
      default:
        throw new Error(`unknown operation ${operation.op}`);
    }
  }

  /** Closes what the tape left open. */
  end() {
    for (const { fd } of this.files.values()) closeSync(fd);
    this.files.clear();
  }

  /** Writes at the end of a file opened for appending, else where the last write ended or at `at`. */
  #write(file, data, at) {
    if (!file.append) file.position = at ?? file.position;
    for (let done = 0; done < data.length; ) {
      done += writeSync(
        file.fd,
        data,
        done,
        data.length - done,
        file.append ? null : file.position + done,
      );
    }
    file.position += data.length;
  }
}

/** Returns what a folder holds: names with SHA-1 sums, "directory", or "-> target" for symbolic links. */
export function listTree(folder, prefix = '') {
  const tree = {};
  const entries = readdirSync(path.join(folder, prefix), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = prefix + entry.name;
    const absolute = path.join(folder, name);
    if (entry.isDirectory())
      Object.assign(tree, { [name]: 'directory' }, listTree(folder, `${name}/`));
    else if (entry.isSymbolicLink())
      tree[name] =
        `-> ${path.relative(folder, path.resolve(path.dirname(absolute), readlinkSync(absolute)))}`;
    else tree[name] = createHash('sha1').update(readFileSync(absolute)).digest('hex');
  }
  return tree;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tape, folder] = process.argv.slice(2);
  const player = new Player(folder);
  for (const operation of readTape(tape)) player.play(operation);
  player.end();
}
