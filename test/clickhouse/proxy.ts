import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';

/** What becomes of a connection. */
export type Fate =
  | 'passes'
  /** It is cut once so many bytes of requests have passed, or of answers. */
  | { readonly cutRequestAfter: number }
  | { readonly cutReplyAfter: number }
  /** Answers are held back for so long, ms. */
  | { readonly holdReplyMs: number };

export interface Proxy {
  readonly url: string;
  /** How many connections it has cut. */
  cuts(): number;
  close(): Promise<void>;
}

/** A TCP proxy on loopback to an address; `fate` decides about each connection. It takes a free port without `ownPort`. */
export async function openProxy(target: string, fate: () => Fate, ownPort = 0): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cuts = 0;

  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    const own = fate();
    const limits = {
      request: typeof own === 'object' && 'cutRequestAfter' in own ? own.cutRequestAfter : Infinity,
      reply: typeof own === 'object' && 'cutReplyAfter' in own ? own.cutReplyAfter : Infinity,
    };
    const held = typeof own === 'object' && 'holdReplyMs' in own ? own.holdReplyMs : 0;
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
    const pass = (from: Socket, to: Socket, most: number, delayMs: number) => {
      let passed = 0;
      from.on('data', (bytes: Buffer) => {
        const rest = most - passed;
        passed += bytes.length;
        const part = bytes.subarray(0, Math.max(0, Math.min(bytes.length, rest)));
        const send = () => {
          if (to.destroyed) return;
          // What was read is on its way before the connection ends.
          to.write(part, () => {
            if (passed > most) cut();
          });
        };
        if (delayMs > 0) setTimeout(send, delayMs).unref();
        else send();
      });
      from.once('close', end).once('error', end);
    };
    pass(near, far, limits.request, 0);
    pass(far, near, limits.reply, held);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  });
  server.listen(ownPort, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('BUG: no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    cuts: () => cuts,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
