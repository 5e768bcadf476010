export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | null;
}

/**
 * The events of a stream of server-sent events, as the HTML standard parses them, and null for each piece that holds
 * none, such as a heartbeat. EventSource, which would do this, cannot send a token.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent | null> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      // A large event comes in many pieces; all of it is looked through only when it is whole.
      const isWhole = BREAK.test(rest.slice(-3) + text);
      rest += text;
      yield null;
      if (!isWhole) continue;
      const blocks = rest.split(BREAK);
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield parse(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const BREAK = /\r?\n\r?\n/;

function parse(block: string): ServerEvent | null {
  const fields = block.split(/\r?\n/).map((line) => /^(\w+)(?:: ?(.*))?$/.exec(line) ?? []);
  const all = (name: string) =>
    fields.filter((field) => field[1] === name).map((field) => field[2] ?? '');
  const [data, id] = [all('data'), all('id').at(-1) ?? null];
  // An id without data counts too: it is where a stream goes on.
  if (data.length === 0 && id === null) return null;
  return { name: all('event').at(-1) ?? 'message', data: data.join('\n'), id };
}
