import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultCase, notHere } from './case.ts';
import { PASSAGES, run, settles, through, withSetup } from './setup.ts';

describe('the drop folder', () => {
  for (const [i, passage] of PASSAGES.entries()) {
    for (const [letter, name] of [
      ['a', 'logs'],
      ['b', 'logs/edge_logs'],
    ] as const) {
      faultCase(
        `T28${letter}${i + 1}`,
        `${name} is renamed away and made anew: what is in the new one is read, ${passage}`,
        () =>
          withSetup(async (setup) => {
            await through(
              setup,
              passage,
              async (service) => {
                writeFileSync(setup.at('app.log'), setup.lines(5));
                await settles(service, setup);
              },
              () => {
                renameSync(join(setup.data, name), join(setup.data, 'away'));
                // As before, and then more; and files that were not there.
                writeFileSync(setup.at('app.log'), setup.lines(7));
                writeFileSync(setup.at('deep/other.log'), setup.lines(3));
              },
              async (service) => {
                await settles(service, setup);
                appendFileSync(setup.at('app.log'), setup.lines(2));
                appendFileSync(setup.at('deep/other.log'), setup.lines(2));
                await settles(service, setup);
              },
            );
            await run(setup.data, (service) => settles(service, setup));
          }),
      );
    }

    faultCase(
      `T28c${i + 1}`,
      `logs is renamed away and comes back, and nothing is doubled, ${passage}`,
      () =>
        withSetup(async (setup) => {
          const [logs, away] = [join(setup.data, 'logs'), join(setup.data, 'away')];
          await through(
            setup,
            passage,
            async (service) => {
              writeFileSync(setup.at('app.log'), setup.lines(5));
              await settles(service, setup);
              renameSync(logs, away);
              writeFileSync(setup.at('between.log'), setup.lines(5));
              await settles(service, setup);
            },
            () => {
              rmSync(logs, { recursive: true });
              renameSync(away, logs);
              appendFileSync(setup.at('app.log'), setup.lines(5));
            },
            (service) => settles(service, setup),
          );
          await run(setup.data, (service) => settles(service, setup));
        }),
    );

    const title = `a volume is mounted over logs and taken away again, ${passage}`;
    if (!mayMount()) notHere(`T28d${i + 1}`, title, 'only root may mount');
    else
      faultCase(`T28d${i + 1}`, title, () =>
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
          try {
            await through(
              setup,
              passage,
              async (service) => {
                writeFileSync(setup.at('app.log'), setup.lines(5));
                await settles(service, setup);
                mount();
                writeFileSync(setup.at('app.log'), setup.lines(3));
                writeFileSync(setup.at('volume.log'), setup.lines(3));
                await settles(service, setup);
              },
              () => {
                unmount();
                appendFileSync(setup.at('app.log'), setup.lines(5));
              },
              async (service) => {
                await settles(service, setup);
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
  }
});

/** Whether this process may mount a file system; tried on a folder of its own. */
function mayMount(): boolean {
  return spawnSync('unshare', ['--mount', 'true']).status === 0 && process.geteuid?.() === 0;
}
