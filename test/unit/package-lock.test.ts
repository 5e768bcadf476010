import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';

interface Entry {
  readonly integrity?: string;
  readonly resolved?: string;
}

/** The service's packages, and those of the packages that are installed when they are needed first. */
for (const folder of ['.', 'test/bench', 'test/clickhouse']) {
  const file = join(folder, 'package-lock.json');
  describe(file, () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
      packages: Record<string, Entry>;
    };
    const entries = Object.entries(packages).filter(([path]) => path !== '');

    it('has the hash of every package', () => {
      const without = entries.filter(
        ([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity),
      );
      expect(entries).to.not.be.empty;
      expect(without).to.deep.equal([]);
    });

    it('names no registry', () => {
      expect(entries.filter(([, { resolved }]) => resolved !== undefined)).to.deep.equal([]);
    });
  });
}
