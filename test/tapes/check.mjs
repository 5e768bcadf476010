#!/usr/bin/env node
// Checks tapes: playing one must leave exactly what the program left, and no line may be missing on it.
//
//   node check.mjs [<name>...]     checks these tapes, or all that recordings.json lists
//
// Prints the lines, rotations and operations of each tape.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeData, listTree, Player, readTape } from './replay.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** Plays a tape in a temporary folder and returns what it leaves there. */
function playedTree(operations) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tape-'));
  try {
    const player = new Player(folder);
    operations.forEach((operation, index) => {
      try {
        player.play(operation);
      } catch (error) {
        throw new Error(`operation ${index + 1}: ${error.message}`);
      }
    });
    player.end();
    return listTree(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Collects the lines that were written to uncompressed files. A rotation is
 * counted whenever new lines begin to go into another file, or into the same
 * file after it was emptied.
 */
export function countLines(operations) {
  const names = new Map(); // path -> { generation, size } of the file
  const open = new Map(); // number -> { node, rest: text after the last newline }
  const seen = new Map(); // id -> how often it was written
  const places = new Set();
  let created = 0;
  const emptied = (node) => {
    if (node.size > 0) node.generation = ++created;
    node.size = 0;
  };
  for (const operation of operations) {
    if (operation.op === 'open') {
      let node = names.get(operation.path);
      if (!node) {
        node = { generation: ++created, size: 0 };
        names.set(operation.path, node);
      }
      if (operation.truncate) emptied(node);
      open.set(operation.file, { node, rest: Buffer.alloc(0) });
    } else if (operation.op === 'symlink') {
      const target = path.join(path.dirname(operation.path), operation.target);
      if (names.has(target)) names.set(operation.path, names.get(target));
    } else if (operation.op === 'rename') {
      const moved = [...names].filter(
        ([name]) => name === operation.from || name.startsWith(`${operation.from}/`),
      );
      for (const [name, node] of moved) {
        names.delete(name);
        names.set(operation.to + name.slice(operation.from.length), node);
      }
    } else if (operation.op === 'link') {
      names.set(operation.to, names.get(operation.from));
    } else if (operation.op === 'unlink') {
      names.delete(operation.path);
    } else if (operation.op === 'truncate' && operation.size === 0) {
      const node =
        operation.path === undefined ? open.get(operation.file).node : names.get(operation.path);
      if (node) emptied(node);
    } else if (operation.op === 'write') {
      const file = open.get(operation.file);
      const data = Buffer.concat([file.rest, decodeData(operation)]);
      const end = data.lastIndexOf(10) + 1;
      file.rest = data.subarray(end);
      file.node.size += data.length;
      for (const line of data.subarray(0, end).toString().split('\n')) {
        const id = /"id":"(.*?-\d+)"/.exec(line)?.[1];
        if (!id) continue;
        JSON.parse(line);
        if (!seen.has(id)) places.add(file.node.generation);
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
    }
  }
  return { seen, rotations: places.size - 1 };
}

/** Checks one tape and returns its figures; throws when something is wrong. */
function check({ name, lines }) {
  const file = path.join(HERE, 'tapes', `${name}.jsonl`);
  const operations = readTape(file);
  const expected = JSON.parse(readFileSync(path.join(HERE, 'trees.json'), 'utf8'))[name];
  const left = playedTree(operations);
  for (const key of new Set([...Object.keys(expected), ...Object.keys(left)])) {
    if (expected[key] !== left[key])
      throw new Error(`${key} is ${left[key]}, the program left ${expected[key]}`);
  }
  const { seen, rotations } = countLines(operations);
  for (let n = 0; n < lines; n++) {
    if (!seen.has(`${name}-${n}`)) throw new Error(`line ${n} is missing`);
  }
  if (seen.size !== lines) throw new Error(`${seen.size} different lines instead of ${lines}`);
  if (rotations < 4) throw new Error(`only ${rotations} rotations`);
  return { lines, rotations, operations: operations.length, bytes: statSync(file).size };
}

const recordings = JSON.parse(readFileSync(path.join(HERE, 'recordings.json'), 'utf8'));
const wanted = process.argv.slice(2);
for (const recording of recordings) {
  if (wanted.length > 0 && !wanted.includes(recording.name)) continue;
  if (wanted.length === 0 && !existsSync(path.join(HERE, 'tapes', `${recording.name}.jsonl`))) {
    console.log(`${recording.name}: no tape`);
    continue;
  }
  try {
    console.log(`${recording.name}: ok ${JSON.stringify(check(recording))}`);
  } catch (error) {
    console.log(`${recording.name}: WRONG: ${error.message}`);
    process.exitCode = 1;
  }
}
