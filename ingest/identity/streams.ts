import { folderOf, nameOf } from '../files/names.ts';
import type { Entry } from '../files/scan.ts';
import type { FileState, Proof } from '../types.ts';
import { HEADS, PROOF_BYTES, proofAt } from './proofs.ts';

/** Why a file might hold a stream: its inode, its path, or its first bytes. The strongest comes first. */
export type Relation = 'same-file' | 'same-path' | 'same-start';

export type Place = Pick<Entry, 'source' | 'path' | 'inode' | 'birth'>;

/** A file is compared with so many streams that begin like it. If there are more, the last 1000 are put in order. */
const MOST = 64;
const MOST_SORTED = 1000;
const NEWLINE = 0x0a;
const [SHORTEST_HEAD = 0] = HEADS;
/** Bytes by which half a first line is found that is shorter than all of HEADS. */
const HALF_LINE = 32;

/** A beginning of a stream: its length and a digest of its last bytes. */
type Head = Pick<Proof, 'at' | 'hash'>;

/** The known streams, indexed by file, path and first bytes. No lookup walks over all of them. */
export type Streams = ReturnType<typeof createStreams>;

export function createStreams() {
  const states = new Map<number, FileState>();
  /** Beginnings of the files that hold the streams, from their bytes: a file may be longer than what was read of it. */
  const starts = new Map<number, readonly Head[]>();
  const keysById = new Map<number, readonly string[]>();
  const idsByKey = new Map<string, Set<number>>();
  /** The lengths of longest heads that are shorter than all of HEADS. */
  const shortHeads = new Set<number>();
  let lastId = 0;

  const unindex = (id: number) => {
    for (const key of keysById.get(id) ?? []) {
      const ids = idsByKey.get(key);
      ids?.delete(id);
      if (ids?.size === 0) idsByKey.delete(key);
    }
    keysById.delete(id);
  };

  const index = (state: FileState) => {
    const { source, offset } = state;
    const heads = knownHeads(state, starts.get(state.id) ?? []);
    const longest = heads.at(-1);
    if (longest && longest.at < SHORTEST_HEAD) shortHeads.add(longest.at);
    const keys = [
      fileKey(state),
      ...(state.birth === '' ? [] : [bornKey(state)]),
      pathKey(state),
      // A stream is found by its longest head, and a file that is shorter than that by the others.
      ...heads.map((head) => headKey(source, head === longest ? 'ends' : 'longer', head)),
      ...(offset > 0 && !longest ? [headlessKey(source)] : []),
    ];
    if (keysById.get(state.id)?.join() === keys.join()) return;
    unindex(state.id);
    keysById.set(state.id, keys);
    for (const key of keys) {
      const ids = idsByKey.get(key);
      if (ids) ids.add(state.id);
      else idsByKey.set(key, new Set([state.id]));
    }
  };

  const idsOf = (key: string) => [...(idsByKey.get(key) ?? [])];
  const hasOther = (key: string, id: number | null) => idsOf(key).some((each) => each !== id);

  /** Streams that end within the first bytes of the file, or go on like it; and if the file ends there, those that are longer. */
  const likeStart = (source: string, start: Uint8Array): number[] => {
    const heads = HEADS.filter((at) => at <= start.length);
    const ids = [...shortHeads, ...heads]
      .filter((at) => at <= start.length)
      .flatMap((at) => idsOf(headKey(source, 'ends', headAt(start, at))));
    ids.push(...idsOf(headlessKey(source)));
    const half = start.length < HALF_LINE ? 0 : HALF_LINE;
    const last = heads.at(-1) ?? (start.lastIndexOf(NEWLINE) + 1 || half);
    return last === 0 ? ids : [...ids, ...idsOf(headKey(source, 'longer', headAt(start, last)))];
  };

  return {
    get size() {
      return states.size;
    },
    /** Returns an id that no stream has had. */
    newId: () => ++lastId,
    get: (id: number): FileState | undefined => states.get(id),
    /** The ids, in the order in which the streams became known. */
    ids: (): Iterable<number> => states.keys(),
    remove(id: number): void {
      states.delete(id);
      starts.delete(id);
      unindex(id);
    },
    /** Notes the first bytes of the file that holds a stream, 1024 of them or all. */
    begin(id: number, start: Uint8Array): void {
      starts.set(id, headsOf(start));
      const state = states.get(id);
      if (state) index(state);
    },
    /** Replaces what is known of a stream. */
    put(state: FileState): void {
      lastId = Math.max(lastId, state.id);
      states.set(state.id, state);
      index(state);
    },
    /**
     * Returns the streams that a file might hold whose first bytes are `start`, 1024 of them or all: 64 of those that begin like it, with
     * those of its folder and of similar names first.
     */
    of({ source, path, inode, birth }: Place, start: Uint8Array): Map<number, Relation> {
      const found = new Map<number, Relation>();
      const add = (ids: readonly number[], relation: Relation) => {
        for (const id of ids) if (!found.has(id)) found.set(id, relation);
      };
      for (const key of fileKeys({ source, inode, birth })) add(idsOf(key), 'same-file');
      add(idsOf(pathKey({ source, path })).slice(-MOST), 'same-path');
      const alike = likeStart(source, start).filter((id) => !found.has(id));
      const pathOf = (id: number) => states.get(id)?.path ?? '';
      const nearest =
        alike.length <= MOST
          ? alike
          : alike
              .slice(-MOST_SORTED)
              .map((id) => ({ id, nearness: nearness(path, pathOf(id)) }))
              .sort((a, b) => b.nearness - a.nearness || b.id - a.id)
              .slice(0, MOST)
              .map(({ id }) => id);
      add(nearest, 'same-start');
      return found;
    },
    /** Tells whether another stream than that of `id` was held by this inode, and whether one was at this path. */
    known(place: Place, id: number | null) {
      const inode = fileKeys(place).some((key) => hasOther(key, id));
      return { inode, path: hasOther(pathKey(place), id) };
    },
    /** The streams that were held by a file with this inode and birth time. */
    ofFile: (place: Omit<Place, 'path'>) => fileKeys(place).flatMap(idsOf),
    /** The streams that were held at a path. */
    at: (place: Pick<Place, 'source' | 'path'>) => idsOf(pathKey(place)),
  };
}

/** The heads of a stream, the longest last: of the file that holds it and of what was read; with neither, what was read, if it was short. */
function knownHeads({ offset, proofs }: FileState, start: readonly Head[]): Head[] {
  const proven = proofs.filter(({ at }) => HEADS.includes(at)).filter(isHead);
  const heads = [...new Map([...start, ...proven].map((head) => [head.at, head])).values()];
  if (heads.length > 0) return heads.sort((a, b) => a.at - b.at);
  const [first] = proofs;
  return first?.at === offset && isHead(first) ? [first] : [];
}

/** The heads of a file: as far as each of its first lines goes that are shorter than all of HEADS, those of HEADS, or all of it. */
function headsOf(start: Uint8Array): Head[] {
  if (start.length === 0) return [];
  const places = HEADS.filter((at) => at <= start.length);
  if (places.length === 0) places.push(start.length);
  if (start.length > HALF_LINE) places.push(HALF_LINE);
  for (let at = 0; at >= 0 && at < SHORTEST_HEAD; at = start.indexOf(NEWLINE, at) + 1 || -1)
    if (at > 0) places.push(at);
  return [...new Set(places)].map((at) => headAt(start, at));
}

function headAt(start: Uint8Array, at: number): Head {
  return proofAt(start.subarray(0, at), at);
}

function isHead({ at, length }: Proof): boolean {
  return length === Math.min(at, PROOF_BYTES);
}

/** How close two paths are: in one folder, then by how many characters their names have in common at both ends. */
function nearness(path: string, other: string): number {
  const [name, its] = [nameOf(path), nameOf(other)];
  const most = Math.min(name.length, its.length);
  let before = 0;
  while (before < most && name[before] === its[before]) before++;
  let behind = 0;
  while (behind < most - before && name.at(-1 - behind) === its.at(-1 - behind)) behind++;
  return (folderOf(path) === folderOf(other) ? 1000 : 0) + before + behind;
}

/** An inode that is used again has another birth time. Where one is not known, the inode identifies a file within its source alone. */
function fileKeys(place: Omit<Place, 'path'>): string[] {
  return place.birth === ''
    ? [fileKey(place), bornKey(place)]
    : [fileKey(place), fileKey({ ...place, birth: '' })];
}

function fileKey({ source, inode, birth }: Omit<Place, 'path'>): string {
  return birth === '' ? `${source}\nunborn\n${inode}` : `\nfile\n${inode} ${birth}`;
}

function bornKey({ source, inode }: Omit<Place, 'path'>): string {
  return `${source}\nborn\n${inode}`;
}

function pathKey({ source, path }: Pick<Place, 'source' | 'path'>): string {
  return `${source}\nat\n${path}`;
}

/** Stores of older versions do not say how a stream begins: any file of its source may hold it. */
function headlessKey(source: string): string {
  return `${source}\nheadless`;
}

function headKey(source: string, kind: 'ends' | 'longer', { at, hash }: Head): string {
  return `${source}\n${kind}\n${at}\n${hash}`;
}
