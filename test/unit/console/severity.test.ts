import { expect } from 'chai';
import { severityOf } from '../../../server/console/browser/data/severity.ts';

describe('how grave an entry is', () => {
  for (const [severity, status, kind, text] of [
    ['fatal', null, 'error', 'fatal'],
    ['error', 200, 'error', 'error'],
    ['warn', null, 'warn', 'warn'],
    ['warn', 302, 'warn', 'warn'],
    ['info', null, 'fine', 'info'],
    ['trace', null, 'quiet', 'trace'],
    ['debug', null, 'quiet', 'debug'],
    [null, 503, 'error', '503'],
    [null, 201, 'fine', '201'],
    // The graver one, and a status rather than a word that says the same.
    ['info', 500, 'error', '500'],
    ['info', 404, 'warn', '404'],
    ['error', 500, 'error', '500'],
    ['info', 200, 'fine', '200'],
    ['debug', 200, 'fine', '200'],
  ] as const)
    it(`is ${kind} for severity ${severity} and status ${status}`, () => {
      expect(severityOf({ severity, status })).to.deep.equal({ kind, text });
    });

  it('is unknown where an entry does not say', () => {
    expect(severityOf({ severity: null, status: null })).to.equal(null);
  });
});
