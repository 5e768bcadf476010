/** The fields of one server-sent event, by their names. */
export type ServerEvent = ReadonlyMap<string, string>;

/** Yields the events of a stream as they come, and throws what ends it. */
export async function* serverEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const answer = await fetch(url, { headers, signal });
  if (answer.headers.get('content-type') !== 'text/event-stream; charset=utf-8')
    throw new Error(`${url} gives no events, but ${answer.status}: ${await answer.text()}`);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      yield new Map(
        fields.map((field): [string, string] => {
          const colon = field.indexOf(': ');
          return [field.slice(0, colon), field.slice(colon + 2)];
        }),
      );
    }
  }
}
