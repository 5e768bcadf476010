import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { freePort } from '../support/port.ts';

/** An answer in the place of ClickHouse's, with status 200. */
export interface Impersonation {
  readonly headers: Readonly<Record<string, string>>;
  body(query: string): string;
}

export interface Impostor {
  readonly url: string;
  /** Answers every request from now on; null: the server itself does. */
  play(impersonation: Impersonation | null): void;
  /** How many requests it has answered itself. */
  answered(): number;
  close(): Promise<void>;
}

/** An HTTP proxy on loopback to a server, in whose place it can answer. */
export async function openImpostor(target: string): Promise<Impostor> {
  let own: Impersonation | null = null;
  let answered = 0;
  const impersonate = async (
    { headers, body }: Impersonation,
    asked: IncomingMessage,
    answer: ServerResponse,
  ) => {
    const sent: Buffer[] = [];
    for await (const bytes of asked) sent.push(bytes);
    // An INSERT has its statement in the URL, as its body is the file.
    const inUrl = new URL(asked.url ?? '', target).searchParams.get('query');
    answer.writeHead(200, headers).end(body(inUrl ?? Buffer.concat(sent).toString()));
    answered++;
  };
  const server = createServer((asked, answer) => {
    if (own) return void impersonate(own, asked, answer).catch(() => answer.destroy());
    const { method, headers } = asked;
    const passed = request(new URL(asked.url ?? '', target), { method, headers }, (there) => {
      answer.writeHead(there.statusCode ?? 502, there.headers);
      there.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  server.listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    play(impersonation) {
      own = impersonation;
    },
    answered: () => answered,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
