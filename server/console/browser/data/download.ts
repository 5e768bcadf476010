import { bytes } from './quantities.ts';
import { Problem, posted, send } from './request.ts';

/** A browser holds all of it in memory before it is a file. */
export const BLOB_MAX_BYTES = 200_000_000;

/** Saves the answer to a GET, or to a POST of `body`, as a file; a plain link could not send the token. Throws `Problem` when it is too large. */
export async function download(
  { path, body }: { readonly path: string; readonly body?: object | undefined },
  name: string,
  signal: AbortSignal,
  onBytes: (got: number) => void,
): Promise<void> {
  const response = await send(path, { signal, ...posted(body) });
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let got = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) break;
    parts.push(value);
    got += value.length;
    onBytes(got);
    if (got <= BLOB_MAX_BYTES) continue;
    await reader?.cancel();
    throw new Problem(
      0,
      `This is more than ${bytes(BLOB_MAX_BYTES)}: take the curl command of the menu Share.`,
    );
  }
  save(new Blob(parts, { type: response.headers.get('Content-Type') ?? '' }), name);
}

function save(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken it by then; sooner, some have not.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
