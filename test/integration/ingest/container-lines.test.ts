import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, withFolder, withService } from '../../support/helpers.ts';

const LINES = [
  '2026-11-20T10:00:00.123456789Z stdout F plain text',
  '2026-11-20T12:00:01.5+02:00 stderr F {"level":50,"msg":"it \\"broke\\"","user":7}',
  '2026-11-20T10:00:02Z stdout P the first piece, ',
  '2026-11-20T10:00:02Z stdout F and the last',
  '2026-11-20T10:00:03Z stdout F ',
  '2026-11-20T10:00:04Z stdout F tab\tand "quotes" \\ and ü',
  // A line of another program in the same folder.
  '{"time":"2026-11-20T10:00:05Z","msg":"an object"}',
  'no line of a runtime',
  '2026-11-20T10:00:06Z stdout X text',
];

describe('lines of container runtimes', () => {
  it('are read where a source is said to have them, each once, and by their text', () =>
    withFolder((data) =>
      withService(
        data,
        async (service) => {
          for (const source of ['k8s_logs', 'app_logs']) {
            mkdirSync(join(data, 'logs', source, 'pod'), { recursive: true });
            const invalid = Buffer.from(
              '2026-11-20T10:00:07Z stdout F half \xff a character\n',
              'latin1',
            );
            const text = Buffer.concat([Buffer.from(`${LINES.join('\n')}\n`), invalid]);
            appendFileSync(join(data, 'logs', source, 'pod', '0.log'), text);
          }
          const counts = await eventually(async () => {
            const { body } = await service.get('/api/ledger');
            const entries = body.result as { source: string; lines: number }[];
            const [own, other] = ['k8s_logs', 'app_logs'].map((name) =>
              entries.find(({ source }) => source === name),
            );
            expect([own?.lines, other?.lines]).to.deep.equal([9, 10]);
            return { own, other };
          });
          expect(counts.own).to.include({ rows: 7, rejected: 2, repaired: 1, undated: 0 });
          expect(counts.other).to.include({ rows: 1, rejected: 9 });
          const { body } = await service.get('/api/entries/k8s_logs');
          const rows = (body.result as Record<string, unknown>[])
            .map(({ timestamp, severity, event_message, metadata }) => ({
              timestamp,
              severity,
              event_message,
              metadata,
            }))
            .sort((a, b) => String(a.timestamp).localeCompare(String(b.timestamp)));
          const plain = (timestamp: string, event_message: string, more: object = {}) => ({
            timestamp,
            severity: null,
            event_message,
            metadata: { stream: 'stdout', ...more },
          });
          expect(rows).to.have.deep.members([
            plain('2026-11-20T10:00:00.123456Z', 'plain text'),
            {
              timestamp: '2026-11-20T10:00:01.5Z',
              severity: 'error',
              event_message: 'it "broke"',
              metadata: { stream: 'stderr', level: 50, user: 7 },
            },
            plain('2026-11-20T10:00:02Z', 'the first piece, and the last'),
            plain('2026-11-20T10:00:03Z', ''),
            plain('2026-11-20T10:00:04Z', 'tab\tand "quotes" \\ and ü'),
            {
              timestamp: '2026-11-20T10:00:05Z',
              severity: null,
              event_message: 'an object',
              metadata: null,
            },
            plain('2026-11-20T10:00:07Z', 'half \ufffd a character'),
          ]);
          const rejected = (await service.get('/api/rejected?source=k8s_logs')).body.result as {
            line: string;
            reason: string;
          }[];
          expect(rejected.map(({ line }) => line)).to.have.members([LINES[7], LINES[8]]);
          expect(rejected[0]?.reason).to.equal(
            'it is neither a JSON object nor a line of cri (TAILPOND_LINE_FORMAT)',
          );
        },
        { env: { TAILPOND_SOURCES: 'k8s_logs', TAILPOND_LINE_FORMAT: 'json,k8s_logs=cri' } },
      ),
    ));
});
