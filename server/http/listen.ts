import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * Has a server listen where the settings say. Throws a sentence on what has to be done when it cannot; not a ConfigError, since
 * a port may become free and an address come up: trying again helps.
 */
export async function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed).listen(port, host, listening);
    });
  } catch (error) {
    throw new Error(reason((error as NodeJS.ErrnoException).code, port, host), { cause: error });
  }
}

function reason(code: string | undefined, port: number, host: string): string {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on ${place} already (EADDRINUSE). Stop it, which ss -ltnp names, or set TAILPOND_PORT or TAILPOND_HOST.`;
    case 'EACCES':
      return `This user may not listen on ${place} (EACCES). Set TAILPOND_PORT to 1024 or above, or permit the user to take lower ones.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host} (${code}). Set TAILPOND_HOST to one of its own, or to 0.0.0.0 for all of them.`;
    default:
      return `The service cannot listen on ${place} (${code}): see TAILPOND_PORT and TAILPOND_HOST.`;
  }
}
