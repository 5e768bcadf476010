import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { withFolder } from '../../support/helpers.ts';
import { missing } from '../../support/missing.ts';
import { INSTALL, LOGROTATE } from '../shippers/shippers.ts';
import { readBlocks } from './markdown.ts';

const UNIT = 'deploy/tailpond.service';
const ROTATION = 'deploy/logrotate';

describe('the systemd unit', () => {
  const unit = readFileSync(join(ROOT, UNIT), 'utf8');
  const values = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('runs the service where its data is writable, and starts it again but for 78', () => {
    const [, script = ''] = values('ExecStart')[0]?.split(' ') ?? [];
    expect(readFileSync(join(ROOT, script), 'utf8')).to.include('dist/server/main.js');
    const data = SETTINGS.find(({ name }) => name === 'TAILPOND_DATA')?.default ?? '';
    expect(values('ReadWritePaths')).to.deep.equal([
      join(values('WorkingDirectory')[0] ?? '', data),
    ]);
    expect(values('Restart')).to.deep.equal(['on-failure']);
    expect(values('StartLimitIntervalSec')).to.deep.equal(['0']);
    expect(values('RestartPreventExitStatus')).to.deep.equal(['78']);
    expect(Number(values('TimeoutStopSec')[0])).to.be.above(10);
    expect(values('ExecReload')).to.deep.equal(['/bin/kill -HUP $MAINPID']);
  });

  it('forbids nothing that Node or the drop folders need', () => {
    expect(unit).to.not.match(/^(?:MemoryDenyWriteExecute|RestrictSUIDSGID)=/m);
    expect(values('SystemCallFilter')).to.deep.equal(['@system-service @pkey']);
    expect(values('SystemCallErrorNumber')).to.deep.equal(['EPERM']);
  });

  it('sets the memory of the C library as the command and npm start do', () => {
    const launch = 'server/launch.cjs';
    const [firstLine = ''] = readFileSync(join(ROOT, launch), 'utf8').split('\n');
    const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const [, settings = ''] =
      /^#!\/usr\/bin\/env -S ((?:MALLOC_\w+=\d+ )+)node$/.exec(firstLine) ?? [];
    expect(values('Environment')).to.deep.equal([settings.trim()]);
    expect([bin.tailpond, scripts.start]).to.deep.equal([
      launch,
      `node build.cjs && exec ${launch}`,
    ]);
  });

  it('is what systemd takes, where that is installed', function () {
    if (spawnSync('systemd-analyze', ['--version']).error)
      return missing(this, 'systemd-analyze', 'install it by apt-get install systemd');
    return withFolder(async (folder) => {
      const file = join(folder, 'tailpond.service');
      // Only programs that are there pass.
      writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file]);
      expect({ status, said: String(stderr) }).to.deep.equal({ status: 0, said: '' });
    });
  });
});

describe('the logrotate file', () => {
  const text = readFileSync(join(ROOT, ROTATION), 'utf8');

  it('is what the docs say', () => {
    const page = 'docs/shippers.md';
    const blocks = readBlocks(page, readFileSync(join(ROOT, page), 'utf8'));
    const rules = text.replace(/^#.*\n/gm, '').trimEnd();
    expect(blocks.map((block) => block.text)).to.include(rules);
  });

  it('is what logrotate takes, where that is installed', function () {
    const file = join(ROOT, ROTATION);
    if (LOGROTATE === null) return missing(this, 'logrotate', INSTALL);
    const { status, stderr } = spawnSync(LOGROTATE, ['--debug', '--state', '/dev/null', file]);
    expect(status, String(stderr)).to.equal(0);
    expect(String(stderr)).not.to.match(/^error:/m);
  });
});
