import { expect } from 'chai';
import { readEvents, type ServerEvent } from '../../../server/console/browser/data/events.ts';

describe('server-sent events, read in the browser', () => {
  const text =
    'retry: 2000\nid: 1\n\n: still here\n\nevent: entries\nid: 2\ndata: [{"a":"é"}]\n\ndata: x\ndata: y\r\n\r\nevent: cut off\ndata: z\n';
  const events = [
    { name: 'message', data: '', id: '1' },
    { name: 'entries', data: '[{"a":"é"}]', id: '2' },
    { name: 'message', data: 'x\ny', id: null },
  ];

  for (const size of [1, 2, 3, 7, 1000])
    it(`are the same from pieces of ${size} bytes`, async () => {
      expect(await read(text, size)).to.eql(events);
    });
});

async function read(text: string, size: number): Promise<ServerEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of readEvents(stream)) if (event) events.push(event);
  return events;
}
