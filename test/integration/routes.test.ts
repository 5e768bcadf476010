import { expect } from 'chai';
import { SCOPES } from '../../server/auth/token-file.ts';
import { tokenFile } from '../faults/http.ts';
import { withApp, withFolder } from '../support/helpers.ts';

describe('the table of routes', () => {
  it('refuses a token with every scope but that of the path, and methods that the path does not take', () =>
    withFolder((data) => {
      const tokens = tokenFile(data);
      const without = new Map(
        SCOPES.map((scope) => [
          scope,
          tokens.add({ scopes: SCOPES.filter((other) => other !== scope) }),
        ]),
      );
      const all = tokens.add({ scopes: SCOPES });
      return withApp(data, async ({ http, routes }) => {
        for (const { path, scope, methods } of routes) {
          const url = path.replace(/:\w+/, 'edge_logs');
          const ask = (method: 'get' | 'post' | 'delete', token: string) =>
            http[method](url).set('X-API-KEY', token);
          if (scope !== null) {
            const refused = await ask('get', without.get(scope) ?? '');
            expect(refused.body.code, path).to.equal('SCOPE_MISSING');
          }
          if (methods === null) continue;
          const refused = await ask('delete', all);
          expect(refused.body.code, path).to.equal('METHOD_NOT_ALLOWED');
          expect(refused.headers.allow, path).to.equal(methods.join(', '));
        }
      });
    }));

  it('answers a token of any scope, and nobody else, that a path is unknown', () =>
    withFolder((data) => {
      const tokens = tokenFile(data);
      const each = SCOPES.map((scope) => tokens.add({ scopes: [scope] }));
      return withApp(data, async ({ http }) => {
        for (const token of each) {
          const { body } = await http.get('/api/nothing').set('X-API-KEY', token);
          expect(body.code).to.equal('PATH_UNKNOWN');
        }
        expect((await http.get('/api/nothing')).body.code).to.equal('UNAUTHORIZED');
      });
    }));
});
