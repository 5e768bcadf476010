import { setTimeout as delay } from 'node:timers/promises';
import {
  type Service,
  type SpawnOptions,
  spawnService,
  withService,
} from '../../support/helpers.ts';

export type RunningService = Pick<Service, 'get' | 'end' | 'child' | 'log'>;

/** Starts the service and waits until it is ready; it runs until `end`. */
export async function startService(data: string, options: SpawnOptions): Promise<RunningService> {
  return new Promise((ready, failed) => {
    const whole = withService(
      data,
      (service) =>
        new Promise<void>((over) => {
          ready({
            ...service,
            async end(signal) {
              const how = await service.end(signal);
              over();
              await whole;
              return how;
            },
          });
        }),
      options,
    );
    whole.catch(failed);
  });
}

/** Kills the service so long after it was begun, whatever it has come to. */
export async function killWhileStarting(data: string, afterMs: number, options: SpawnOptions) {
  const { child } = spawnService(data, options);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await delay(afterMs);
  child.kill('SIGKILL');
  await ended;
}
