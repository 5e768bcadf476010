import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultCase, notHere } from './case.ts';
import { PASSAGES, run, settles, through, withTrial } from './trial.ts';

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
          withTrial(async (trial) => {
            await through(
              trial,
              passage,
              async (service) => {
                writeFileSync(trial.at('app.log'), trial.lines(5));
                await settles(service, trial);
              },
              () => {
                renameSync(join(trial.data, name), join(trial.data, 'away'));
                // As before, and then more; and files that were not there.
                writeFileSync(trial.at('app.log'), trial.lines(7));
                writeFileSync(trial.at('deep/other.log'), trial.lines(3));
              },
              async (service) => {
                await settles(service, trial);
                appendFileSync(trial.at('app.log'), trial.lines(2));
                appendFileSync(trial.at('deep/other.log'), trial.lines(2));
                await settles(service, trial);
              },
            );
            await run(trial.data, (service) => settles(service, trial));
          }),
      );
    }

    faultCase(
      `T28c${i + 1}`,
      `logs is renamed away and comes back, and nothing is doubled, ${passage}`,
      () =>
        withTrial(async (trial) => {
          const [logs, away] = [join(trial.data, 'logs'), join(trial.data, 'away')];
          await through(
            trial,
            passage,
            async (service) => {
              writeFileSync(trial.at('app.log'), trial.lines(5));
              await settles(service, trial);
              renameSync(logs, away);
              writeFileSync(trial.at('between.log'), trial.lines(5));
              await settles(service, trial);
            },
            () => {
              rmSync(logs, { recursive: true });
              renameSync(away, logs);
              appendFileSync(trial.at('app.log'), trial.lines(5));
            },
            (service) => settles(service, trial),
          );
          await run(trial.data, (service) => settles(service, trial));
        }),
    );

    const title = `a volume is mounted over logs and taken away again, ${passage}`;
    if (!mayMount()) notHere(`T28d${i + 1}`, title, 'only root may mount');
    else
      faultCase(`T28d${i + 1}`, title, () =>
        withTrial(async (trial) => {
          const logs = join(trial.data, 'logs');
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
              trial,
              passage,
              async (service) => {
                writeFileSync(trial.at('app.log'), trial.lines(5));
                await settles(service, trial);
                mount();
                writeFileSync(trial.at('app.log'), trial.lines(3));
                writeFileSync(trial.at('volume.log'), trial.lines(3));
                await settles(service, trial);
              },
              () => {
                unmount();
                appendFileSync(trial.at('app.log'), trial.lines(5));
              },
              async (service) => {
                await settles(service, trial);
                mount();
                writeFileSync(trial.at('again.log'), trial.lines(3));
                await settles(service, trial);
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
