import { expect } from 'chai';
import type { Json } from '../../../server/console/browser/data/answers.ts';
import { severityOf } from '../../../server/console/browser/data/severity.ts';

describe('the severity of an entry', () => {
  const check = (metadata: Json, kind: string | null, text?: string) =>
    it(`${JSON.stringify(metadata)} is ${kind ?? 'unknown'}`, () => {
      expect(severityOf({ metadata })).to.eql(kind && { kind, text });
    });

  check({ request: {}, response: { status_code: 503 } }, 'error', '503');
  check({ response: [{ status_code: '404' }] }, 'warn', '404');
  check({ response: { status_code: 204 } }, 'fine', '204');
  check({ parsed: { error_severity: 'FATAL' } }, 'error', 'FATAL');
  check({ parsed: { error_severity: 'LOG' } }, 'fine', 'LOG');
  check({ level: 'info', status: 500 }, 'error', '500');
  check({ level: 'warning', status: 200 }, 'warn', 'warning');
  check({ level: 'debug' }, 'quiet', 'debug');
  check({ level: 'constructor', status: 42 }, null);
  check({ a: { b: { c: { d: { level: 'error' } } } } }, null);
  check('level: error', null);
  check(null, null);
});
