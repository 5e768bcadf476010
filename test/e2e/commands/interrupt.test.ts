import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, TOKEN, withFolder } from '../../support/helpers.ts';
import { install } from '../docs/installation.ts';

const SCRIPT = spawnSync('script', ['--version']).status === 0;

describe('Ctrl-C', () => {
  it('on npm start in a terminal stops the service with 0, though npm passes the signal on, too', function () {
    if (!SCRIPT) {
      console.log('    skipped: no script; apt-get install bsdutils');
      return this.skip();
    }
    return withFolder(async (folder) => {
      const project = join(folder, 'project');
      install(project);
      const child = spawn(
        'script',
        // With `exec`, as some shells stay between and give back their own end by the signal.
        ['--quiet', '--return', '--flush', '--command', 'exec npm start', '/dev/null'],
        {
          cwd: project,
          env: {
            ...process.env,
            TAILPOND_DATA: join(folder, 'data'),
            TAILPOND_PORT: '0',
            TAILPOND_TOKEN: TOKEN,
          },
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      );
      const ended = once(child, 'exit');
      let output = '';
      child.stdout.on('data', (bytes) => {
        output += bytes;
      });
      try {
        const [url] = await eventually(
          () => /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? fail('it does not listen'),
        );
        // An answer that is not at its end keeps the stop from being over at once.
        await fetch(`${url}/api/tail?source=edge_logs`, { headers: { 'X-API-KEY': TOKEN } });
        child.stdin.write('\x03');
        expect(await ended, output).to.deep.equal([0, null]);
        expect(output)
          .to.match(/stopped/)
          .and.not.to.match(/Killed/);
      } finally {
        child.kill('SIGKILL');
      }
    });
  }).timeout(300_000);
});

function fail(message: string): never {
  throw new Error(message);
}
