import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { freePort } from '../support/port.ts';

/** What becomes of a connection. */
export type Fate =
  | 'passes'
  /** It is cut once so many bytes of requests have passed, or of answers. */
  | { readonly cutRequestAfter: number }
  | { readonly cutReplyAfter: number }
  /** Answers are held back for so long, ms; from the time when so many bytes of requests have passed. */
  | { readonly holdReplyMs: number; readonly afterRequest?: number };

export interface Proxy {
  readonly url: string;
  /** How many connections it has cut. */
  cuts(): number;
  /** Lets go what is held back. From now on nothing is. */
  release(): void;
  close(): Promise<void>;
}

/** A TCP proxy on loopback to an address; `fate` decides about each connection. It takes a free port without `ownPort`. */
export async function openProxy(
  target: string,
  fate: () => Fate,
  ownPort?: number,
): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const held = new Set<() => void>();
  let cuts = 0;
  let isReleased = false;

  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    const own = fate();
    const limits = {
      request: typeof own === 'object' && 'cutRequestAfter' in own ? own.cutRequestAfter : Infinity,
      reply: typeof own === 'object' && 'cutReplyAfter' in own ? own.cutReplyAfter : Infinity,
    };
    const hold =
      typeof own === 'object' && 'holdReplyMs' in own ? own : { holdReplyMs: 0, afterRequest: 0 };
    let requested = 0;
    let isCut = false;
    const end = () => {
      near.destroy();
      far.destroy();
    };
    const cut = () => {
      if (!isCut) cuts++;
      isCut = true;
      end();
    };
    const pass = (from: Socket, to: Socket, most: number, delayOf: (bytes: number) => number) => {
      let [passed, underWay] = [0, 0];
      from.on('data', (bytes: Buffer) => {
        const rest = most - passed;
        passed += bytes.length;
        const delayMs = delayOf(passed);
        const part = bytes.subarray(0, Math.max(0, Math.min(bytes.length, rest)));
        const send = () => {
          underWay--;
          if (to.destroyed) return;
          // What was read is on its way before the connection ends.
          to.write(part, () => {
            if (passed > most) cut();
          });
          // At once: a client may use a connection again as soon as it has the answer.
          if (from.closed && underWay === 0) to.end(end);
        };
        underWay++;
        if (delayMs === 0) {
          send();
          return;
        }
        const letGo = () => {
          clearTimeout(timer);
          held.delete(letGo);
          send();
        };
        const timer = setTimeout(letGo, delayMs).unref();
        held.add(letGo);
      });
      // A server closes a connection that rests, and what is held back comes all the same.
      from.once('close', () => {
        if (underWay === 0) end();
      });
      from.once('error', end);
    };
    pass(near, far, limits.request, (passed) => {
      requested = passed;
      return 0;
    });
    pass(far, near, limits.reply, () =>
      requested >= (hold.afterRequest ?? 0) && !isReleased ? hold.holdReplyMs : 0,
    );
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  });
  server.listen(ownPort ?? (await freePort()), '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('BUG: no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    cuts: () => cuts,
    release() {
      isReleased = true;
      for (const letGo of held) letGo();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
