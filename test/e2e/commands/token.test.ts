import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { secrets, TOKEN, withFolder, withService } from '../../support/helpers.ts';

/** Runs `tailpond` with these words to its end. */
async function execute(data: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'server', 'launch.cjs'), ...args], {
    env: { PATH: process.env.PATH, TAILPOND_DATA: data, TAILPOND_TOKEN: TOKEN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  await once(child, 'close');
  return { out, errors };
}

describe('tailpond token', () => {
  it('has the service that runs take a token, and refuse it again, at once', () =>
    withFolder((data) =>
      withService(data, async ({ url }) => {
        const made = await execute(data, ['token', 'create', '--scope', 'query', '--name', 'x']);
        const token = made.out.trim();
        secrets.add(token);
        expect(made.errors).to.equal('This is shown once. The service that runs has taken it.\n');
        const ask = async () =>
          (await fetch(`${url}/api/endpoints`, { headers: { 'X-API-KEY': token } })).status;
        expect(await ask()).to.equal(200);
        const id = token.split('_')[1] ?? '';
        const revoked = await execute(data, ['token', 'revoke', id]);
        expect(revoked.errors).to.equal('The service that runs has taken it.\n');
        expect(await ask()).to.equal(401);
        const elsewhere = { TAILPOND_TOKENS: join(data, 'others.json') };
        const other = await execute(data, ['token', 'create', '--scope', 'query'], elsewhere);
        secrets.add(other.out.trim());
        expect(other.errors).to.include('in another file').and.include(join(data, 'tokens.json'));
      }),
    ));

  it('says that no service was reached where none runs', () =>
    withFolder(async (data) => {
      const { out, errors } = await execute(data, ['token', 'create', '--scope', 'query']);
      secrets.add(out.trim());
      expect(errors).to.include('No service was reached');
    }));
});
