import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../../server/config/package-root.ts';
import { LONG } from '../../faults/case.ts';
import { missing } from '../../support/missing.ts';
import { differences } from './answer.ts';
import { type Machine, withMachine } from './machine.ts';
import { type Block, readBlocks } from './markdown.ts';

/** Why commands may be left out. */
const SKIPS: Record<string, string> = {
  clickhouse: 'needs a ClickHouse that is installed',
  clock: 'sets the clock of the host',
  docker: 'needs a container engine',
  install: 'fetches packages from a registry',
  long: 'takes minutes',
  root: 'changes users, packages or units of the host',
};

/** Questions are asked again for so long: a line takes a moment until it is in the answers. */
const PATIENCE_MS = 50_000;
const QUESTION =
  /^(?:curl|systemctl is-active|journalctl|\S.* check$|(?:tailpond|(?:sudo .*)?node \S+) (?:query|rejected list))/;

/** The longest page takes a twelfth of it; a busy machine may take longer. */
const PAGE_MS = 600_000;

const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];
/** What somebody reads first; the other pages run in the long form. */
const NEWCOMERS = ['README.md', 'docs/install.md'];
const BLOCKS = PAGES.map((page) => readBlocks(page, readFileSync(join(ROOT, page), 'utf8')));
const isRun = ({ language, info }: Block) => language === 'sh' && info.skip === undefined;

describe('the commands of the docs', () => {
  for (const blocks of BLOCKS.filter((all) => all.some(isRun))) {
    const page = blocks[0]?.page ?? '';
    if (!LONG && !NEWCOMERS.includes(page)) continue;
    it(`answer what the page says: ${page}`, async function () {
      this.timeout(PAGE_MS);
      if (spawnSync('curl', ['--version']).error)
        return missing(this, 'curl', 'install it by apt-get install curl');
      await withMachine(async (machine) => {
        for (const block of blocks) {
          if (isRun(block)) await follow(block, machine);
          if (block.info.file) machine.write(block.info.file, `${block.text}\n`);
        }
      });
    });
  }

  it('are left out for reasons that are known alone', () => {
    const left = BLOCKS.flat().filter(({ info }) => info.skip !== undefined);
    for (const { page, line, info } of left)
      expect(Object.keys(SKIPS), `${page}:${line}`).to.include(info.skip);
  });

  it('come before every answer, but for what is marked as an example', () => {
    const lone = BLOCKS.flat().filter(
      ({ language, info }) => /^(json|text)$/.test(language) && info.example === undefined,
    );
    expect(lone.map(({ page, line }) => `${page}:${line}`)).to.deep.equal([]);
  });
});

/** Runs a block; throws with page, line and difference when it fails, or answers something else. */
async function follow(block: Block, machine: Machine): Promise<void> {
  const { page, line, text, answer } = block;
  const end = performance.now() + (QUESTION.test(text) ? PATIENCE_MS : 0);
  for (;;) {
    const got = await machine.run(text);
    const wrong = answer
      ? differences(answer.language, answer.text, got)
      : [...got.matchAll(/^exit code .*$/gm)].map(() => got);
    if (wrong.length === 0) return;
    if (performance.now() > end)
      throw new Error(
        `${page}:${line}: ${answer ? `the answer is not that of line ${answer.line}` : 'the commands fail'}\n${wrong.join('\n')}`,
      );
    await delay(100);
  }
}
