import { once } from 'node:events';
import { type SpawnOptions, spawnService } from '../support/helpers.ts';

/** Runs `tailpond store <words>` on a data folder to its end. `text` is what it wrote, on stdout and stderr. */
export async function storeCommand(
  data: string,
  words: readonly string[],
  options: SpawnOptions = {},
) {
  const { child, log, errors } = spawnService(data, { ...options, args: ['store', ...words] });
  const [code] = await once(child, 'close');
  const text = [...log.map((line) => line.text ?? JSON.stringify(line)), ...errors].join('\n');
  return { code: code as number | null, text };
}
