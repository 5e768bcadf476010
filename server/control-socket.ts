import { closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Holder, lockStore, StoreInUse, type StoreLock, storeInUse } from './store/index.ts';

/**
 * What the running service does for the one who owns its store: a Unix domain socket `control.sock` in the store's folder,
 * mode 0600, one line of JSON each way: `{"command":"check"}` gives `{"result":…}` or `{"error":"…"}`. No token: who may
 * open the socket may read the database file, too.
 *
 * Where the file system has no locks the socket is one: it listens as long as the process lives, stopped or in another PID
 * namespace too, and no longer.
 */
export type Commands = Readonly<Record<string, (gone: AbortSignal) => Promise<unknown>>>;

/** The message for a service that has the store open and no address. */
export const NOT_LISTENING = 'The service does not listen: it is starting or stopping.';

/** More than any request has. */
const REQUEST_BYTES = 1024;
/** The field for a socket's path has 104 bytes on BSD, 108 on Linux; Node 20 cuts longer ones off without a word. */
const PATH_BYTES = 100;

/** Listens in `folder`, whose database this process has open: so a socket that is there already is a dead one's. */
export async function openControl(
  folder: string,
  commands: Commands,
): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    serveOne(socket, commands);
  });
  rmSync(join(folder, 'control.sock'), { force: true });
  const address = shortAddress(folder);
  const mask = process.umask(0o177);
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(address.path, listening);
    process.umask(mask);
  });
  return async () => {
    const closed = new Promise<void>((done) => server.close(() => done()));
    for (const socket of open) socket.destroy();
    await closed;
    address.release();
  };
}

/**
 * Asks the service that runs on `folder`; null when there is none. Throws what it answers for an error, and when it ends
 * before it has answered, or says nothing for `withinMs`.
 */
export async function askService(
  folder: string,
  command: string,
  withinMs?: number,
): Promise<unknown | null> {
  const socket = await reach(folder);
  if (!socket) return null;
  const silence = new Error(
    `The service on ${folder} does not answer: it hangs, or is stopped by a signal.`,
  );
  if (withinMs !== undefined) socket.setTimeout(withinMs, () => socket.destroy(silence));
  try {
    socket.write(`${JSON.stringify({ command })}\n`);
    // Not by readline, which ends lines at U+2028 since Node.js 24: that may stand in an answer.
    let answer = '';
    for await (const text of socket.setEncoding('utf8')) {
      answer += text;
      if (answer.endsWith('\n')) break;
    }
    if (!answer.endsWith('\n')) throw new Error('The service ended before it had answered.');
    const { result, error } = JSON.parse(answer) as { result?: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  } finally {
    socket.destroy();
  }
}

/** Takes the store in `folder` for this process, until released. Throws StoreInUse when another process has it. */
export async function takeStore(folder: string, holder: Holder): Promise<StoreLock> {
  let lock: StoreLock | undefined;
  try {
    lock = await lockStore(folder, holder);
    await refuseIfServed(folder);
    return lock;
  } catch (error) {
    await lock?.release();
    if (error instanceof StoreInUse && error.endsSoon) await refuseIfServed(folder);
    throw error;
  }
}

/** A service listens where there are no locks, too, and when a full disk has kept it from telling its name. */
async function refuseIfServed(folder: string): Promise<void> {
  const socket = await reach(folder);
  if (!socket) return;
  socket.destroy();
  throw storeInUse(folder, 'the service');
}

/** A connection to the service; null when nobody listens. A full queue, as a stopped process has, is an error. */
function reach(folder: string): Promise<Socket | null> {
  let address: Address;
  try {
    address = shortAddress(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Promise.resolve(null);
    throw error;
  }
  return new Promise<Socket | null>((resolve, reject) => {
    const socket = connect(address.path, () => resolve(socket));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else reject(error);
    });
  }).finally(address.release);
}

function serveOne(socket: Socket, commands: Commands) {
  const gone = new AbortController();
  socket.on('close', () => gone.abort(new Error('the one who asked has gone')));
  let text = '';
  socket.setEncoding('utf8').on('data', async (chunk) => {
    text += chunk;
    if (text.length > REQUEST_BYTES) return socket.destroy();
    if (!text.includes('\n')) return;
    socket.pause();
    const answer = await answerTo(text, commands, gone.signal);
    if (!socket.destroyed) socket.end(`${JSON.stringify(answer)}\n`);
  });
}

async function answerTo(text: string, commands: Commands, gone: AbortSignal): Promise<object> {
  try {
    const { command } = JSON.parse(text) as { command?: unknown };
    const run = Object.entries(commands).find(([name]) => name === command)?.[1];
    if (!run)
      throw new Error(
        `Expected "command" to be ${Object.keys(commands).join(' or ')}, got ${JSON.stringify(command)}.`,
      );
    return { result: await run(gone) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

interface Address {
  readonly path: string;
  release(): void;
}

/** The socket's path; where it is too long for a socket, one by way of the folder's descriptor, until released. */
function shortAddress(folder: string): Address {
  const path = join(folder, 'control.sock');
  if (Buffer.byteLength(path) <= PATH_BYTES) return { path, release() {} };
  if (process.platform !== 'linux')
    throw new Error(`${path} is too long for a socket: move the data folder to a shorter path`);
  const descriptor = openSync(folder, 'r');
  return {
    path: `/proc/self/fd/${descriptor}/control.sock`,
    release: () => closeSync(descriptor),
  };
}
