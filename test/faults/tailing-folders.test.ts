import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultCase, notHere } from './case.ts';
import { holds, overKill, settles, withSetup } from './setup.ts';

describe('the drop folder', () => {
  const title = 'is below a volume that is mounted and taken away again, over a kill -9';
  if (!mayMount()) notHere('T28b', title, 'only root may mount');
  else
    faultCase('T28b', title, () =>
      withSetup(async (setup) => {
        const logs = join(setup.data, 'logs');
        let mounted = 0;
        const mount = () => {
          execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', logs]);
          mounted++;
        };
        // Lazily: the service has files in it open.
        const unmount = () => {
          execFileSync('umount', ['--lazy', logs]);
          mounted--;
        };
        writeFileSync(setup.at('app.log'), setup.lines(5));
        try {
          await overKill(
            setup,
            async (service) => {
              await holds(service, setup);
              mount();
              writeFileSync(setup.at('app.log'), setup.lines(3));
              writeFileSync(setup.at('volume.log'), setup.lines(3));
              await holds(service, setup);
              unmount();
              appendFileSync(setup.at('app.log'), setup.lines(5));
              await holds(service, setup);
              mount();
            },
            () => {
              unmount();
              appendFileSync(setup.at('app.log'), setup.lines(5));
            },
            async (service) => {
              await holds(service, setup);
              mount();
              writeFileSync(setup.at('again.log'), setup.lines(3));
              await settles(service, setup);
            },
          );
        } finally {
          while (mounted > 0) unmount();
        }
      }),
    );
});

/** Whether this process may mount a file system; tried on a folder of its own. */
function mayMount(): boolean {
  return spawnSync('unshare', ['--mount', 'true']).status === 0 && process.geteuid?.() === 0;
}
