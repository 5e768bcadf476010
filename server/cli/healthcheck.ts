import type { Config } from '../config/config.ts';

/** Asks the service that runs with the same settings whether it is ready: 0, else 1. */
export async function checkHealth({ host, port }: Pick<Config, 'host' | 'port'>): Promise<0 | 1> {
  const everywhere = host === '0.0.0.0' || host === '::';
  const address = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${address}:${port}/readyz`, {
      signal: AbortSignal.timeout(5000),
    });
    if (!response.ok) console.error(await response.text());
    return response.ok ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? (error.cause ?? error.message) : error);
    return 1;
  }
}
