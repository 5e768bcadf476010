import { folderOf, namesOf, originalsOf, rotationRank } from '../files/names.ts';
import type { Entry } from '../files/scan.ts';
import type { FileState, Proof } from '../types.ts';
import { proofAt } from './proofs.ts';

/**
 * Why a file might hold a stream, the strongest first: its inode, its path, its path with `.gz`, a name that a rotation makes of the
 * stream's, a name that is another rotation of the same log. Of two files that are both there the last makes a copy, and nothing else.
 */
export type Relation = 'same-file' | 'same-path' | 'unpacked' | 'rotation' | 'other-rotation';

/** The streams that are known, and those that a file might hold: found by what was indexed of them, never by a walk over all. */
export interface Streams {
  readonly size: number;
  /** An id that no stream has had. */
  newId(): number;
  get(id: number): FileState | undefined;
  /** The ids, in the order in which the streams became known. */
  ids(): Iterable<number>;
  /** Remembers a stream in place of what was known of it; `unlinked`: no path leads to its file. */
  put(state: FileState, unlinked?: boolean): void;
  remove(id: number): void;
  /** Notes the first bytes of a stream that is put next and of which nothing was taken: a copy may come before its first batch. */
  begin(id: number, start: Uint8Array): void;
  /** The streams that a file might hold whose first bytes are `start`: 1024 of them, or all. */
  of(place: Place, start: Uint8Array): Map<number, Relation>;
  /** Whether `of` would give any stream but that of `id`, whatever the first bytes are. */
  hasAny(place: Place, id: number): boolean;
  /** Whether a stream was held by this inode, and whether one was at this path: others than that of `id`. */
  known(place: Place, id: number | null): { inode: boolean; path: boolean };
  /** The streams that were held by a file: its inode and birth. */
  ofFile(place: Omit<Place, 'path'>): readonly number[];
  /** The streams that were held at a path. */
  at(place: Pick<Place, 'source' | 'path'>): readonly number[];
}

export type Place = Pick<Entry, 'source' | 'path' | 'inode' | 'birth'>;

/** So many of the streams that begin alike are looked at: the last ones. */
const MOST = 16;
/** As many as the first proof of a stream covers (proofs.ts). */
const START_BYTES = 64;

export function createStreams(): Streams {
  const states = new Map<number, FileState>();
  const starts = new Map<number, Proof>();
  const keysById = new Map<number, readonly string[]>();
  const idsByKey = new Map<string, Set<number>>();
  /** What the first proofs of the streams under a name cover, and how many there are of each. */
  const firstProofs = new Map<string, Map<string, number>>();

  const count = (key: string, by: number) => {
    const [name, cover] = key.split('\n');
    if (name === undefined || cover === undefined) return;
    const counts = firstProofs.get(name) ?? new Map<string, number>();
    const [length = ''] = cover.split(':');
    const now = (counts.get(length) ?? 0) + by;
    if (now > 0) counts.set(length, now);
    else counts.delete(length);
    if (counts.size > 0) firstProofs.set(name, counts);
    else firstProofs.delete(name);
  };

  const unindex = (id: number) => {
    for (const key of keysById.get(id) ?? []) {
      const ids = idsByKey.get(key);
      ids?.delete(id);
      if (ids?.size === 0) idsByKey.delete(key);
      count(key, -1);
    }
    keysById.delete(id);
  };

  let lastId = 0;

  const hasOther = (key: string, id: number | null): boolean => {
    for (const each of idsByKey.get(key) ?? []) if (each !== id) return true;
    return false;
  };

  return {
    get size() {
      return states.size;
    },
    newId: () => ++lastId,
    get: (id) => states.get(id),
    ids: () => states.keys(),
    remove(id) {
      states.delete(id);
      starts.delete(id);
      unindex(id);
    },
    begin(id, start) {
      const length = Math.min(start.length, START_BYTES);
      starts.set(id, proofAt(start, length, length));
    },
    put(state, unlinked = false) {
      lastId = Math.max(lastId, state.id);
      states.set(state.id, state);
      if (state.offset > 0) starts.delete(state.id);
      const keys = keysOf(state, unlinked, starts.get(state.id));
      if (keysById.get(state.id)?.join() === keys.join()) return;
      unindex(state.id);
      keysById.set(state.id, keys);
      for (const key of keys) {
        const ids = idsByKey.get(key);
        if (ids) ids.add(state.id);
        else idsByKey.set(key, new Set([state.id]));
        count(key, 1);
      }
    },
    of({ source, path, inode, birth }, start) {
      const found = new Map<number, Relation>();
      const add = (key: string, relation: Relation, most = MOST) => {
        for (const id of [...(idsByKey.get(key) ?? [])].slice(-most))
          if (!found.has(id)) found.set(id, relation);
      };
      for (const key of fileKeys({ source, inode, birth })) add(key, 'same-file');
      add(pathKey({ source, path }), 'same-path');
      add(pathKey({ source, path: `${path}.gz` }), 'unpacked');
      // Streams of its folder first: in others there may be many logs of the same name with the same header.
      const addByStart = (log: string, relation: Relation) => {
        for (const name of [inFolder(log, path), log])
          for (const length of firstProofs.get(name)?.keys() ?? [])
            if (Number(length) <= start.length)
              add(firstKey(name, proofAt(start, Number(length), Number(length))), relation);
      };
      for (const original of originalsOf(path)) {
        const name = `${source} ${original}`;
        // All: they are open, and so no more than there are handles.
        add(unlinkedKey(name, path), 'rotation', Number.POSITIVE_INFINITY);
        add(`${name} ${folderOf(path)}`, 'rotation');
        add(`${name} unlinked`, 'rotation');
        addByStart(name, 'rotation');
      }
      if (rotationRank(path) === 0) return found;
      const [, log] = namesOf(path);
      addByStart(`${source} ${log}`, 'other-rotation');
      addByStart(unreadName(source, log), 'other-rotation');
      return found;
    },
    hasAny(place, id) {
      const names = originalsOf(place.path).map((original) => `${place.source} ${original}`);
      const { source, path } = place;
      const keys = [...fileKeys(place), pathKey(place), pathKey({ source, path: `${path}.gz` })];
      for (const name of names) keys.push(`${name} ${folderOf(place.path)}`, `${name} unlinked`);
      const [, log] = namesOf(place.path);
      if (rotationRank(place.path) > 0) names.push(`${source} ${log}`, unreadName(source, log));
      return keys.some((key) => hasOther(key, id)) || names.some((name) => firstProofs.has(name));
    },
    known(place, id) {
      const inode = fileKeys(place).some((key) => hasOther(key, id));
      return { inode, path: hasOther(pathKey(place), id) };
    },
    ofFile: (place) => fileKeys(place).flatMap((key) => [...(idsByKey.get(key) ?? [])]),
    at: (place) => [...(idsByKey.get(pathKey(place)) ?? [])],
  };
}

/**
 * A stream of which nothing was taken is looked for in its folder, since there is nothing else to know it by; and in all folders, too,
 * once its file is unlinked: what has packed it may have moved it before.
 */
function keysOf(
  { source, path, inode, birth, offset, proofs }: FileState,
  unlinked: boolean,
  start: Proof | undefined,
): string[] {
  const first = proofs[0];
  const names = namesOf(path).map((name) => `${source} ${name}`);
  const unread = unreadName(source, namesOf(path)[1]);
  return [
    birth === '' ? unbornKey(source, inode) : `${inode} ${birth}`,
    ...(birth === '' ? [] : [bornKey(source, inode)]),
    pathKey({ source, path }),
    ...(start ? [inFolder(unread, path), unread].map((name) => firstKey(name, start)) : []),
    ...names.flatMap((name) =>
      offset > 0 && first
        ? [firstKey(inFolder(name, path), first), firstKey(name, first)]
        : unlinked
          ? [unlinkedKey(name, path), `${name} unlinked`]
          : [`${name} ${folderOf(path)}`],
    ),
  ];
}

/** An inode that is used again has another birth; where that is not known of both, it says something within one source alone. */
function fileKeys({ source, inode, birth }: Omit<Place, 'path'>): string[] {
  const unborn = unbornKey(source, inode);
  return birth === '' ? [unborn, bornKey(source, inode)] : [`${inode} ${birth}`, unborn];
}

function unbornKey(source: string, inode: string): string {
  return `${source} ${inode} unborn`;
}

function bornKey(source: string, inode: string): string {
  return `${source} ${inode} born`;
}

function pathKey({ source, path }: Pick<Place, 'source' | 'path'>): string {
  return `${source} ${path}`;
}

function unlinkedKey(name: string, path: string): string {
  return `${name} unlinked ${folderOf(path)}`;
}

function unreadName(source: string, log: string): string {
  return `${source} unread ${log}`;
}

function inFolder(name: string, path: string): string {
  return `${name} in ${folderOf(path)}`;
}

function firstKey(name: string, { at, hash }: Proof): string {
  return `${name}\n${at}:${hash}`;
}
